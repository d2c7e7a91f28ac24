"""Checks that every run must pass, whatever its fault."""

from __future__ import annotations

import gzip
import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from math import fsum
from pathlib import Path
from typing import Any

from tests.system.faults.fault import Ending
from tests.system.faults.ground import LOG_GROUP, SUITE, Ground
from tidemark.client.runs import Run
from tidemark.model.plan import Plan
from tidemark.store import keys
from tidemark.store.run_ends import find_outcome
from tidemark.store.run_objects import all_trials
from tidemark.store.stored_plan import find_plan
from tidemark.store.stored_run import Progress, read_progress

# The rate lines of the scripted workload, read without the engine under test.
_RATE = re.compile(
    r"(Wrote \d+ records to S3 in|compaction read \d+ records).* at (\S+) per second"
)
_NUMBER = re.compile(r"\d{1,15}(\.\d{1,6})?")
_KEYS = {
    "rates": ("run_id", "trial", "test", "metric"),
    "task_rates": ("run_id", "trial", "test", "metric", "log_stream", "line"),
    "runs": ("run_id",),
}
# ECS kills a task that ignores SIGTERM after 30 s.
_LONGEST_END_SECONDS = 45
# Tolerance for a task's clock and for late lines [s].
_MARGIN = 120

Row = dict[str, Any]


def ending(ground: Ground, run: Run) -> Ending:
    """Return the ending of a run."""
    outcome = find_outcome(ground.client.bucket, run.run_id)
    kept = sum(row["value"] is not None for row in _rows(ground, "rates", run.run_id))
    if outcome is None:
        return Ending("", "", kept)
    return Ending(outcome.status, outcome.reason, kept)


def problems(ground: Ground, run: Run) -> Iterator[str]:
    """Yield the problems of a run that has ended."""
    plan = find_plan(ground.client.bucket, run.run_id)
    yield from _figures(ground, run, plan)
    yield from _leftovers(ground, run)


def problems_of_resume(ground: Ground, run: Run) -> Iterator[str]:
    """Resume a run that has missing trials and yield the problems of the resumed run."""
    bucket = ground.client.bucket
    plan, progress = find_plan(bucket, run.run_id), read_progress(bucket, run.run_id)
    if plan is None or progress is None or progress.recorded == progress.planned:
        return
    before = _trials(ground, run)
    again = ground.resume(run)
    after = _trials(ground, again)
    if read_progress(bucket, run.run_id) != Progress(len(after), len(after)):
        yield f"the resumed run has {len(after)} trials and needs more"
    if [trial["trial"] for trial in after] != [trial.trial for trial in plan.trials[: len(after)]]:
        yield f"the resumed run has the trials {[trial['trial'] for trial in after]}"
    if any(trial not in after for trial in before):
        yield "the resumed run has changed a recorded trial"
    if (end := ending(ground, again)).status != "complete":
        yield f"the resumed run ended as {end}"
    yield from (f"resumed: {problem}" for problem in problems(ground, again))


def _trials(ground: Ground, run: Run) -> list[Row]:
    return [trial.model_dump(mode="json") for trial in all_trials(ground.client.bucket, run.run_id)]


def task_processes(url: str) -> list[str]:
    """Return the ids of the ECS task processes of the cloud at ``url``."""
    return [pid for pid in processes(url) if b"\0TIDEMARK_TASK=" in _environment(pid)]


def processes(url: str) -> list[str]:
    """Return the ids of all processes that a cloud has started, in any process group."""
    variable = f"AWS_ENDPOINT_URL={url}\0".encode()
    pids = (path.name for path in Path("/proc").iterdir() if path.name.isdecimal())
    return [pid for pid in pids if variable in _environment(pid)]


def _environment(pid: str) -> bytes:
    try:
        return b"\0" + Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:  # the process has ended, or belongs to another user
        return b""


