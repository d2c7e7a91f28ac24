"""Packed files, recognised by their first bytes, whatever their names are."""

from __future__ import annotations

import bz2
import gzip
import shutil
from pathlib import Path
from typing import BinaryIO, cast

_GZIP, _BZIP2, _ZSTD = b"\x1f\x8b", b"BZh", b"\x28\xb5\x2f\xfd"


class PackingError(Exception):
    """A file that is packed in a way that cannot be read."""


def is_gzip(path: Path) -> bool:
    """Tell whether a file is packed by gzip, which DuckDB reads itself."""
    return _begins(path, _GZIP)


def unpacked(path: Path) -> BinaryIO:
    """Open a file for reading its unpacked bytes.

    Raises
    ------
    OSError
        If the file cannot be opened.
    PackingError
        If it is packed by bzip2 or zstd, which DuckDB or Python cannot read.
    """
    for magic, name, program in ((_BZIP2, "bzip2", "bzcat"), (_ZSTD, "zstd", "zstdcat")):
        if _begins(path, magic):
            raise PackingError(f"it is packed by {name}; write {program} FILE | tidemark query … -")
    return cast(BinaryIO, gzip.open(path)) if is_gzip(path) else path.open("rb")


def unpack_bzip2(path: Path) -> None:
    """Unpack a file in its place if it is packed by bzip2.

    Raises
    ------
    OSError, EOFError
        If the file is damaged or incomplete.
    """
    if not _begins(path, _BZIP2):
        return
    packed = path.rename(path.with_suffix(".bz2"))
    with bz2.open(packed) as file, path.open("wb") as copy:
        shutil.copyfileobj(file, copy)
    packed.unlink()


def _begins(path: Path, magic: bytes) -> bool:
    with path.open("rb") as file:
        return file.read(len(magic)) == magic
