"""The file operations of a program and of its children, recorded by strace.

strace sees what SQLite and DuckDB do, too, and needs neither root nor a compiler.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.system.faults.power.disk import Disk

_CALLS = (
    "openat,lseek,write,pwrite64,ftruncate,fsync,fdatasync,rename,renameat,renameat2,unlink,"
    "unlinkat,mkdir,mkdirat,rmdir"
)
_LINE = re.compile(r"(\w+)\((.*)\) += (-?\d+)(?:<([^>]*)>)?")
_TEXT = re.compile(r'"([^"]*)"')
_DESCRIPTOR = re.compile(r"([\d-]+|AT_FDCWD)<([^>]*)>")
_PROGRESS = re.compile(rb"trial (\d+) of \d+ ")
_STDOUT = 1


def traced(log: Path, words: Sequence[str | Path]) -> list[str | Path]:
    """Return the command that runs another one and records its file operations in ``log``."""
    return [
        *("strace", "--follow-forks", "--quiet=all", "--seccomp-bpf", "--decode-fds=path"),
        *("--strings-in-hex=all", "--string-limit=100000000", f"--trace={_CALLS}"),
        *("--output", log, *words),
    ]


def record(log: Path, words: Sequence[str | Path], cwd: Path) -> str:
    """Run a command to its end and record its file operations in ``log``; return its output.

    A search ends with exit code 4 if it cannot tell.
    """
    done = subprocess.run(
        traced(log, words), cwd=cwd, check=False, stdout=subprocess.PIPE, text=True
    )
    assert done.returncode in {0, 4}, words
    return done.stdout


@dataclass(frozen=True)
class Call:
    """A successful system call: its name, its arguments and its result."""

    name: str
    paths: Sequence[str]
    """The files of the arguments, absolute."""
    data: bytes
    """The bytes that it wrote."""
    number: int
    """The last number among the arguments."""
    descriptor: int
    flags: str
    result: int


class Replay:
    """Calls that are carried out on a disk, for the files below a folder.

    Attributes
    ----------
    trials
        The numbers of the trials that the program has reported.
    """

    def __init__(self, disk: Disk, root: Path, without: Sequence[str]) -> None:
        self.trials: set[int] = set()
        self._disk, self._root, self._without = disk, str(root), tuple(without)
        self._places: dict[tuple[str, int], int] = {}
        self._appends: set[tuple[str, int]] = set()

    def steps(self, log: Path) -> list[Callable[[], None]]:
        """Return the functions that carry out the recorded calls, in order."""
        return [step for call in _calls(log) for step in self._steps(call)]

    def _steps(self, call: Call) -> Iterator[Callable[[], None]]:
        if call.descriptor == _STDOUT and (report := _PROGRESS.search(call.data)):
            yield partial(self.trials.add, int(report[1]))
        names = [self._name(path) for path in call.paths]
        if names and all(names) and call.result >= 0:
            yield partial(getattr(self, f"_{call.name}"), call, *names)

    def _name(self, path: str) -> str:
        """Return the path below the folder, '' for any other file."""
        name = os.path.relpath(path, self._root) if path.startswith(f"{self._root}/") else ""
        return "" if name.startswith(self._without) else name

    def _openat(self, call: Call, name: str) -> None:
        key = (name, call.result)
        self._places[key] = 0
        self._appends.discard(key)
        if "O_APPEND" in call.flags:
            self._appends.add(key)
        if "O_CREAT" in call.flags and not self._disk.has(name):
            self._disk.create(name)
        elif "O_TRUNC" in call.flags:
            self._disk.truncate(name, 0)

    def _lseek(self, call: Call, name: str) -> None:
        self._places[name, call.descriptor] = call.result

    def _write(self, call: Call, name: str) -> None:
        key = (name, call.descriptor)
        place = self._disk.size(name) if key in self._appends else self._places[key]
        self._disk.write(name, place, call.data[: call.result])
        self._places[key] = place + call.result

    def _pwrite64(self, call: Call, name: str) -> None:
        self._disk.write(name, call.number, call.data[: call.result])

    def _ftruncate(self, call: Call, name: str) -> None:
        self._disk.truncate(name, call.number)

    def _fsync(self, _: Call, name: str) -> None:
        self._disk.sync(name)

    def _rename(self, _: Call, old: str, new: str) -> None:
        self._disk.rename(old, new)

    def _unlink(self, _: Call, name: str) -> None:
        self._disk.remove(name)

    def _mkdir(self, _: Call, name: str) -> None:
        self._disk.make_folder(name)

    _fdatasync = _fsync
    _renameat = _renameat2 = _rename
    _unlinkat = _rmdir = _unlink
    _mkdirat = _mkdir


def _calls(log: Path) -> Iterator[Call]:
    begun: dict[str, str] = {}
    with log.open(encoding="ascii") as lines:
        for line in lines:
            process, _, rest = line.partition(" ")
            if "<unfinished ...>" in line:
                begun[process] = rest.partition("<unfinished ...>")[0].strip()
                continue
            if "resumed>" in rest:
                rest = begun.pop(process) + rest.partition("resumed>")[2]
            if match := _LINE.match(rest.strip()):
                yield _call(*match.groups())


def _call(name: str, arguments: str, result: str, opened: str | None) -> Call:
    writes = name in {"write", "pwrite64"}
    descriptors = [(number, _text(path)) for number, path in _DESCRIPTOR.findall(arguments)]
    texts = [] if writes else [_text(text) for text in _TEXT.findall(arguments)]
    first = int(descriptors[0][0]) if descriptors and descriptors[0][0] != "AT_FDCWD" else -1
    if name == "openat":
        paths = [_text(opened)] if opened else []
    elif texts:
        folders = [path for _, path in descriptors] or [""] * len(texts)
        paths = [str(Path(folder, text)) for folder, text in zip(folders, texts, strict=True)]
    else:
        paths = [path for _, path in descriptors]
    numbers = re.findall(r", (\d+)(?=$|,)", arguments)
    return Call(
        name,
        paths,
        _bytes(_TEXT.search(arguments)[1]) if writes else b"",
        int(numbers[-1]) if numbers else 0,
        first,
        arguments if name == "openat" else "",
        int(result),
    )


def _text(text: str) -> str:
    return _bytes(text).decode(errors="replace")


def _bytes(text: str) -> bytes:
    """Return the bytes of a text like ``\\x2f\\x74``."""
    return bytes.fromhex(text.replace("\\x", ""))
