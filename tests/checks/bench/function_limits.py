"""Peak memory and CPU time of each function that reads a whole trial or run, at the largest.

``python -m tests.checks.bench.function_limits`` stores the largest accepted trial and run in a
one-machine cloud and invokes the deployed functions, each in its own process. It reads the peak
from the line REPORT of their logs, and compares the CPU time at Lambda's share of a core with the
time limit.
"""

from __future__ import annotations

import base64
import json
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from onebox.cloud.cloud import Cloud, start_cloud
from onebox.cloud.environments import Sandbox
from onebox.cloud.replacements import Replacements
from onebox.cloud.runtime import Reply
from onebox.logs.store import LogStore
from tests.cpu_shares import MOST_PERCENT as MOST_CPU_PERCENT
from tests.cpu_shares import measured_work
from tests.largest_run import largest_plan, plan_of_largest_trials, trials_of
from tidemark.model.plan import Plan
from tidemark.model.results import Sample, TestResult
from tidemark.one_machine.app import deploy, machine_app
from tidemark.run.ecs_resources import System
from tidemark.store import keys
from tidemark.store.claims import Claim

Store = Callable[[str, BaseModel], None]
"""A function that stores a document under a key."""
MOST_MEMORY_PERCENT = 70.0
# A busy machine takes its time; the CPU time is compared with the function's own limit.
_PATIENCE_SECONDS = 3600
_REPORT = re.compile(r"Memory Size: (\d+) MB\tMax Memory Used: (\d+) MB")


def figures() -> Iterator[tuple[str, float, float, str]]:
    """Yield name, measured share, limit and unit: memory and CPU time of each function."""
    with (
        tempfile.TemporaryDirectory() as state,
        start_cloud(machine_app(), Path(state)) as cloud,
        _patience(),
        measured_work() as works,
    ):
        bucket = deploy(cloud).bucket
        s3 = cloud.endpoint.client("s3")

        def store(key: str, value: BaseModel) -> None:
            s3.put_object(Bucket=bucket, Key=key, Body=value.model_dump_json().encode())

        logs = LogStore(cloud.state / "logs")
        for state_name, event in chain(_of_trial(store, logs), _of_run(store)):
            size, peak = _invoke(cloud, state_name, event)
            name = f"memory of {state_name}: {peak} of {size} MiB"
            yield name, 100 * peak / size, MOST_MEMORY_PERCENT, "%"
            work = works.pop()._replace(function=state_name)
            yield f"time of {work}", work.percent, MOST_CPU_PERCENT, "%"


@contextmanager
def _patience() -> Iterator[None]:
    """Let functions work beyond their time limits while the context is open."""
    replacements = Replacements()

    def run(sandbox: Sandbox, payload: bytes) -> Reply:
        function = sandbox.function
        sandbox.function = replace(function, timeout_seconds=_PATIENCE_SECONDS)
        reply: Reply = ran(sandbox, payload)
        sandbox.function = function
        return reply

    ran = replacements.set(Sandbox, "_run", run)
    try:
        yield
    finally:
        replacements.restore()


def _of_trial(store: Store, logs: LogStore) -> Iterator[tuple[str, Any]]:
    """Store the largest trial; yield the functions that read its logs and tests, with events."""
    plan = plan_of_largest_trials()
    store(keys.plan(plan.run_id), plan)
    result = next(trials_of(plan))
    trial = {"run_id": plan.run_id, "trial": result.trial}
    suite = plan.suite.name
    system = System(
        task_definition="",
        container=suite,
        log_group=result.tests[0].log_group or "",
        stream_prefix=suite,
        security_group="",
    )
    collection = _collection(result.tests[0], logs)
    yield "CollectRates", {**trial, "system": system.model_dump(), **collection}
    for test in result.tests:
        store(keys.measured(plan.run_id, result.trial, test.test), test)
    yield "RecordTrial", {**trial, "failure": None}


