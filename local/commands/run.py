"""``tidemark run``: measure versions of a system, on this machine or in an AWS account."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, NoReturn

import click
from rich.console import Console

from local.commands.account import console_link, place
from local.commands.live import follow, show_result
from local.commands.options import resume_option
from local.commands.systems import suites, systems
from local.commands.target import Target, deployed, target_options
from local.commands.this_machine import Here, check_kept
from local.commands.wording import cost, duration, plural
from local.deployed import Deployed
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
@click.option(
    "--baseline", help="The version that the others are compared with, in reports beside the run's."
)
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
@target_options
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
    target: Target,
) -> None:
    """Measure versions of SUITE (rocksdb) by the real state machine.

    Ctrl-C ends the run and keeps what it measured; again, it ends everything at once.
    It runs on this machine or, with --aws, in your account, where Ctrl-C leaves it going on.
    --resume measures the trials that a run lacks, and takes a note and a budget beside it; without
    a budget, that which the run was given last still holds, from its first trial.

    Exit code 0 if every trial gave its rates, 1 if the run failed or is incomplete, 2 if the
    input is refused, 130 if it was ended, or left, at once.

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
    given: dict[str, Any] = {key: value for key, value in asked.items() if value is not None}
    if resume is not None:
        if given:
            raise Refused(f"--resume: {listed(given)} is settled by the run that is resumed")
        sys.exit(_resume(resume, {**limit, "note": note, "trigger": "cli"}, target, console))
    given = {"suite": _DEFAULT_SUITE, **given, **limit, "note": note, "trigger": "cli"}
    known = suites()
    request = settle(given, known)
    if versions is not None and target.stack is None:
        # What is told, and prepared, is what is measured; an account has releases of its own.
        given["versions"] = list(request.versions)
    named = listed(given.get("versions", request.versions))
    console.print(_intention(named, request, known[request.suite], target), soft_wrap=True)
    _preflight(request, known[request.suite], target, console)
    sys.exit(_measure(given, target, console))


def _intention(versions: str, request: Settled, suite: Suite, target: Target) -> str:
    trials = len(request.versions) * request.repetitions
    expected = estimate(request, suite, LIST_PRICES)
    here = estimate_seconds(request, suite, target.at_once)
    return (
        f"[bold]{suite.title}[/] {versions}: "
        f"{plural(request.repetitions, 'repetition')}, {plural(trials, 'trial')} of "
        f"{' and '.join(test.name for test in suite.tests)}, "
        f"{plural(request.tasks, 'task')} of {request.records:,} records; "
        f"about {duration(expected.seconds if target.stack else here)}, on AWS {cost(expected)}."
    )


def _preflight(request: Settled, suite: Suite, target: Target, console: Console) -> None:
    """Look at what may spoil the run on this machine, and fetch what it takes."""
    if target.stack is not None:
        return
    for warning in warnings(request, suite, Machine.here(target.state)):
        click.echo(f"warning: {warning}", err=True)
    with console.status(f"Preparing {listed(request.versions)}"):
        prepare(request.versions, suite, systems() / "workloads")


def _measure(given: Mapping[str, object], target: Target, console: Console) -> int:
    with _cloud(target, console) as cloud:
        return _follow(cloud.runs(), cloud.runs().start(given), target, console)


def _resume(run_id: str, more: Mapping[str, object], target: Target, console: Console) -> int:
    if target.stack is None:
        check_kept(target.state, target.flags)
    with _cloud(target, console) as cloud:
        client = cloud.runs()
        plan, progress = client.results.plan(run_id), client.results.progress(run_id)
        if plan is None or progress is None:
            raise target.not_stored(run_id, "--resume")
        if client.find(run_id):
            raise Refused(
                f"--resume: {run_id} goes on; `tidemark stop {run_id}{target.flags}` ends it"
            )
        missing = progress.planned - progress.recorded
        if not missing:
            raise Refused(f"--resume: of {run_id} nothing is missing; every trial is recorded")
        expected = estimate(plan.request, plan.suite, LIST_PRICES)
        share = cost(expected, missing / progress.planned)
        console.print(f"Missing: {missing} of {plural(progress.planned, 'trial')}; on AWS {share}.")
        _preflight(plan.request, plan.suite, target, console)
        given = {"suite": plan.suite.name, "run": run_id, **more}
        resumed(given, {plan.suite.name: plan.suite})
        return _follow(client, client.start(given), target, console)


@contextmanager
def _cloud(target: Target, console: Console) -> Iterator[Deployed]:
    began = time.monotonic()
    with ExitStack() as opened:
        with console.status("Looking for the app" if target.stack else "Starting the cloud"):
            cloud = opened.enter_context(deployed(target, shared=True))
        console.print(_whereabouts(cloud, time.monotonic() - began))
        yield cloud


def _whereabouts(cloud: Deployed, seconds: float) -> str:
    if not isinstance(cloud, Here):
        return f"Stack {place(cloud.stack)}."
    whose = f"of process {cloud.pid}" if cloud.pid else f"ready in {duration(seconds)}"
    return f"The cloud answers at {cloud.endpoint.url}, {whose}."


def _follow(client: RunClient, run: Run, target: Target, console: Console) -> int:
    try:
        console.print(f"Run [bold]{run.run_id}[/]")
        if target.stack and (link := console_link(run.execution_arn)):
            console.print(link, soft_wrap=True, markup=False)
        follow(client, run, target.at_once, console)
    except KeyboardInterrupt:
        if target.stack:
            _leave(run, target, console)
        _stop(client, run, target, console)
        # Not a return: who ends a run by Ctrl-C does not wait for those of other terminals.
        sys.exit(show_result(client, run, target, console) or 1)
    return show_result(client, run, target, console)


def _leave(run: Run, target: Target, console: Console) -> NoReturn:
    """Leave a run to the account, which does not need this process."""
    console.print(
        f"The run goes on; `tidemark stop {run.run_id}{target.flags}` ends it, "
        f"`tidemark show {run.run_id}{target.flags}` shows what it measured.",
        soft_wrap=True,
    )
    sys.exit(_INTERRUPTED)


def _stop(client: RunClient, run: Run, target: Target, console: Console) -> None:
    said = (
        f"Run {run.run_id} was not waited for. It is ended by the next command at the latest, and "
        f"keeps what it measured; `tidemark run --resume {run.run_id}{target.flags}` goes on "
        "with it.\n"
    ).encode()

    def end_at_once(*_: object) -> NoReturn:
        # As if killed: the guard ends tasks and functions, and the next start ends the run.
        os.write(sys.stderr.fileno(), said)
        os._exit(_INTERRUPTED)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end_at_once)
    console.print("Stopping the run; Ctrl-C again ends everything at once.")
    client.stop(run, "interrupted on the command line")
