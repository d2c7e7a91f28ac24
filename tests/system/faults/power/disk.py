"""A disk that can lose its power: what is not synced by then may be gone.

Names change in order: after a failure they are as they were at some moment since the last sync of a
folder, as on a journalling file system. The bytes of a file are those of its last sync, and
perhaps the first of the writes since then, the last of them torn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random


@dataclass
class _File:
    synced: bytes = b""
    writes: list[tuple[int, bytes | None]] = field(default_factory=list)
    """The writes since the last sync: the place and the bytes, None for a new length."""

    def after(self, chance: Random) -> bytes:
        """Return the bytes after a power failure."""
        count = chance.choice([0, len(self.writes), chance.randint(0, len(self.writes))])
        content = _written(self.synced, self.writes[:count])
        if count < len(self.writes):
            offset, data = self.writes[count]
            if data is not None:
                content = _written(content, [(offset, data[: chance.randint(0, len(data))])])
        return content


Names = dict[str, _File | None]
"""The files by their paths, None for a folder."""


class Disk:
    """The files below one folder; paths are relative to it."""

    def __init__(self) -> None:
        self._names: Names = {}
        self._durable: Names = {}
        self._pending: list[Callable[[Names], None]] = []

    def load(self, root: Path) -> None:
        """Begin with the files of a folder, which are on the disk."""
        for path in sorted(root.rglob("*")):
            name = str(path.relative_to(root))
            self._names[name] = None if path.is_dir() else _File(path.read_bytes())
        self._durable = dict(self._names)

    def create(self, path: str) -> None:
        """Make an empty file."""
        file = _File()
        self._change(lambda names: names.__setitem__(path, file))

    def make_folder(self, path: str) -> None:
        """Make a folder."""
        self._change(lambda names: names.__setitem__(path, None))

    def remove(self, path: str) -> None:
        """Remove a file or an empty folder."""
        self._change(lambda names: names.pop(path, None))

    def rename(self, old: str, new: str) -> None:
        """Give a file or a folder another name."""
        self._change(lambda names: _renamed(names, old, new))

    def write(self, path: str, offset: int, data: bytes) -> None:
        """Write bytes at a place of a file."""
        self._file(path).writes.append((offset, data))

    def truncate(self, path: str, size: int) -> None:
        """Give a file another length."""
        self._file(path).writes.append((size, None))

    def sync(self, path: str) -> None:
        """Sync a file, or the names in a folder."""
        file = self._names.get(path)
        if file is None:
            for change in self._pending:
                change(self._durable)
            self._pending.clear()
        else:
            file.synced, file.writes = _written(file.synced, file.writes), []

    def has(self, path: str) -> bool:
        """Tell whether there is a file or folder."""
        return path in self._names

    def size(self, path: str) -> int:
        """Return the length of a file."""
        return len(self.content(path))

    def content(self, path: str) -> bytes:
        """Return the bytes of a file."""
        file = self._file(path)
        return _written(file.synced, file.writes)

    def fail(self, root: Path, chance: Random) -> None:
        """Write the files as a power failure leaves them into an empty folder."""
        names = dict(self._durable)
        for change in self._pending[: chance.randint(0, len(self._pending))]:
            change(names)
        for name, file in names.items():
            path = root / name
            if file is None:
                path.mkdir(parents=True, exist_ok=True)
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(file.after(chance))

    def _change(self, change: Callable[[Names], None]) -> None:
        change(self._names)
        self._pending.append(change)

    def _file(self, path: str) -> _File:
        file = self._names[path]
        assert file is not None, f"{path} is a folder"
        return file


def _renamed(names: Names, old: str, new: str) -> None:
    for name in [name for name in names if name == old or name.startswith(f"{old}/")]:
        names[new + name[len(old) :]] = names.pop(name)


def _written(content: bytes, writes: list[tuple[int, bytes | None]]) -> bytes:
    result = bytearray(content)
    for offset, data in writes:
        end = offset + len(data or b"")
        result.extend(bytes(max(0, offset - len(result))))
        if data is None:
            del result[offset:]
        else:
            result[offset:end] = data
    return bytes(result)
