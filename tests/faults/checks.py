"""What must hold of a run, whatever happened to it."""

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

from local.following import Run
from suites import keys
from suites.plan import Plan
from tests.faults.fault import Ending
from tests.faults.ground import LOG_GROUP, SUITE, Ground

# The lines of the scripted workload, read without the engine that is under test.
_RATE = re.compile(
    r"(Wrote \d+ records to S3 in|compaction read \d+ records).* at (\S+) per second"
)
_NUMBER = re.compile(r"\d{1,15}(\.\d{1,6})?")
_KEYS = {
    "rates": ("run_id", "trial", "test", "metric"),
    "task_rates": ("run_id", "trial", "test", "metric", "log_stream", "line"),
    "runs": ("run_id",),
}
# A task that ignores SIGTERM is killed 30 s later.
_LONGEST_END_SECONDS = 45
# How far a task's clock may be off, and how late its lines may be.
_MARGIN = 120

Row = dict[str, Any]


def ending(ground: Ground, run: Run) -> Ending:
    """Return how a run ended."""
    outcome = ground.client.results.outcome(run.run_id) or {"status": "", "reason": ""}
    kept = sum(row["value"] is not None for row in _rows(ground, "rates", run.run_id))
    return Ending(outcome["status"], outcome["reason"], kept)


def problems(ground: Ground, run: Run) -> Iterator[str]:
    """Yield whatever is not as it must be once a run has ended."""
    plan = ground.client.results.plan(run.run_id)
    yield from _figures(ground, run, plan)
    yield from _doubled(ground)
    yield from _left_over(ground, run)


def problems_of_resume(ground: Ground, run: Run) -> Iterator[str]:
    """Resume a run if trials of it are missing, and yield what is then not as it must be."""
    plan = ground.client.results.plan(run.run_id)
    before = _trials(ground, run)
    if plan is None or len(before) == len(plan.trials):
        return
    again = ground.resumed(run)
    after = _trials(ground, again)
    if [trial["trial"] for trial in after] != [trial.trial for trial in plan.trials]:
        yield f"resumed, it has the trials {[trial['trial'] for trial in after]}"
    if any(trial not in after for trial in before):
        yield "resumed, it has changed a trial that was recorded"
    if (end := ending(ground, again)).status != "complete":
        yield f"resumed, it ended as {end}"
    yield from (f"resumed: {problem}" for problem in problems(ground, again))


def _trials(ground: Ground, run: Run) -> list[Row]:
    return list(ground.client.results.trials(run.run_id))


def task_processes(url: str) -> list[str]:
    """Return the ids of the processes of ECS tasks of the cloud at ``url``."""
    return [pid for pid in processes(url) if b"\0TIDEMARK_TASK=" in _environment(pid)]


def processes(url: str) -> list[str]:
    """Return the ids of all processes that a cloud has started, in whatever group they are."""
    told = f"AWS_ENDPOINT_URL={url}\0".encode()
    pids = (path.name for path in Path("/proc").iterdir() if path.name.isdecimal())
    return [pid for pid in pids if told in _environment(pid)]


def _environment(pid: str) -> bytes:
    try:
        return b"\0" + Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:  # it has ended, or is another user's
        return b""


def _figures(ground: Ground, run: Run, plan: Plan | None) -> Iterator[str]:
    """Compare what was kept of a run with what its tasks logged."""
    trials = {trial["trial"]: trial for trial in _trials(ground, run)}
    if plan is None:
        if trials:
            yield f"{len(trials)} trials of a run without a plan"
        return
    stored = {
        (row["trial"], row["test"]): row["value"] for row in _rows(ground, "rates", run.run_id)
    }
    for number, trial in trials.items():
        for test in trial["tests"]:
            place = f"trial {number} ({trial['version']}), {test['test']}"
            value = next((rate["value"] for rate in test["rates"]), None)
            wanted = _finished(ground, plan, test)
            # What could not be collected is lost with its trial, which then says so itself.
            lost = trial["status"] == "failed" and test["status"] == "skipped"
            if value != wanted and not lost:
                yield f"{place}: the rate kept is {value}; the tasks logged {wanted}"
            if stored.get((number, test["test"]), value) != value:
                yield f"{place}: the table has {stored[number, test['test']]}, the trial {value}"
            if (test["status"] == "ok") != (value is not None):
                yield f"{place}: it is {test['status']}, and its rate is {value}"
    for trial, test in stored:
        if trial not in trials:
            yield f"trial {trial}, {test}: it is in the table and was not recorded"


def _finished(ground: Ground, plan: Plan, test: Row) -> float | None:
    """Return the mean of what a test's tasks logged; None unless each did all its work, once."""
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
    """Return the rates of a task's log, while its test was measured by the clock of the run."""
    began, ended = (datetime.fromisoformat(test[name]) for name in ("started_at", "ended_at"))
    events = ground.logs.read(LOG_GROUP, f"{SUITE}/{SUITE}/{task_id}")
    lines = (
        _RATE.search(event.message)
        for event in events
        if began.timestamp() - _MARGIN <= event.timestamp / 1000 <= ended.timestamp() + _MARGIN
    )
    return [line[2] for line in lines if line]


def _doubled(ground: Ground) -> Iterator[str]:
    for table, key in _KEYS.items():
        rows = Counter(tuple(row[name] for name in key) for row in _rows(ground, table))
        yield from (f"{table} has {row} {times} times" for row, times in rows.items() if times > 1)


def _left_over(ground: Ground, run: Run) -> Iterator[str]:
    url = ground.cloud.endpoint.url
    deadline = time.monotonic() + _LONGEST_END_SECONDS
    while (left := task_processes(url)) and time.monotonic() < deadline:
        time.sleep(0.05)
    yield from (f"process {pid} is left" for pid in left)
    for prefix in (f"work/{run.run_id}/", "claims/"):
        yield from (f"{key} is left" for key in _keys(ground, prefix))


def _rows(ground: Ground, table: str, run_id: str | None = None) -> Iterator[Row]:
    """Yield the rows of a table, of one run or of all."""
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
