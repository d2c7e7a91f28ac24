"""The objects of the results bucket that follow from other objects of their run."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple

from onebox.store.bucket import FileBucket
from tidemark.client.in_process import InProcessPublisher
from tidemark.model.outcome import Outcome
from tidemark.model.run_id import RUN_ID
from tidemark.run.run_outcome import planned_outcome, published_keys
from tidemark.store import keys
from tidemark.store.profiles.stored_profile import record_profile
from tidemark.store.run_ends import record_run
from tidemark.store.stored_plan import read_plan
from tidemark.store.stored_run import read_run

_TRIALS = "the trials of its run"


class Rebuilding(NamedTuple):
    """A way to write an object again; it raises LookupError if its source is lost, too."""

    source: str
    write: Callable[[], object]


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
