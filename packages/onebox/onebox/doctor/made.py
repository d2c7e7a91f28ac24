"""The examination of what Tidemark makes itself: assemblies, unpacked functions, caches of rows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path

from onebox.cloud.made import is_whole
from onebox.doctor.finding import Finding
from onebox.logs.parquet import problem_of
from onebox.store.aside import move_aside

_FOLDERS = ("assemblies", "functions")
_DIGEST = re.compile("[0-9a-f]{16,64}")


def examine_made(state: Path) -> Iterator[Finding]:
    """Yield each damaged folder or file; all are made again when they are needed."""
    for folder in chain.from_iterable((state / name).glob("*") for name in _FOLDERS):
        if _DIGEST.fullmatch(folder.name) and not is_whole(folder):
            yield _finding(folder, "its files do not have the digest of the finished folder", state)
    for file in chain((state / "tables").rglob("*.parquet"), (state / "parsed").glob("*.parquet")):
        if problem := problem_of(file):
            yield _finding(file, problem, state)


def _finding(path: Path, problem: str, state: Path) -> Finding:
    remedy = "moves it aside; it is made again when it is needed"
    return Finding(f"{path} is damaged: {problem}", remedy, partial(_set_aside, path, state))


def _set_aside(path: Path, state: Path) -> bool:
    move_aside(path, state)
    return True
