"""The examination of everything in a state folder."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from functools import partial
from itertools import chain
from pathlib import Path

from onebox.cloud.sealed_folders import is_whole
from onebox.disk import quarantine
from onebox.doctor.finding import Contents, Finding
from onebox.doctor.logs import examine_logs
from onebox.logs.parquet import problem_of
from onebox.store.errors import DamagedJournal, DamagedObject, NamelessBodies, ObjectFilesError
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
            yield _finding(folder, "this user did not write its files, or not all", state)
    for file in chain((state / "tables").rglob("*.parquet"), (state / "parsed").glob("*.parquet")):
        if problem := problem_of(file):
            yield _finding(file, problem, state)


def _finding(path: Path, problem: str, state: Path) -> Finding:
    remedy = "moves it aside; it is made again when it is needed"
    return Finding(f"{path} is damaged: {problem}", remedy, partial(_quarantine, path, state))


def _quarantine(path: Path, state: Path) -> bool:
    quarantine(path, state)
    return True


_ASSETS = "cdk-"
_PUT = "moves it aside; the next start of a cloud stores it again"
_LOST = "moves it aside; its content is lost"


def examine_index(folder: Path, contents: Contents) -> Iterator[Finding]:
    """Yield what is wrong with the journal of a folder of objects and with its index.

    Raises
    ------
    ObjectFilesError
        If another process has the folder open.
    """
    try:
        with closing(ObjectFiles(folder)) as files:
            problem = files.disagreement()
    except DamagedJournal as error:
        remedy = "makes the index from the other lines"
        yield Finding(str(error), remedy, partial(_agree, folder, skip_damaged=True))
        return
    except NamelessBodies as error:
        sentence = str(error).partition(";")[0]
        yield Finding(sentence, contents.naming, partial(contents.name_again, folder))
        return
    if problem:
        remedy = "makes the index from the journal, or a damaged journal from the index"
        yield Finding(problem, remedy, partial(_agree, folder))


def examine_objects(files: ObjectFiles, contents: Contents) -> list[Finding]:
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


def examine_bodies(files: ObjectFiles, state: Path) -> Iterator[Finding]:
    """Yield the bodies that belong to no object, which a process left that died while it wrote."""
    if unowned := files.unowned():
        number = f"{len(unowned)} bodies belong" if len(unowned) > 1 else "1 body belongs"
        problem = f"{files.folder}: {number} to no object, such as {unowned[0].name}"
        repair = partial(_quarantine_all, unowned, state)
        yield Finding(problem, "moves such files aside", repair, harmless=True)


def _quarantine_all(paths: Iterable[Path], state: Path) -> bool:
    for path in paths:
        quarantine(path, state)
    return True


def _damaged(files: ObjectFiles) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield bucket and key of each damaged object, and a sentence about it."""
    for bucket in files.buckets():
        for key, body, _ in files.objects(bucket):
            try:
                body.read(f"s3://{bucket}/{key}")
            except DamagedObject as error:
                yield (bucket, key), str(error)


def _agree(folder: Path, *, skip_damaged: bool = False) -> bool:
    with closing(ObjectFiles(folder, skip_damaged=skip_damaged)) as files:
        files.agree()
    return not skip_damaged
