"""The examination of everything in a state folder, and the repair of what is damaged."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple, Protocol

import duckdb

from onebox.cloud.sealed_folders import is_whole
from onebox.disk import quarantine, read_regular
from onebox.logs.event_files import (
    DIGEST,
    LogStoreError,
    event_of,
    is_digest,
    problem_of,
    write_digest,
)
from onebox.logs.segments import SOURCES, superseded_by, write_sources
from onebox.store.index import DamagedIndex, DamagedObject, ObjectFilesError
from onebox.store.object_files import ObjectFiles


@dataclass(frozen=True)
class Finding:
    """Something damaged.

    Attributes
    ----------
    problem
        A sentence that names it and says what is wrong, without a full stop.
    remedy
        The result of its repair, as the rest of a sentence that begins with "--repair".
    repair
        The function that mends it. It deletes nothing: it moves aside what is damaged. It returns
        False if something is lost.
    harmless
        Whether everything is as it was stored, and the file is only of no use.
    """

    problem: str
    remedy: str
    repair: Callable[[], bool]
    harmless: bool = False


class Rebuilding(NamedTuple):
    """A way to write an object again; it raises LookupError if its source is lost, too."""

    source: str
    write: Callable[[], object]


class Contents(Protocol):
    """The knowledge of an app about the objects that it stored."""

    naming: str
    """The result of ``name_again``, as the rest of a sentence that begins with "--repair"."""

    def name_again(self, folder: Path) -> bool:
        """Make the objects of a folder with a lost or damaged index again from its bodies.

        Move the folder aside. Return False if something is lost.
        """

    def rebuilding(self, files: ObjectFiles, bucket: str, key: str) -> Rebuilding | None:
        """Return the way to write an object again, None if nothing else has its content."""

    def examine(self, files: ObjectFiles) -> Iterator[Finding]:
        """Yield what else is unfinished or wrong."""


_FOLDERS = ("assemblies", "functions")
_DIGEST = re.compile("[0-9a-f]{16,64}")
_ASSETS = "cdk-"
_PUT = "moves it aside; the next start of a cloud stores it again"
_LOST = "moves it aside; its content is lost"
_MADE_AGAIN = "moves it aside; it is made again when it is needed"


def examine(state: Path, contents: Contents) -> Iterator[Finding]:
    """Yield what is damaged in a state folder; each may be repaired at once.

    Raises
    ------
    ObjectFilesError
        If another process has the folder open, or its objects cannot be examined at all.
    """
    yield from _examine_logs(state)
    yield from _examine_made(state)
    yield from _examine_index(state / "objects", contents)
    with closing(ObjectFiles(state / "objects")) as files:
        yield from _examine_objects(files, contents)
        yield from _examine_bodies(files, state)
        yield from contents.examine(files)


def _examine_made(state: Path) -> Iterator[Finding]:
    """Yield each damaged folder or file that a cloud makes again when it needs it."""
    for folder in chain.from_iterable((state / name).glob("*") for name in _FOLDERS):
        if _DIGEST.fullmatch(folder.name) and not is_whole(folder):
            told = f"{folder} is damaged: this user did not write its files, or not all"
            yield Finding(told, _MADE_AGAIN, partial(_quarantine, state, folder))
    for file in chain((state / "tables").rglob("*.parquet"), (state / "parsed").glob("*.parquet")):
        # A failure of the power leaves half a file of cached rows, which no query reads.
        if problem := problem_of(file):
            yield Finding(
                f"{file} is of no use: {problem}",
                _MADE_AGAIN,
                partial(_quarantine, state, file),
                harmless=True,
            )


def _quarantine(state: Path, *paths: Path) -> bool:
    for path in paths:
        quarantine(path, state)
    return True


def _examine_index(folder: Path, contents: Contents) -> Iterator[Finding]:
    """Yield what is wrong with the index of a folder of objects.

    Raises
    ------
    ObjectFilesError
        If another process has the folder open.
    """
    try:
        with closing(ObjectFiles(folder)) as files:
            files.check_index()
    except DamagedIndex as error:
        problem = str(error).partition(";")[0]
        yield Finding(problem, contents.naming, partial(contents.name_again, folder))


def _examine_objects(files: ObjectFiles, contents: Contents) -> list[Finding]:
    """Return the damaged objects of a folder that this process has open."""
    damaged = dict(_damaged(files))

    def finding(bucket: str, key: str, problem: str) -> Finding:
        again = contents.rebuilding(files, bucket, key)
        remedy = _PUT if bucket.startswith(_ASSETS) else _LOST

        def repair() -> bool:
            # All at once: a rebuilding may replace several.
            for name in damaged:
                files.quarantine_if_damaged(*name)
            # Its source may be lost, too.
            with suppress(ObjectFilesError, LookupError):
                if again:
                    again.write()
            return bucket.startswith(_ASSETS) or files.find(bucket, key) is not None

        return Finding(problem, f"writes it again from {again.source}" if again else remedy, repair)

    return [finding(bucket, key, problem) for (bucket, key), problem in damaged.items()]


def _examine_bodies(files: ObjectFiles, state: Path) -> Iterator[Finding]:
    """Yield the bodies that belong to no object, which a process left that died while it wrote."""
    if unowned := files.unowned():
        number = f"{len(unowned)} bodies belong" if len(unowned) > 1 else "1 body belongs"
        problem = f"{files.folder}: {number} to no object, such as {unowned[0].name}"
        repair = partial(_quarantine, state, *unowned)
        yield Finding(problem, "moves such files aside", repair, harmless=True)


def _damaged(files: ObjectFiles) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield bucket and key of each damaged object, and a sentence about it."""
    for bucket in files.buckets():
        for key, body, _ in files.objects(bucket):
            try:
                body.read(f"s3://{bucket}/{key}")
            except DamagedObject as error:
                yield (bucket, key), str(error)


