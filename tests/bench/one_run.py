"""One ``tidemark run`` in a process of its own, with its times taken from the cloud's own API.

Prints JSON: seconds from the start of the process to the first task, from the end of the last
task to the printed table, and of each trial what its tasks did not take.
"""

from __future__ import annotations

import json
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from local.cloud.cloud import start_cloud
from local.commands.live import follow, show_result
from local.commands.target import Target
from local.following import Run, RunClient


def measure(began: float, state: Path, given: dict[str, Any]) -> dict[str, Any]:
    """Return the times of one run [s]; ``began`` is the start of the process, epoch seconds."""
    console, target = Console(stderr=True), Target(state, stack=None)
    with start_cloud(state) as cloud:
        client = RunClient(cloud.endpoint.client, cloud.deploy())
        run = client.start(given)
        follow(client, run, target.at_once, console)
        code = show_result(client, run, target, console)
        printed = time.time()
        assert code == 0, "the run that was to be timed did not complete"
        trials = list(client.results.trials(run.run_id))
        states = cloud.endpoint.client("stepfunctions")
        overheads = [_overhead(states, client, run, trial) for trial in trials]
    tasks = [task for trial in trials for test in trial["tests"] for task in test["tasks"]]
    return {
        "to_first_task": min(_epoch(task["started_at"]) for task in tasks) - began,
        "to_table": printed - max(_epoch(task["stopped_at"]) for task in tasks),
        "trial_overheads": overheads,
    }


def _overhead(states: Any, client: RunClient, run: Run, trial: dict[str, Any]) -> float:
    arn = client.trial_arn(run, trial["trial"])
    described = states.describe_execution(executionArn=arn)
    wall: float = (described["stopDate"] - described["startDate"]).total_seconds()
    longest = [
        max(_epoch(task["stopped_at"]) - _epoch(task["started_at"]) for task in test["tasks"])
        for test in trial["tests"]
    ]
    return wall - sum(longest)


def _epoch(text: str) -> float:
    return datetime.fromisoformat(text).astimezone(UTC).timestamp()


if __name__ == "__main__":
    start, folder, execution_input = sys.argv[1:]
    print(json.dumps(measure(float(start), Path(folder), json.loads(execution_input))))
