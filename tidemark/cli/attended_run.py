"""A run that a terminal attends: its intention, its cloud, its progress and its end."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from typing import NoReturn

import click
from rich.console import Console

from cwli.program import end_by
from tidemark.cli.chosen_suite import systems
from tidemark.cli.forecast import cost, time_to_end
from tidemark.cli.live import follow, show_result
from tidemark.cli.preflight import Machine, check_sizes, check_writes, prepare, turn, warnings
from tidemark.cli.target import Target, console_link, deployed, place
from tidemark.cli.this_machine import (
    Here,
    check_cloud,
    check_processes,
    check_room,
)
from tidemark.client.deployed import Deployed, Stack
from tidemark.client.runs import Run, RunClient
from tidemark.model.numerals import duration
from tidemark.model.parameters import described, varied
from tidemark.model.request import check_account, check_one_machine
from tidemark.model.run_spec import RunSpec, beside
from tidemark.model.sentences import listed, plural
from tidemark.model.suite import Suite
from tidemark.model.suite_asset import copy_digest, programs_digest
from tidemark.money.estimate import estimate, with_slices
from tidemark.money.prices import list_prices

_INTERRUPTED = 130  # 128 and the number of SIGINT, as shells have it


def terminal() -> Console:
    """Return the console of a run; output for a program or a file is not folded to a screen."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else 120)


def check_target(suite: Suite, target: Target) -> None:
    """Refuse a suite that a run cannot measure at a target."""
    if target.stack is not None:
        check_account(suite)
        return
    if find_spec("moto") is None:
        # The import itself would take seconds.
        raise ModuleNotFoundError(name="moto")
    check_one_machine(suite)
    check_cloud(target.state, suite)


def intention(versions: str, request: RunSpec, suite: Suite, target: Target) -> str:
    """Return what a run will measure, and about how long and at which cost."""
    suite = request.measured(suite)
    trials = plural(request.most_trials, "trial")
    more = f"{varied(request.axes)}{beside(request)}"
    extent = f"{plural(request.repetitions, 'repetition')}{more}, {trials}"
    if request.until:
        most = "trials" if request.within_seconds else f"at most {trials}"
        extent = f"{request.until_decided}{more}, {most}"
    if request.profile:
        extent += f" and {request.profiled_trials} profiled"
    expected = estimate(request, suite, list_prices())
    sliced = request.measured(with_slices(suite, request, one_machine=target.stack is None))
    size = described(request.parameters)
    return (
        f"[bold]{suite.title}[/] {versions}: "
        f"{extent} of "
        f"{' and '.join(test.name for test in suite.tests)}"
        f"{size and f' with {size}'}; "
        f"{time_to_end(request, sliced, target, expected)}, "
        f"on AWS {cost(expected)}."
    )


def preflight(request: RunSpec, suite: Suite, target: Target, console: Console) -> None:
    """Print the risks of a run on this machine and prepare its versions."""
    check(request, suite, target)
    if target.stack is None:
        with console.status(f"Preparing {listed(request.possible)}"):
            prepare(request, request.measured(suite), systems() / "workloads")


def check(request: RunSpec, suite: Suite, target: Target) -> None:
    """Print the risks of a run on this machine; refuse a run that it has no room for."""
    if target.stack is not None:
        return
    # Imported here because a run on AWS needs no engine.
    from tidemark.cli.query_contract import check_queries  # noqa: PLC0415

    suite = request.measured(suite)
    doubts = check_queries(suite, systems() / "suites")
    check_processes()
    check_room(target.state)
    check_writes(suite, target.state)
    check_sizes(request, suite, os.cpu_count() or 1)
    for warning in (*doubts, *warnings(request, suite, Machine.here(target.state))):
        click.echo(f"warning: {warning}", err=True)


@contextmanager
def cloud_at(target: Target, console: Console, suite: Suite | None = None) -> Iterator[Deployed]:
    """Yield the cloud of a target, and print where it is, and whether its ``suite`` is another."""
    with ExitStack() as opened:
        if target.stack is None:
            opened.enter_context(turn(console.print))
        start = time.monotonic()
        with console.status("Looking for the stack" if target.stack else "Starting the cloud"):
            cloud = opened.enter_context(deployed(target, shared=True))
        console.print(_whereabouts(cloud, time.monotonic() - start))
        if suite and target.stack and (difference := _difference(cloud.stack, suite)):
            click.echo(f"warning: {difference}", err=True)
        yield cloud


def _difference(stack: Stack, suite: Suite) -> str:
    """Return how the suite of a stack differs from the checkout's, '' if it does not."""
    copied = stack.digests(suite.name)
    own = copy_digest(suite, systems()), programs_digest(suite, systems())
    parts = ("suite or its log queries", "programs or the harness")
    edited = [part for part, *both in zip(parts, copied, own, strict=True) if len({*both}) > 1]
    if not edited:
        return ""
    return (
        f"the stack's copy of {suite.name} differs from this checkout in its "
        f"{' and its '.join(edited)}; the run measures the stack's copy, and `make deploy` deploys "
        "this checkout"
    )


def _whereabouts(cloud: Deployed, seconds: float) -> str:
    if not isinstance(cloud, Here):
        return f"Stack {place(cloud.stack)}."
    origin = f"run by process {cloud.pid}" if cloud.pid else f"ready in {duration(seconds)}"
    return f"The cloud answers at {cloud.endpoint.url}, {origin}."


def measure(
    client: RunClient,
    run: Run,
    target: Target,
    console: Console,
    *,
    exact: bool = False,
    options: str = "",
) -> int:
    """Follow a run to its end and print its result, perhaps all digits; return the exit code.

    Commands that go on from the result have its ``options``, too, such as `` --fail-on slower``.
    """
    try:
        console.print(f"Run [bold]{run.run_id}[/]")
        if target.stack and (link := console_link(run.execution_arn)):
            console.print(link, soft_wrap=True, markup=False)
        follow(client, run, target, console)
    except KeyboardInterrupt:
        if target.stack:
            _leave(run, target, console)
        _stop(client, run, target, console)
        # Exit instead of returning: Ctrl-C does not wait for the runs of other terminals.
        sys.exit(show_result(client, run, target, console, exact=exact, options=options) or 1)
    return show_result(client, run, target, console, exact=exact, options=options)


def _leave(run: Run, target: Target, console: Console) -> NoReturn:
    """Exit while the run continues in the account."""
    console.print(
        f"The run continues; `tidemark stop {run.run_id}{target.flags}` ends it, "
        f"`tidemark show {run.run_id}{target.flags}` shows its results.",
        soft_wrap=True,
    )
    sys.exit(_INTERRUPTED)


def _stop(client: RunClient, run: Run, target: Target, console: Console) -> None:
    resume = f"resume it with `tidemark run --resume {run.run_id}{target.flags}`"
    message = (
        f"Run {run.run_id} may not have ended yet; the next run, stop or up ends it. Its finished "
        f"trials are kept; {resume}.\n"
    ).encode()

    def end_at_once(*_: object) -> NoReturn:
        # This acts as a kill: the guard ends tasks and functions, and the next start ends the run.
        os.write(sys.stderr.fileno(), message)
        os._exit(_INTERRUPTED)

    end_by(end_at_once, signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    console.print("Stopping the run; Ctrl-C again ends everything at once.")
    client.stop(run, "interrupted on the command line")
