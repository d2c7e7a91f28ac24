"""Files and folders that outlive a power failure."""

from __future__ import annotations

import os
import time
from pathlib import Path


def quarantine(path: Path, state: Path) -> Path:
    """Move a file or folder of a state folder into ``damaged``; return its new place."""
    place = state / "damaged" / path.relative_to(state)
    place.parent.mkdir(parents=True, exist_ok=True)
    return path.rename(place.with_name(f"{place.name}.{time.time_ns()}"))


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
