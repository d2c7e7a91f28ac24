"""Harms to the files of a state folder."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from onebox.cloud.cloud_note import find_cloud
from onebox.doctor import examine
from onebox.store.object_files import ObjectFiles

GROWN_BYTES = 64 << 20


def _replaced(file: Path, make: Callable[[], object]) -> None:
    file.unlink()
    make()


HARMS: Mapping[str, Callable[[Path], object]] = {
    "empty": lambda file: file.write_bytes(b""),
    "zeros": lambda file: file.write_bytes(bytes(file.stat().st_size)),
    "random": lambda file: file.write_bytes(random.Random(1).randbytes(5_000)),
    "cut": lambda file: file.write_bytes(file.read_bytes()[: file.stat().st_size // 2]),
    "doubled": lambda file: file.write_bytes(file.read_bytes() * 2),
    "grown": lambda file: file.write_bytes(file.read_bytes() + bytes(GROWN_BYTES)),
    "lines": lambda file: file.write_bytes(file.read_bytes() + b"\n" * 100_000),
    "brackets": lambda file: file.write_bytes(b"[" * 100_000),
    "missing": Path.unlink,
    "folder": lambda file: _replaced(file, file.mkdir),
    "dangling link": lambda file: _replaced(file, lambda: file.symlink_to("nowhere")),
    "loop of links": lambda file: _replaced(file, lambda: file.symlink_to(file.name)),
    "device": lambda file: _replaced(file, lambda: file.symlink_to("/dev/full")),
}


class NothingKnown:
    """An app that knows nothing of its objects."""

    naming = "moves them aside"

    def name_again(self, folder: Path) -> bool:
        """Lose the objects."""
        return False

    def rebuilding(self, *_: object) -> None:
        """Know no way."""

    def examine(self, _: ObjectFiles) -> list[object]:
        """Find nothing."""
        return []


def read(state: Path) -> None:
    """Read all of a state folder as commands do, and examine it."""
    find_cloud(state)
    files = ObjectFiles(state / "objects")
    try:
        for bucket in files.buckets():
            for key, body, _ in files.objects(bucket):
                body.read(key)
    finally:
        files.close()


def examined(state: Path) -> int:
    """Return the number of findings of the doctor."""
    return sum(1 for _ in examine(state, NothingKnown()))


def harmed(original: Path, name: str, harm: str, place: Path) -> Path:
    """Return a copy of a state folder with one harmed file; ``name`` may be a pattern."""
    shutil.copytree(original, place)
    (file, *_) = sorted(path for path in place.glob(name) if path.is_file())
    HARMS[harm](file)
    return place


def without_rights(numbers: tuple[int, int]) -> None:
    """Become another user."""
    user, group = numbers
    os.setgroups([])
    os.setgid(group)
    os.setuid(user)
