"""Folders that are created once and kept while in use: assemblies, unpacked functions.

Each change of a source creates new folders, and the old ones are not used again. A folder is used
only if its files have the digest that was written when it was made.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from onebox.disk import quarantine, sync_tree


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


KEPT_DAYS = 14
_SEAL = ".sha256"


def seal(folder: Path) -> None:
    """Write the digest of a finished folder into it, and return when all of it is on the disk."""
    (folder / _SEAL).write_text(_digest(folder), encoding="utf-8")
    sync_tree(folder)


def is_whole(folder: Path) -> bool:
    """Tell whether a folder is as it was sealed."""
    try:
        return (folder / _SEAL).read_text(encoding="utf-8") == _digest(folder)
    except (FileNotFoundError, UnicodeDecodeError):
        return False


def is_sealed(folder: Path, state: Path) -> bool:
    """Tell whether a folder of a state folder is made and whole; move a damaged one aside."""
    if is_whole(folder):
        return True
    if folder.exists():
        quarantine(folder, state)
    return False


def mark_used(folder: Path) -> None:
    """Record that a folder is in use."""
    os.utime(folder)


def remove_unused(parent: Path) -> None:
    """Remove the subfolders of ``parent`` that were not in use for ``KEPT_DAYS`` days."""
    oldest = time.time() - KEPT_DAYS * 86_400
    for folder in parent.iterdir() if parent.exists() else ():
        if folder.stat().st_mtime < oldest:
            shutil.rmtree(folder, ignore_errors=True)


def _digest(folder: Path) -> str:
    return digest((file for file in source_files(folder) if file.name != _SEAL), folder)
