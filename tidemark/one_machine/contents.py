"""The repair of Tidemark's objects in a state folder, for `doctor`.

A lost object is written again from others, and lost names are found again in the bodies.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import zlib
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from onebox.disk import gunzipped, quarantine, sync_folder
from onebox.doctor import Finding, Rebuilding
from onebox.store.index import DamagedObject, readable
from onebox.store.object_files import Body, ObjectFiles
from tidemark.model.outcome import LevelAlarm, Outcome
from tidemark.model.results import Exclusion, TrialResult
from tidemark.model.run_id import RUN_ID
from tidemark.model.sentences import plural
from tidemark.one_machine.stored import FileBucket, InProcessPublisher, own_bucket, results_bucket
from tidemark.run.run_outcome import planned_outcome, published_keys
from tidemark.store import claims, keys
from tidemark.store.run_ends import record_run, write_alarms
from tidemark.store.stored_plan import find_plan, read_plan
from tidemark.store.stored_profile import record_profile
from tidemark.store.stored_run import read_run

# A file that a task left may hold any number of bytes.
_MOST_BYTES = 256 << 20
_PLAN = {"run_id", "execution_arn", "request", "trials"}
_TRIAL = {"run_id", "trial", "tests"}
_OUTCOME = {"run_id", "suite", "status", "trials_planned"}
_RUN_ROW = {"run_id", "status", "trials_planned", "task_seconds"}
_RATE_ROW = {"run_id", "trial", "metric", "repetition", "excluded"}
# Exclusions, acknowledgements and resumes have their run in their name alone.
_EXCLUSION, _ACKNOWLEDGEMENT = {"excluded", "reason", "at"}, {"reason", "until", "at"}
_RESUME = {"execution_arn", "trigger", "note"}
_REASON = "excluded before the index was lost"


class _Content(NamedTuple):
    """The bytes of an object, and its JSON object or rows."""

    body: bytes
    rows: list[Mapping[str, Any]]

    @property
    def first(self) -> Mapping[str, Any]:
        return self.rows[0]

    def has(self, fields: set[str]) -> bool:
        return fields <= self.first.keys()


def name_again(folder: Path, bucket: str) -> bool:
    """Make the results in a folder of objects again from its bodies; move the folder aside.

    The objects that can be read in a damaged index keep their names. Other plans, trials, outcomes
    and rows of ``runs`` get their names from what they say, and files that tasks left from what the
    trials say; the other tables and the reports are written again. A trial is excluded if a row of
    its run says so, and a change of level was reported if an outcome does.

    Returns
    -------
    bool
        False if there were other resumes, acknowledgements, or exclusions with their reasons:
        nothing names their runs.
    """
    again = folder.with_name(f"{folder.name}.again")
    if again.exists():  # an earlier attempt died
        quarantine(again, folder.parent)
    nameless, left = False, _left_by_tasks(folder)
    with closing(ObjectFiles(again)) as files:
        results = FileBucket(files, bucket)
        with files.transaction():
            kept = _take_over(folder, files)
            for place, body in _artefacts(folder, left):
                results.write(place, body)
            for content in _contents(folder, {*left, *kept}):
                nameless |= content.has(_EXCLUSION) or content.has(_ACKNOWLEDGEMENT)
                nameless |= _is_resume(content)
                if key := _key(content):
                    results.write(key, content.body)
            _write_rows(results, _contents(folder, left))
            _write_alarms(results)
        _publish(results)
    quarantine(folder, folder.parent)
    again.rename(folder)
    sync_folder(folder.parent)
    return not nameless


def _take_over(folder: Path, files: ObjectFiles) -> set[str]:
    """Add the objects that can be read in a damaged index; return the SHA-256 of their bodies."""
    kept = set()
    for entry in {each[:2]: each for each in readable(folder / "index.sqlite")}.values():
        with suppress(DamagedObject):
            body = Body(folder / "bodies" / entry.body, entry.size, entry.md5)
            kept.add(_sha256(body.read(entry.key)))
            attributes = json.loads(entry.attributes)
            files.save(entry.bucket, entry.key, files.link(body), attributes)
    return kept


def _left_by_tasks(folder: Path) -> Mapping[str, list[str]]:
    """Return the keys of the files that tasks left, as the trials say, by their SHA-256."""
    left: defaultdict[str, list[str]] = defaultdict(list)
    for content in (each for each in _contents(folder) if each.has(_TRIAL)):
        with suppress(ValidationError):  # a task may leave what looks like a trial
            trial = TrialResult.model_validate_json(content.body)
            for result in trial.tests:
                for file in result.artefacts:
                    place = trial.run_id, trial.trial, result.test, file.task, file.name
                    left[file.sha256].append(keys.artefact(*place))
    return left


def _artefacts(folder: Path, left: Mapping[str, list[str]]) -> Iterator[tuple[str, bytes]]:
    """Yield the key and the body of each file that a task left."""
    if not left:
        return
    for file in (folder / "bodies").iterdir():
        body = file.read_bytes()
        for key in left.get(_sha256(body), ()):
            yield key, body


def _contents(folder: Path, left: Container[str] = ()) -> Iterator[_Content]:
    """Yield the bodies that are JSON or packed rows, in the order in which they were written.

    Files that tasks have ``left`` are not trusted: one may say that it is a trial.
    """
    for file in sorted((folder / "bodies").iterdir(), key=lambda file: file.stat().st_mtime_ns):
        body = file.read_bytes()
        if _sha256(body) in left:
            continue
        try:
            text = gunzipped(body, _MOST_BYTES) if body.startswith(b"\x1f\x8b") else body
            lines = text.splitlines() if text is not body else [text]
            rows = [json.loads(line) for line in lines]
        except (OSError, EOFError, zlib.error, ValueError):
            continue
        if rows and all(isinstance(row, dict) for row in rows):
            yield _Content(body, rows)


def _key(content: _Content) -> str | None:
    """Return the key of a plan, trial or outcome, None for any other content."""
    if content.has(_PLAN):
        return keys.plan(content.first["run_id"])
    if content.has(_TRIAL):
        return keys.trial(content.first["run_id"], content.first["trial"])
    return keys.outcome(content.first["run_id"]) if content.has(_OUTCOME) else None


def _is_resume(content: _Content) -> bool:
    return content.has(_RESUME) and "run_id" not in content.first


def _write_rows(results: FileBucket, contents: Iterable[_Content]) -> None:
    """Write what rows say: the row of each run, and which trials are excluded."""
    now = datetime.now(UTC)
    for content in contents:
        if content.has(_RUN_ROW) and (plan := find_plan(results, content.first["run_id"])):
            results.write(keys.table("runs", plan.suite.name, plan.run_id), content.body)
        for row in content.rows if content.has(_RATE_ROW) else ():
            key = keys.exclusion(row["run_id"], row["trial"])
            if row["excluded"] and not results.find(key):
                exclusion = Exclusion(excluded=True, reason=_REASON, at=now)
                results.write(key, exclusion.model_dump_json().encode())


def _sha256(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def _write_alarms(results: FileBucket) -> None:
    """Write which changes of level were reported, as the outcomes say; later runs repeat none."""
    alarms: defaultdict[str, list[LevelAlarm]] = defaultdict(list)
    for run_id in results.folders(keys.RUNS):
        with suppress(ValidationError):
            if stored := results.find(keys.outcome(run_id)):
                outcome = Outcome.model_validate_json(stored.body)
                alarms[outcome.suite] += outcome.level_changes
    for suite, told in alarms.items():
        write_alarms(results, suite, told)


def _publish(results: FileBucket) -> None:
    publisher = InProcessPublisher(results)
    for run_id in list(results.folders(keys.RUNS)):
        if find_plan(results, run_id):
            publisher.rates(run_id)
            publisher.report(run_id)


_TRIALS = "the trials of its run"


class StackContents:
    """The objects of one stack."""

    naming = (
        "moves them aside, names the runs and trials again by what their files say, and writes "
        "their tables and reports again"
    )

    def __init__(self, stack: str) -> None:
        self._stack = stack

    def name_again(self, folder: Path) -> bool:
        """Make the results of a folder with a lost or damaged index again from its bodies."""
        return name_again(folder, own_bucket(self._stack))

    def rebuilding(self, files: ObjectFiles, bucket: str, key: str) -> Rebuilding | None:
        """Return the way to write an object again, None if nothing else has its content."""
        results = self._results(files)
        return rebuilding(results, key) if bucket == results.name else None

    def examine(self, files: ObjectFiles) -> Iterator[Finding]:
        """Yield each run whose cloud ended before its outcome, since no cloud has the folder."""
        results = self._results(files)
        with suppress(DamagedObject):  # a finding of its own
            yield from map(partial(_unfinished, results), claims.all_held(results))

    def _results(self, files: ObjectFiles) -> FileBucket:
        return FileBucket(files, results_bucket(files, self._stack))


def _unfinished(results: FileBucket, held: claims.Held) -> Finding:
    left = sum(1 for _ in results.keys(keys.data_of(held.claim.run_id)))
    data = f", and its tasks left {plural(left, 'object')}" if left else ""
    problem = (
        f"run {held.claim.run_id} of {held.suite} is unfinished: its cloud ended before it wrote "
        f"the outcome{data}"
    )
    remedy = "leaves the run to the next command that starts a cloud, such as tidemark run"
    return Finding(problem, remedy, lambda: True, harmless=True)


def rebuilding(bucket: FileBucket, key: str) -> Rebuilding | None:
    """Return the way to write an object again, None if nothing else has its content."""
    folder, run = key.split("/", maxsplit=1)[0], re.search(RUN_ID, key)
    publisher = InProcessPublisher(bucket)
    if run is None:
        return None
    if key == keys.outcome(run[0]):
        return Rebuilding("the row of its run", partial(_write_outcome, bucket, run[0]))
    if folder in {"reports", "versions"}:
        return Rebuilding(_TRIALS, partial(publisher.report, run[0]))
    if key.startswith(keys.rows("runs")):
        return Rebuilding("the outcome of its run", partial(_record_run, bucket, run[0]))
    if key.startswith(keys.rows("profiles")):
        suite = key.split("/")[2].removeprefix("suite=")
        return Rebuilding("its profile", partial(record_profile, bucket, suite, run[0]))
    return Rebuilding(_TRIALS, partial(publisher.rates, run[0])) if folder == "tables" else None


def _write_outcome(bucket: FileBucket, run_id: str) -> None:
    plan, trials, _, resumes = read_run(bucket, read_plan(bucket, run_id))
    body = bucket.read(keys.table("runs", plan.suite.name, run_id))
    row = json.loads(gzip.decompress(body))
    ended = datetime.fromisoformat(row["ended_at"]).replace(tzinfo=UTC)
    execution = resumes[-1].execution_arn if resumes else plan.execution_arn
    published = published_keys(bucket, plan)
    outcome = planned_outcome(plan, trials, published, execution, ended)
    told = outcome.model_copy(update={"status": row["status"], "reason": row["reason"]})
    bucket.write(keys.outcome(run_id), told.model_dump_json().encode())


def _record_run(bucket: FileBucket, run_id: str) -> None:
    outcome = Outcome.model_validate_json(bucket.read(keys.outcome(run_id)))
    run = read_run(bucket, read_plan(bucket, run_id))
    record_run(bucket, run.plan, run.trials, outcome)
