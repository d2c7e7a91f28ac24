"""One ``tidemark run`` in a separate process, with times from the cloud's API.

The program prints JSON: the seconds from the start of the process to the first task, from the end
of the last task to the printed table, of each trial without its tasks, and the share of syncs:
their number times their median, divided by the time of the run.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console

from aws.client.deployed import deployed_stack
from onebox.cloud.cloud import start_cloud
from onebox.cloud.replacements import Replacements
from tidemark.cli.live import follow, show_result
from tidemark.cli.target import Target
from tidemark.client.runs import Run, RunClient
from tidemark.model.results import TrialResult
from tidemark.one_machine.app import deploy, machine_app
from tidemark.store.run_objects import all_trials


def measure(process_start: float, state: Path, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the times of one run [s]; ``process_start`` is in epoch seconds."""
    console, target = Console(stderr=True), Target(state, stack=None)
    with _timed_syncs() as syncs, start_cloud(machine_app(), state) as cloud:
        client = deployed_stack(cloud.endpoint.client, deploy(cloud), poll_seconds=0.1).runs
        run = client.start(fields)
        follow(client, run, target, console)
        code = show_result(client, run, target, console)
        printed = time.time()
        assert code == 0, "the measured run did not complete"
        trials = list(all_trials(client.bucket, run.run_id))
        states = cloud.endpoint.client("stepfunctions")
        overheads = [_overhead(states, client, run, trial) for trial in trials]
    tasks = [task for trial in trials for test in trial.tests for task in test.tasks]
    return {
        "to_first_task": min(_epoch(task.started_at) for task in tasks) - process_start,
        "to_table": printed - max(_epoch(task.stopped_at) for task in tasks),
        "trial_overheads": overheads,
        "syncs": len(syncs) * median(syncs) / (printed - process_start),
    }


@contextmanager
def _timed_syncs() -> Iterator[list[float]]:
    """Yield the list that gets the time [s] of each sync of this process."""
    times: list[float] = []

    def timed(sync: Callable[[int], None]) -> Callable[[int], None]:
        def sync_and_note(descriptor: int) -> None:
            began = time.perf_counter()
            sync(descriptor)
            times.append(time.perf_counter() - began)

        return sync_and_note

    replaced = Replacements()
    for name in ("fsync", "fdatasync"):
        replaced.set(os, name, timed(getattr(os, name)))
    try:
        yield times
    finally:
        replaced.restore()


def _overhead(states: Any, client: RunClient, run: Run, trial: TrialResult) -> float:
    arn = client.trial_arn(run, trial.trial)
    described = states.describe_execution(executionArn=arn)
    wall: float = (described["stopDate"] - described["startDate"]).total_seconds()
    longest = [
        max(_epoch(task.stopped_at) - _epoch(task.started_at) for task in test.tasks)
        for test in trial.tests
    ]
    return wall - sum(longest)


def _epoch(moment: datetime | None) -> float:
    assert moment, "a task of a complete run has no start or no stop"
    return moment.timestamp()


if __name__ == "__main__":
    start, folder, execution_input = sys.argv[1:]
    print(json.dumps(measure(float(start), Path(folder), json.loads(execution_input))))
