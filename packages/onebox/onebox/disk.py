"""Files and folders that outlive a power failure."""

from __future__ import annotations

import errno
import gzip
import os
import stat
import time
from io import BufferedReader, BytesIO
from pathlib import Path


def quarantine(path: Path, state: Path) -> Path:
    """Move a file or folder of a state folder into ``damaged``; return its new place."""
    place = state / "damaged" / path.relative_to(state)
    place.parent.mkdir(parents=True, exist_ok=True)
    return path.rename(place.with_name(f"{place.name}.{time.time_ns()}"))


def gunzipped(body: bytes, most_bytes: int) -> bytes:
    """Return the content of a gzipped body.

    Raises
    ------
    OSError
        If the body is not gzipped, or its content has more bytes: 1 kB may hold 1 MB.
    EOFError, zlib.error
        If the body is cut off or damaged.
    """
    with gzip.GzipFile(fileobj=BytesIO(body)) as packed:
        content = packed.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise OSError(errno.EFBIG, f"its content has more than {most_bytes:,} bytes")
    return content


def open_regular(path: Path) -> BufferedReader:
    """Open a file to read.

    Raises
    ------
    OSError
        If there is no such file, or it is a device or pipe, whose content may have no end.
    """
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "not a file", str(path))
    return file


def read_regular(path: Path) -> bytes:
    """Return the content of a file; raise OSError as `open_regular` does."""
    with open_regular(path) as file:
        return file.read()


def sync_folder(folder: Path) -> None:
    """Return when the names in a folder are on the disk; the contents of its files need not be."""
    _sync(folder)


def sync_tree(folder: Path) -> None:
    """Return when everything below a folder is on the disk."""
    for path in (*folder.rglob("*"), folder):
        _sync(path)


def write_synced(file: Path, text: str) -> None:
    """Write a whole file or none, and return when its content is on the disk; its name need not be.

    An unfinished file has the suffix ``.tmp``, too.
    """
    unfinished = file.with_suffix(f"{file.suffix}.tmp")
    with unfinished.open("w", encoding="utf-8") as opened:
        opened.write(text)
        opened.flush()
        os.fsync(opened.fileno())
    unfinished.replace(file)


def make_folder(folder: Path) -> None:
    """Make a folder and its parents, unless they exist; their names are then on the disk."""
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        sync_folder(folder.parent)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
