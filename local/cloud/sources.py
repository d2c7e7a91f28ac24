"""The content of source files, as one digest."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path


def source_files(path: Path) -> Iterator[Path]:
    """Yield a file, or the files below a folder in order, without what Python compiles of them."""
    files = [path] if path.is_file() else sorted(path.rglob("*"))
    yield from (file for file in files if file.is_file() and "__pycache__" not in file.parts)


def digest(files: Iterable[Path], root: Path) -> str:
    """Return the SHA-256 of files, by their names below ``root`` and what they hold, in hex."""
    found = hashlib.sha256()
    for path in files:
        found.update(f"{path.relative_to(root)}\0".encode())
        found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()
