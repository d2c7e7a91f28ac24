"""``tidemark run``: measure versions of a system on this machine."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import click
from rich.console import Console

from local.commands.deployed import deployed
from local.commands.live import follow, show_result
from local.commands.options import state_option
from local.commands.wording import duration, plural
from local.following import RunClient
from suites.files import read_suites
from suites.model import Suite
from suites.plan import estimate_seconds
from suites.refusal import listed
from suites.request import Settled, settle


@click.command(name="run")
@click.argument("suite", default="rocksdb")
@click.option(
    "--versions",
    help="Versions to measure, separated by commas; if not given, those of the suite.",
    metavar="A,B,…",
)
@click.option("--baseline", help="The version to compare with; recorded with the run.")
@click.option(
    "--repetitions",
    type=int,
    help="Trials of each version, 1 to 100; if not given, as the suite says.",
)
@click.option("--tasks", type=int, help="ECS tasks that do each test side by side, 1 to 100.")
@click.option("--records", type=int, help="Records that each task writes and compacts.")
@click.option("--note", default="", help="Why this run is made; kept with its results.")
@state_option
def command(
    suite: str,
    versions: str | None,
    baseline: str | None,
    repetitions: int | None,
    tasks: int | None,
    records: int | None,
    note: str,
    state: Path,
) -> None:
    """Measure versions of SUITE (rocksdb) through the real state machine, on this machine.

    Exit code 0 if every trial gave its rates, 1 if the run failed or is incomplete, 2 if the
    input is refused.

    \b
    Example:
      tidemark run rocksdb --versions 9.0.0,9.8.4 --repetitions 5
    """
    asked = {
        "suite": suite,
        "versions": None if versions is None else [v.strip() for v in versions.split(",")],
        "baseline": baseline,
        "repetitions": repetitions,
        "tasks": tasks,
        "records": records,
        "note": note,
        "trigger": "cli",
    }
    given = {key: value for key, value in asked.items() if value is not None}
    suites = read_suites()
    request = settle(given, suites)
    # What is read by a program or kept in a file is not folded to a screen's width.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    console.print(_intention(request, suites[request.suite]), soft_wrap=True)
    sys.exit(_measure(given, state, console))


def _intention(request: Settled, suite: Suite) -> str:
    trials = len(request.versions) * request.repetitions
    return (
        f"[bold]{suite.title}[/] {listed(request.versions)}: "
        f"{plural(request.repetitions, 'repetition')}, {plural(trials, 'trial')} of "
        f"{' and '.join(test.name for test in suite.tests)}, "
        f"{plural(request.tasks, 'task')} of {request.records:,} records; "
        f"about {duration(estimate_seconds(request, suite, os.cpu_count() or 1))}."
    )


def _measure(given: Mapping[str, object], state: Path, console: Console) -> int:
    began = time.monotonic()
    with ExitStack() as open_cloud:
        with console.status("Starting the cloud on this machine"):
            cloud, stack = open_cloud.enter_context(deployed(state))
        client = RunClient(cloud.endpoint.client, stack)
        ready = duration(time.monotonic() - began)
        console.print(f"The cloud answers at {cloud.endpoint.url}, ready in {ready}.")
        run = client.start(given)
        try:
            console.print(f"Run [bold]{run.run_id}[/]")
            follow(client, run, console)
        except KeyboardInterrupt:
            client.stop(run, "interrupted on the command line")
            console.print("Stopped. The trials that were finished are kept.")
            return 1
        return show_result(client, run, state, console)