def _examine_logs(state: Path) -> Iterator[Finding]:
    """Yield each damaged file of the log groups of a state folder."""
    logs = state / "logs"
    for file in sorted(logs.glob(f"*/*{SOURCES}")):
        if problem := _problem_of_list(file):
            remedy = "writes it again from the segments that have the same lines"
            yield Finding(problem, remedy, partial(_list_sources, file, state))
    for file in sorted(logs.glob("*/*.parquet")):
        if problem := problem_of(file):
            yield _damaged_segment(file, problem, state)
    for file in sorted(logs.glob(f"*/*{DIGEST}")):
        if not is_digest(file) and not problem_of(file.with_suffix(".parquet")):
            remedy = "moves it aside and makes it again from its segment"
            problem = f"{file} is of no use: it is not an SHA-256"
            yield Finding(problem, remedy, partial(_digest_again, file, state), harmless=True)
    for file in sorted(logs.glob("*/*.ndjson")):
        if numbers := [number for number, line in _lines(file) if not _is_event(line)]:
            yield _damaged_lines(file, f"line {numbers[0]} is not an event", state)


def _damaged_segment(file: Path, problem: str, state: Path) -> Finding:
    others = [other for other in _others(file) if other.exists()]
    source = f"are read from {others[0].name}" if others else "are lost"
    repair = partial(_set_aside, file, state, kept=bool(others))
    remedy = f"moves it aside; its log lines {source}"
    return Finding(f"{file} is damaged: {problem}", remedy, repair)


def _damaged_lines(file: Path, problem: str, state: Path) -> Finding:
    folded = file.with_suffix(".parquet")
    if folded.exists():
        problem = f"{file} is of no use: {problem}"
        remedy = f"moves it aside; its log lines are read from {folded.name}"
        repair = partial(_quarantine, state, file)
        return Finding(problem, remedy, repair, harmless=True)
    remedy = "moves it aside and keeps its other lines"
    return Finding(f"{file} is damaged: {problem}", remedy, partial(_keep_events, file, state))


def _others(file: Path) -> list[Path]:
    """Return the files that have the events of a Parquet segment, too, if they are still there."""
    with suppress(LogStoreError):  # a finding of its own
        return [file.with_suffix(".ndjson"), *superseded_by(file)]
    return [file.with_suffix(".ndjson")]


def _problem_of_list(file: Path) -> str | None:
    try:
        superseded_by(file.with_suffix(".parquet"))
    except LogStoreError as error:
        return str(error).partition(";")[0]
    return None


def _list_sources(file: Path, state: Path) -> bool:
    """Write the list of a merged segment's sources again: the segments whose lines it all has."""
    quarantine(file, state)
    merged = file.with_suffix(".parquet")
    others = (other for other in file.parent.glob("*.parquet") if other != merged)
    # A merged segment that cannot be read is a finding of its own, and its sources count.
    with suppress(duckdb.Error):
        write_sources(merged, [other for other in others if _has_all_of(merged, other)])
    return True


def _has_all_of(merged: Path, source: Path) -> bool:
    with duckdb.connect() as connection:
        missing = connection.execute(
            "SELECT id FROM read_parquet(?) EXCEPT SELECT id FROM read_parquet(?) LIMIT 1",
            [str(source), str(merged)],
        ).fetchone()
    return missing is None


def _set_aside(file: Path, state: Path, *, kept: bool) -> bool:
    _quarantine(state, *filter(Path.exists, (file, file.with_suffix(DIGEST))))
    return kept


def _digest_again(file: Path, state: Path) -> bool:
    quarantine(file, state)
    if (segment := file.with_suffix(".parquet")).exists():
        write_digest(segment)
    return True


def _keep_events(file: Path, state: Path) -> bool:
    events = [line for _, line in _lines(file) if _is_event(line)]
    quarantine(file, state)
    file.write_bytes(b"".join(line + b"\n" for line in events))
    return False


def _lines(file: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the numbered whole lines; an append that was cut off does not count."""
    *lines, _cut_off = read_regular(file).split(b"\n")
    return iter(enumerate(lines, 1))


def _is_event(line: bytes) -> bool:
    try:
        event_of(line)
    except ValueError:
        return False
    return True
