"""The examination of objects, of their journal and its index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

from onebox.doctor.finding import Finding
from onebox.doctor.naming import name_again
from onebox.doctor.rebuilding import rebuilding
from onebox.store.aside import move_aside
from onebox.store.bucket import FileBucket
from onebox.store.errors import DamagedJournal, DamagedObject, NamelessBodies, ObjectFilesError
from onebox.store.object_files import ObjectFiles
from onebox.store.stored_results import own_bucket, results_bucket
from tidemark.model.sentences import plural
from tidemark.store import claims, keys

_ASSETS = "cdk-"
_PUT = "moves it aside; the next start of a cloud stores it again"
_LOST = "moves it aside; its content is lost"
_NAMED = (
    "moves them aside, names the runs and trials again by what their files say, and writes their "
    "tables and reports again"
)


def examine_index(folder: Path, stack: str) -> Iterator[Finding]:
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
        yield Finding(sentence, _NAMED, partial(name_again, folder, own_bucket(stack)))
        return
    if problem:
        remedy = "makes the index from the journal, or a damaged journal from the index"
        yield Finding(problem, remedy, partial(_agree, folder))


def examine_objects(files: ObjectFiles, stack: str) -> list[Finding]:
    """Return the damaged objects of a folder that this process has open."""
    results = FileBucket(files, results_bucket(files, stack))
    damaged = dict(_damaged(files))

    def finding(bucket: str, key: str, problem: str) -> Finding:
        again = rebuilding(results, key) if bucket == results.name else None
        remedy = _PUT if bucket.startswith(_ASSETS) else _LOST

        def repair() -> bool:
            # All at once: a rebuilding may replace several.
            for name in damaged:
                files.set_aside_if_damaged(*name)
            # Its source may be lost, too.
            with suppress(ObjectFilesError, LookupError):
                if again:
                    again.write()
            return bucket.startswith(_ASSETS) or files.find(bucket, key) is not None

        return Finding(problem, f"writes it again from {again.source}" if again else remedy, repair)

    return [finding(bucket, key, problem) for (bucket, key), problem in damaged.items()]


def examine_claims(files: ObjectFiles, stack: str) -> Iterator[Finding]:
    """Yield each run whose cloud ended before its outcome, since no cloud has the folder now."""
    results = FileBucket(files, results_bucket(files, stack))
    with suppress(DamagedObject):  # a finding of its own
        yield from map(partial(_unfinished, results), claims.all_held(results))


def _unfinished(results: FileBucket, held: claims.Held) -> Finding:
    left = sum(1 for _ in results.keys(keys.data_of(held.claim.run_id)))
    data = f", and its tasks left {plural(left, 'object')}" if left else ""
    problem = (
        f"run {held.claim.run_id} of {held.suite} is unfinished: its cloud ended before it wrote "
        f"the outcome{data}"
    )
    remedy = "leaves the run to the next command that starts a cloud, such as tidemark run"
    return Finding(problem, remedy, lambda: True, harmless=True)


def examine_bodies(files: ObjectFiles, state: Path) -> Iterator[Finding]:
    """Yield the bodies that belong to no object, which a process left that died while it wrote."""
    if unowned := files.unowned():
        number = f"{len(unowned)} bodies belong" if len(unowned) > 1 else "1 body belongs"
        problem = f"{files.folder}: {number} to no object, such as {unowned[0].name}"
        repair = partial(_set_aside, unowned, state)
        yield Finding(problem, "moves such files aside", repair, harmless=True)


def _set_aside(paths: Iterable[Path], state: Path) -> bool:
    for path in paths:
        move_aside(path, state)
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
