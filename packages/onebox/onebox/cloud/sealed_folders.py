"""Folders that are created once and kept while in use: assemblies, unpacked functions.

Each change of a source creates new folders, and the old are not used again. What is in such a
folder runs as the user, and a state folder may come from somebody else. So a folder is used only
with the seal that its maker wrote: a digest of its files with a key, which each user has in the
home folder.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
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
_KEY_BYTES = 32


def seal(folder: Path) -> None:
    """Write the seal of a finished folder into it, and return when all of it is on the disk."""
    (folder / _SEAL).write_text(_seal_of(folder), encoding="utf-8")
    sync_tree(folder)


def is_whole(folder: Path) -> bool:
    """Tell whether a folder is as this user sealed it."""
    try:
        written = (folder / _SEAL).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    return hmac.compare_digest(written.encode(), _seal_of(folder).encode())


def _seal_of(folder: Path) -> str:
    # Python's compiled files run, too.
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != _SEAL)
    return hmac.new(_key(), digest(files, folder).encode(), "sha256").hexdigest()


@cache
def _key() -> bytes:
    """Return the key of this user, made at the first use; without a home, one of this process."""
    new = secrets.token_bytes(_KEY_BYTES)
    with suppress(OSError, RuntimeError):  # a user of a container may have no home
        file = Path.home() / ".local" / "share" / "tidemark" / "seal"
        file.parent.mkdir(parents=True, exist_ok=True)
        # Another process may make the key at this moment: the first whole one counts.
        unfinished = file.with_name(f".seal.{secrets.token_hex(8)}")
        unfinished.touch(mode=0o600)
        unfinished.write_bytes(new)
        try:
            with suppress(FileExistsError):
                file.hardlink_to(unfinished)
        finally:
            unfinished.unlink()
        key = file.read_bytes()
        return key if len(key) == _KEY_BYTES else new
    return new


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