def _figures(ground: Ground, run: Run, plan: Plan | None) -> Iterator[str]:
    """Yield the differences between the stored rates of a run and its logs."""
    trials = {trial["trial"]: trial for trial in _trials(ground, run)}
    if plan is None:
        if trials:
            yield f"the run has {len(trials)} trials and no plan"
        return
    stored = {
        (row["trial"], row["test"]): row["value"] for row in _rows(ground, "rates", run.run_id)
    }
    for number, trial in trials.items():
        for test in trial["tests"]:
            place = f"trial {number} ({trial['version']}), {test['test']}"
            value = next((rate["value"] for rate in test["rates"]), None)
            expected = _expected_rate(ground, plan, test)
            # A failed trial loses the rates that were not collected, and records that.
            lost = trial["status"] == "failed" and test["status"] == "skipped"
            if value != expected and not lost:
                yield f"{place}: the stored rate is {value}; the tasks logged {expected}"
            if stored.get((number, test["test"]), value) != value:
                yield f"{place}: the table has {stored[number, test['test']]}, the trial {value}"
            if (test["status"] == "ok") != (value is not None):
                yield f"{place}: the test is {test['status']}, and its rate is {value}"
    for trial, test in stored:
        if trial not in trials:
            yield f"trial {trial}, {test}: the table has a trial that was not recorded"


def _expected_rate(ground: Ground, plan: Plan, test: Row) -> float | None:
    """Return the mean of a test's logged rates, None unless each task logged all of them once."""
    values: list[float] = []
    for task in test["tasks"]:
        if task["exit_code"] != 0:
            return None
        texts = _rates_logged(ground, test, task["task_arn"].rsplit("/", 1)[-1])
        if len(texts) != plan.suite.test(test["test"]).jobs:
            return None
        if not all(_NUMBER.fullmatch(text) for text in texts):
            return None
        values += map(float, texts)
    if len(test["tasks"]) != plan.request.tasks or not all(values):
        return None
    return fsum(values) / len(values)


def _rates_logged(ground: Ground, test: Row, task_id: str) -> list[str]:
    """Return the rates that a task logged while its test ran, by the clock of the run."""
    start, end = (datetime.fromisoformat(test[name]) for name in ("started_at", "ended_at"))
    events = ground.logs.read(LOG_GROUP, f"{SUITE}/{SUITE}/{task_id}")
    lines = (
        _RATE.search(event.message)
        for event in events
        if start.timestamp() - _MARGIN <= event.timestamp / 1000 <= end.timestamp() + _MARGIN
    )
    return [line[2] for line in lines if line]


def duplicates(ground: Ground) -> Iterator[str]:
    """Yield the rows that the tables of all runs have several times."""
    for table, key in _KEYS.items():
        rows = Counter(tuple(row[name] for name in key) for row in _rows(ground, table))
        yield from (f"{table} has {row} {times} times" for row, times in rows.items() if times > 1)


def _leftovers(ground: Ground, run: Run) -> Iterator[str]:
    url = ground.cloud.endpoint.url
    deadline = time.monotonic() + _LONGEST_END_SECONDS
    while (left := task_processes(url)) and time.monotonic() < deadline:
        time.sleep(0.05)
    yield from (f"process {pid} is left" for pid in left)
    for prefix in (keys.work(run.run_id), keys.data_of(run.run_id), "claims/"):
        yield from (f"{key} is left" for key in _keys(ground, prefix))


def _rows(ground: Ground, table: str, run_id: str | None = None) -> Iterator[Row]:
    """Yield the rows of a table, for one run or for all runs."""
    if run_id is None:
        names = _keys(ground, f"tables/{table}/")
    else:
        names = _keys(ground, keys.table(table, SUITE, run_id))
    s3 = ground.cloud.endpoint.client("s3")
    for name in names:
        body = s3.get_object(Bucket=ground.stack.bucket, Key=name)["Body"].read()
        yield from (json.loads(line) for line in gzip.decompress(body).splitlines())


def _keys(ground: Ground, prefix: str) -> list[str]:
    pages = ground.cloud.endpoint.client("s3").get_paginator("list_objects_v2")
    listed = pages.paginate(Bucket=ground.stack.bucket, Prefix=prefix)
    return [entry["Key"] for page in listed for entry in page.get("Contents", [])]
