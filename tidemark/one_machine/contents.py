"""The objects that Tidemark expects in a state folder, for `tidemark doctor`."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from onebox.doctor.examination import Finding, Rebuilding
from onebox.store.errors import DamagedObject
from onebox.store.object_files import ObjectFiles
from tidemark.client.in_process import InProcessPublisher
from tidemark.model.outcome import Outcome
from tidemark.model.run_id import RUN_ID
from tidemark.model.sentences import plural
from tidemark.one_machine.naming import name_again
from tidemark.one_machine.stored import FileBucket, own_bucket, results_bucket
from tidemark.run.run_outcome import planned_outcome, published_keys
from tidemark.store import claims, keys
from tidemark.store.profiles.stored_profile import record_profile
from tidemark.store.run_ends import record_run
from tidemark.store.stored_plan import read_plan
from tidemark.store.stored_run import read_run

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
        """Make the results of a folder without index and journal again from its bodies."""
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
