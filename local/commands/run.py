"""``tidemark run``: measure versions of a system on this machine."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NoReturn

import click
from rich.console import Console

from local.commands.deployed import Deployed, deployed
from local.commands.live import follow, show_result
from local.commands.options import resume_option, state_option
from local.commands.systems import suites, systems
from local.commands.wording import cost, duration, plural
from local.following import Run, RunClient
from local.preflight import Machine, prepare, warnings
from suites.estimate import estimate, estimate_seconds
from suites.model import Suite
from suites.prices import LIST_PRICES
from suites.refusal import Refused, listed
from suites.request import Settled, resumed, settle

_DEFAULT_SUITE = "rocksdb"
_INTERRUPTED = 130  # 128 and the number of SIGINT, as shells have it


@click.command(name="run")
@click.argument("suite", required=False)
@click.option(
    "--versions",
    help="Versions to measure, separated by commas, newest and previous among them; if not given, "
    "those of the suite.",
    metavar="A,B,…",
)
@click.option("--baseline", help="The version to compare with; recorded with the run.")
@click.option(
    "--repetitions",
    type=int,
    help="Trials of each version, 1 to 100; if not given, as the suite says.",
)
@click.option("--tasks", type=int, help="ECS tasks that do each test side by side, 1 to 200.")
@click.option("--records", type=int, help="Records that each task writes and compacts.")
@click.option(
    "--budget-usd",
    type=float,
    help="What its tasks and log queries may cost at AWS's prices; the run ends before it is more.",
)
@click.option("--note", default="", help="Why this run is made; kept with its results.")
@resume_option
@state_option
def command(
    suite: str | None,
    versions: str | None,
    baseline: str | None,
    repetitions: int | None,
    tasks: int | None,
    records: int | None,
    budget_usd: float | None,
    note: str,
    resume: str | None,
    state: Path,
) -> None:
    """Measure versions of SUITE (rocksdb) through the real state machine, on this machine.

    Ctrl-C ends the run and keeps what it measured; again, it ends everything at once.
    --resume measures the trials that a run lacks, and takes a note and a budget beside it.

    Exit code 0 if every trial gave its rates, 1 if the run failed or is incomplete, 2 if the
    input is refused, 130 if it was ended at once.

    \b
    Example:
      tidemark run rocksdb --versions 9.0.0,9.8.4 --repetitions 5
    """
    # What is read by a program or kept in a file is not folded to a screen's width.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    asked = {
        "suite": suite,
        "versions": None if versions is None else [v.strip() for v in versions.split(",")],
        "baseline": baseline,
        "repetitions": repetitions,
        "tasks": tasks,
        "records": records,
    }
    limit = {} if budget_usd is None else {"budget_usd": budget_usd}
    given: dict[str, object] = {key: value for key, value in asked.items() if value is not None}
    if resume is not None:
        if given:
            raise Refused(f"--resume: {listed(given)} is settled by the run that is resumed")
        sys.exit(_resume(resume, {**limit, "note": note, "trigger": "cli"}, state, console))
    given = {"suite": _DEFAULT_SUITE, **given, **limit, "note": note, "trigger": "cli"}
    known = suites()
    request = settle(given, known)
    if versions is not None:
        # What is told, and prepared, is what is measured, whatever `newest` is a moment later.
        given["versions"] = list(request.versions)
    console.print(_intention(request, known[request.suite]), soft_wrap=True)
    _preflight(request, known[request.suite], state, console)
    sys.exit(_measure(given, state, console))


def _intention(request: Settled, suite: Suite) -> str:
    trials = len(request.versions) * request.repetitions
    return (
        f"[bold]{suite.title}[/] {listed(request.versions)}: "
        f"{plural(request.repetitions, 'repetition')}, {plural(trials, 'trial')} of "
        f"{' and '.join(test.name for test in suite.tests)}, "
        f"{plural(request.tasks, 'task')} of {request.records:,} records; "
        f"about {duration(estimate_seconds(request, suite, os.cpu_count() or 1))}, "
        f"on AWS {cost(estimate(request, suite, LIST_PRICES))}."
    )


def _preflight(request: Settled, suite: Suite, state: Path, console: Console) -> None:
    for warning in warnings(request, suite, Machine.here(state)):
        click.echo(f"warning: {warning}", err=True)
    with console.status(f"Preparing {listed(request.versions)}"):
        prepare(request.versions, suite, systems() / "workloads")


def _measure(given: Mapping[str, object], state: Path, console: Console) -> int:
    with _cloud(state, console) as cloud:
        return _follow(cloud.runs(), cloud.runs().start(given), state, console)


def _resume(run_id: str, more: Mapping[str, object], state: Path, console: Console) -> int:
    with _cloud(state, console) as cloud:
        client = cloud.runs()
        plan, progress = client.results.plan(run_id), client.results.progress(run_id)
        if plan is None or progress is None:
            raise Refused(f"--resume: {run_id} is not stored; `tidemark runs` lists those that are")
        if client.find(run_id):
            raise Refused(f"--resume: {run_id} goes on; `tidemark stop {run_id}` ends it")
        missing = progress.planned - progress.recorded
        if not missing:
            raise Refused(f"--resume: of {run_id} nothing is missing; every trial is recorded")
        console.print(f"Missing: {missing} of {plural(progress.planned, 'trial')}.")
        _preflight(plan.request, plan.suite, state, console)
        given = {"suite": plan.suite.name, "run": run_id, **more}
        resumed(given, {plan.suite.name: plan.suite})
        return _follow(client, client.start(given), state, console)


@contextmanager
def _cloud(state: Path, console: Console) -> Iterator[Deployed]:
    began = time.monotonic()
    with ExitStack() as opened:
        with console.status("Starting the cloud on this machine"):
            cloud = opened.enter_context(deployed(state, shared=True))
        ready = duration(time.monotonic() - began)
        whose = f"of process {cloud.pid}" if cloud.pid else f"ready in {ready}"
        console.print(f"The cloud answers at {cloud.endpoint.url}, {whose}.")
        yield cloud


def _follow(client: RunClient, run: Run, state: Path, console: Console) -> int:
    try:
        console.print(f"Run [bold]{run.run_id}[/]")
        follow(client, run, console)
    except KeyboardInterrupt:
        _stop(client, run, console)
        # Not a return: who ends a run by Ctrl-C does not wait for those of other terminals.
        sys.exit(show_result(client, run, state, console) or 1)
    return show_result(client, run, state, console)


def _stop(client: RunClient, run: Run, console: Console) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end_at_once)
    console.print("Stopping the run; Ctrl-C again ends everything at once.")
    client.stop(run, "interrupted on the command line")


def _end_at_once(*_: object) -> NoReturn:
    # As if killed: the guard ends tasks and functions, and the next start ends the run.
    os._exit(_INTERRUPTED)
