"""``python -m tests.system.end_to_end.verdict_runs STATE SYSTEMS``: five runs and their verdicts.

Each run ends in its own way, in one cloud of this process. The program prints JSON: for each run
the verdicts that its stored trials give, and those that each reader of results has.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from aws.bucket import S3Bucket
from aws.client.deployed import deployed_stack
from onebox.cloud.cloud import start_cloud
from tidemark.cli.decisions import record_exclusion
from tidemark.client.deployed import Deployed
from tidemark.dashboard.data_sets import read_data_set, read_rows
from tidemark.figures.verdicts.version_verdicts import verdicts, version_pairs
from tidemark.one_machine.app import deploy, machine_app
from tidemark.store.bucket import Bucket
from tidemark.store.run_ends import find_outcome
from tidemark.store.run_objects import find_report, recorded_trials
from tidemark.store.stored_plan import read_plan
from tidemark.store.stored_run import StoredRun, read_run

COLUMNS = ("base", "new", "verdict", "reason", "low", "high", "change")
_SUITE = "fig"
_DECIDED = {"suite": _SUITE, "versions": ["1.0", "1.2"], "baseline": "1.0", "until": "decided"}
_PLANNED = {"suite": _SUITE, "versions": ["1.0", "1.2"], "baseline": "1.0", "repetitions": 6}
_SEARCH = {"suite": _SUITE, "bisect": {"base": "1.0", "new": "1.3", "metric": "rate"}}


def measure(app: Deployed, fields: dict[str, Any], stop_after: int | None = None) -> str:
    """Measure a run to its end, or stop it after some trials; return its id."""
    run = app.runs.start(fields)
    while app.runs.active(run):
        if stop_after and len(recorded_trials(app.bucket, run.run_id)) >= stop_after:
            app.runs.stop(run, "enough")
            stop_after = None
        time.sleep(0.1)
    app.runs.await_end([run.run_id])
    return run.run_id


def decided(app: Deployed) -> str:
    """Measure until each verdict is known."""
    return measure(app, _DECIDED)


def out_of_budget_and_resumed(app: Deployed) -> str:
    """Measure until the budget is spent, and resume with a greater one."""
    run_id = measure(app, {**_DECIDED, "budget_usd": 0.002})
    assert find_outcome(app.bucket, run_id).status == "incomplete"
    return measure(app, {"suite": _SUITE, "run": run_id, "budget_usd": 1})


def stopped_and_resumed(app: Deployed) -> str:
    """Stop a run of a fixed plan, and resume it."""
    return measure(app, {"suite": _SUITE, "run": measure(app, _PLANNED, stop_after=5)})


def with_an_excluded_trial(app: Deployed) -> str:
    """Exclude a trial of a run that has ended."""
    run_id = measure(app, _PLANNED)
    record_exclusion(app, run_id, 3, "busy", excluded=True)
    return run_id


def searched(app: Deployed) -> str:
    """Search for the first slower version."""
    return measure(app, _SEARCH)


RUNS: tuple[Callable[[Deployed], str], ...] = (
    decided,
    out_of_budget_and_resumed,
    stopped_and_resumed,
    with_an_excluded_trial,
    searched,
)


def recomputed(run: StoredRun) -> Iterator[tuple[Any, ...]]:
    """Yield the verdicts that a run's stored trials give."""
    for base, version in version_pairs(run.plan):
        for each in verdicts(run, base, version):
            judged = each.judgement
            yield base, version, judged.word, judged.reason, judged.low, judged.high, each.change


def in_athena(app: Deployed, run_id: str) -> Iterator[tuple[Any, ...]]:
    """Yield the verdicts of a run in the table."""
    answer = app.tables.ask(
        "SELECT baseline, version, verdict, reason, low, high, change FROM verdicts"
        " WHERE run_id = ?",
        [run_id],
    )
    for base, version, word, reason, *numbers in answer.rows:
        yield base, version, word, reason, *(None if n is None else float(n) for n in numbers)


def on_the_page(app: Deployed) -> list[list[Any]]:
    """Return the verdicts that the page and QuickSight show, the newest of each two versions."""
    data_set = read_data_set("version_pairs")
    return [row[1:] for row in read_rows(app.tables, data_set, ["suite", *COLUMNS]).rows]


def in_comparisons(app: Deployed, run: StoredRun) -> Iterator[tuple[Any, ...]]:
    """Yield the verdicts of a run's comparisons for programs."""
    for base, version in version_pairs(run.plan):
        name = f"{version}-against-{base}.json"
        body = find_report(app.bucket, _SUITE, run.plan.run_id, name)
        for metric in json.loads(body)["metrics"] if body else ():
            yield base, version, *(metric[column] for column in COLUMNS[2:])


def told(app: Deployed, bucket: Bucket, run_id: str) -> dict[str, Any]:
    """Return the verdicts of a run by reader."""
    run = read_run(bucket, read_plan(bucket, run_id))
    return {
        "status": find_outcome(app.bucket, run_id).status,
        "recomputed": list(recomputed(run)),
        "athena": list(in_athena(app, run_id)),
        "page": on_the_page(app),
        "comparisons": list(in_comparisons(app, run)),
    }


def main(state: str, systems: str) -> None:
    """Measure the runs one after another and print their verdicts."""
    with start_cloud(machine_app({"systems": systems}), Path(state)) as cloud:
        client = cloud.endpoint.client
        app = deployed_stack(client, deploy(cloud, schedules=False), poll_seconds=0.1)
        bucket = S3Bucket(client("s3"), app.stack.bucket, lambda _: None)
        print(json.dumps({make.__name__: told(app, bucket, make(app)) for make in RUNS}))


if __name__ == "__main__":
    main(*sys.argv[1:])