def _collection(test: TestResult, logs: LogStore) -> Mapping[str, Any]:
    """Log the samples of a test, which all its metrics read; return the rest of the event."""
    lines = defaultdict(list)
    for sample in test.samples:
        if sample.metric == test.rates[0].metric:
            moment = datetime.fromisoformat(f"{sample.logged_at}+00:00")
            lines[sample.log_stream].append((int(moment.timestamp() * 1000), _line(sample)))
    for stream, events in lines.items():
        logs.append(test.log_group or "", stream, events, events[-1][0])
    fields = test.model_dump(mode="json", include={"test", "tasks", "started_at", "ended_at"})
    counts = {"attempt": 1, "lines": 0, "bytes_scanned": 0}
    return {**fields, **counts, "now": fields["ended_at"], "artefacts": ""}


def _line(sample: Sample) -> str:
    """Return the line of a rate, as the workload logs it."""
    wrote = f"Wrote {sample.records} records to S3 in {sample.seconds:.1f} seconds"
    return f"[main] rocksdb INFO - {wrote} at {sample.value_text} per second"


def _of_run(store: Store) -> Iterator[tuple[str, Any]]:
    """Store the largest run; yield each function that reads all of its trials, and its event."""
    plan = largest_plan()
    store(keys.plan(plan.run_id), plan)
    for trial in trials_of(plan):
        store(keys.trial(plan.run_id, trial.trial), trial)
    for state_name, event in _events(plan).items():
        if state_name in {"EndRun", "SweepRuns"}:
            store(keys.claim(plan.suite.name), _claim(plan))
        yield state_name, event


def _events(plan: Plan) -> Mapping[str, Any]:
    """Return the event of each function."""
    run, now = {"run_id": plan.run_id}, datetime.now(UTC).isoformat()
    base, new = plan.request.versions
    sides = {"suite": plan.suite.name, "base": base, "new": new}
    execution = {
        "execution_arn": plan.execution_arn,
        "execution_name": "by-hand",
        "started_at": plan.started_at.isoformat(),
        "input": {"suite": plan.suite.name},
    }
    dead = {"executionArn": plan.execution_arn, "status": "ABORTED"}
    return {
        "ChooseTrial": {**run, "execution_arn": plan.execution_arn, "budget_usd": 1e6},
        "RecordRates": run,
        "PublishReport": run,
        "PublishComparison": sides,
        "RecordOutcome": {**execution, **run, "now": now, "failure": None},
        "EndRun": {"detail": dead},
        "SweepRuns": {},
    }


def _claim(plan: Plan) -> Claim:
    """Return the claim of the run's execution, which the cloud does not know: it has died."""
    long_ago = datetime.now(UTC) - timedelta(days=1)
    return Claim(run_id=plan.run_id, execution_arn=plan.execution_arn, claimed_at=long_ago)


def _invoke(cloud: Cloud, state: str, event: Any) -> tuple[int, int]:
    """Invoke the function of a state; return its memory and its peak [MiB]."""
    functions = cloud.endpoint.client("lambda")
    pages = functions.get_paginator("list_functions").paginate()
    names = [one["FunctionName"] for page in pages for one in page["Functions"]]
    (name,) = [name for name in names if f"Functions{state}" in name]
    answer = functions.invoke(FunctionName=name, Payload=json.dumps(event), LogType="Tail")
    log = base64.b64decode(answer["LogResult"]).decode()
    assert "FunctionError" not in answer, f"{state}: {log}"
    payload = json.loads(answer["Payload"].read())
    assert payload.get("status") != "failed", f"{state}: {payload}"
    measured = _REPORT.search(log)
    assert measured, f"{state}: no peak in {log}"
    return int(measured[1]), int(measured[2])


def main() -> int:
    """Measure and print; return 1 if a function exceeds its share."""
    exceeded = False
    for name, percent, limit, unit in figures():
        print(f"{name}: {percent:.0f} {unit}, limit {limit:g} {unit}", flush=True)
        exceeded |= percent > limit
    return int(exceeded)


if __name__ == "__main__":
    sys.exit(main())
