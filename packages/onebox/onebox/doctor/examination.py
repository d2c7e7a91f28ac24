"""The examination of everything in a state folder."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from itertools import chain
from pathlib import Path

from onebox.cloud.made import is_whole
from onebox.doctor.finding import Contents, Finding
from onebox.doctor.logs import examine_logs
from onebox.doctor.objects import examine_bodies, examine_index, examine_objects
from onebox.logs.parquet import problem_of
from onebox.store.aside import move_aside
from onebox.store.object_files import ObjectFiles

_FOLDERS = ("assemblies", "functions")
_DIGEST = re.compile("[0-9a-f]{16,64}")


def examine(state: Path, contents: Contents) -> Iterator[Finding]:
    """Yield what is damaged in a state folder; each may be repaired at once.

    Raises
    ------
    ObjectFilesError
        If another process has the folder open, or its objects cannot be examined at all.
    """
    yield from examine_logs(state)
    yield from _examine_made(state)
    yield from examine_index(state / "objects", contents)
    with closing(ObjectFiles(state / "objects")) as files:
        yield from examine_objects(files, contents)
        yield from examine_bodies(files, state)
        yield from contents.examine(files)


def _examine_made(state: Path) -> Iterator[Finding]:
    """Yield each damaged folder or file that a cloud makes again when it needs it."""
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
