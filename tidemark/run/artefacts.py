"""The files that the tasks of a test left in their place, copied to the results of their run.

A task may store objects of any name, number and size there, and is not trusted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from tidemark.model.results import TaskResult
from tidemark.model.sentences import shown
from tidemark.model.suite import Test
from tidemark.model.task import FILE_NAME, MOST_FILES, NAME_WORDS, Artefact, Kept, KeptFile
from tidemark.store import keys
from tidemark.store.bucket import CopyingBucket

MOST_MIB = 1_024
"""The greatest size of all files of one test [MiB]."""
_MOST_NOTES = 20
_MIB = 1 << 20


class Place(NamedTuple):
    """The results of one test, and the prefix below which its tasks left files."""

    run_id: str
    trial: int
    test: str
    left: str

    def kept(self, task: int, name: str) -> str:
        """Return the key of a file that is kept."""
        return keys.artefact(self.run_id, self.trial, self.test, task, name)


def keep(bucket: CopyingBucket, place: Place, test: Test, tasks: Sequence[TaskResult]) -> Kept:
    """Copy the declared files that tasks left; say which are missing and which are not kept."""
    if not test.artefacts:
        return Kept()
    files, notes, total = [], [], 0
    listed = bucket.sizes(place.left)
    for key, size in islice(listed, MOST_FILES):
        file = key.removeprefix(place.left)
        if reason := _refusal(file, size, total, test.artefacts, tasks):
            notes.append(reason)
            continue
        total += size
        task, _, name = file.partition("/")
        digest = bucket.copy(key, place.kept(int(task), name))
        files.append(KeptFile(task=int(task), name=name, size=size, sha256=digest))
    if any(listed):
        notes.append(f"the tasks left more than {MOST_FILES:,} files; the others are not kept")
    lacking = list(_lacking(files, test, tasks))
    return Kept(
        files,
        _first([*notes, *(sentence for _, sentence in lacking)]),
        _first([sentence for artefact, sentence in lacking if artefact.required]),
    )


def _refusal(
    file: str, size: int, total: int, declared: Iterable[Artefact], tasks: Iterable[TaskResult]
) -> str:
    """Return why a file is not kept, '' if it is."""
    task, _, name = file.partition("/")
    if task not in {str(each.index) for each in tasks}:
        return f"{shown(file)} is not kept; expected a task's index and a name, such as 0/a.txt"
    if not re.fullmatch(FILE_NAME, name):
        return f"task {task}: {shown(name)} is not kept; expected {NAME_WORDS}"
    limits = [artefact.most_mib for artefact in declared if artefact.names(name)]
    if not limits:
        return f"task {task}: {name} is not kept, since the suite does not declare it"
    if size > max(limits) * _MIB:
        return f"task {task}: {name} is not kept: {size:,} bytes are more than {max(limits)} MiB"
    if total + size > MOST_MIB * _MIB:
        return f"task {task}: {name} is not kept: the files of a test have {MOST_MIB:,} MiB at most"
    return ""


def _lacking(
    files: Sequence[KeptFile], test: Test, tasks: Iterable[TaskResult]
) -> Iterator[tuple[Artefact, str]]:
    """Yield each artefact that a task did not leave; a failed task says why it failed."""
    for task in (task for task in tasks if task.status == "ok"):
        for artefact in (each for each in test.artefacts if test.is_of(each.step, task.step)):
            if not any(file.task == task.index and artefact.names(file.name) for file in files):
                yield artefact, f"task {task.index}: no file {artefact.file} was kept"


def _first(sentences: Sequence[str]) -> Sequence[str]:
    more = len(sentences) - _MOST_NOTES
    return [*sentences[:_MOST_NOTES], *([f"{more:,} more"] if more > 0 else [])]
