"""One digest of the content of source files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path


def source_files(path: Path) -> Iterator[Path]:
    """Yield a file, or the files below a folder in order, without Python's compiled files."""
    files = [path] if path.is_file() else sorted(path.rglob("*"))
    yield from (file for file in files if file.is_file() and "__pycache__" not in file.parts)


def digest(files: Iterable[Path], root: Path) -> str:
    """Return the SHA-256, in hex, of the files' names below ``root`` and their contents."""
    hasher = hashlib.sha256()
    for path in files:
        hasher.update(f"{path.relative_to(root)}\0".encode())
        hasher.update(hashlib.sha256(path.read_bytes()).digest())
    return hasher.hexdigest()
