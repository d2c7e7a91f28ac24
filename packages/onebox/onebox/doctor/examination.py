"""The examination of everything in a state folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from onebox.doctor.finding import Finding
from onebox.doctor.logs import examine_logs
from onebox.doctor.made import examine_made
from onebox.doctor.objects import (
    examine_bodies,
    examine_claims,
    examine_index,
    examine_objects,
)
from onebox.store.object_files import ObjectFiles


def examine(state: Path, stack: str) -> Iterator[Finding]:
    """Yield what is damaged in the state folder of a stack; each may be repaired at once.

    Raises
    ------
    ObjectFilesError
        If another process has the folder open, or its objects cannot be examined at all.
    """
    yield from examine_logs(state)
    yield from examine_made(state)
    yield from examine_index(state / "objects", stack)
    with closing(ObjectFiles(state / "objects")) as files:
        yield from examine_objects(files, stack)
        yield from examine_bodies(files, state)
        yield from examine_claims(files, stack)
