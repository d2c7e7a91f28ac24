"""``tidemark show``: one run and its report."""

from __future__ import annotations

import click

from tidemark.cli.options import optional_run_argument
from tidemark.cli.printed_report import all_option, print_run
from tidemark.cli.target import Target, stored, target_options
from tidemark.cli.wording import active_state, ending
from tidemark.client.deployed import Stored
from tidemark.client.tables import ask_saved
from tidemark.model.refusal import Refused
from tidemark.store import keys
from tidemark.store.claims import claimed_runs
from tidemark.store.run_ends import find_outcome
from tidemark.store.run_objects import find_report
from tidemark.store.stored_plan import find_plan
from tidemark.store.stored_run import read_progress


@click.command(name="show")
@optional_run_argument
@all_option
@target_options
def command(run: str | None, everything: bool, target: Target) -> None:
    """Show the results of RUN, or of the newest run, and how it ended.

    For an active run the command shows the progress. On a terminal the results are cut to fit the
    screen. --all prints the whole report: every sample, the course of the tests, the trials, the
    cost, the set-up and the logs, too.

    \b
    Example:
      tidemark show 20261120T124455Z-0a1b2c
    """
    with stored(target) as store:
        bucket = store.bucket
        run = run or _newest(store, target)
        active = _active(store, run, target)
        suite, state = active or _ended(store, run, target)
        report = find_report(bucket, suite, run, f"report.{keys.BLOCKS}")
    click.echo(f"Run {run} {state}\n")
    if report is None:
        command = f"`tidemark report {run}{target.flags}`"
        click.echo("It has no report." if active else f"It has no report; {command} writes it.")
    else:
        # The import takes time, which a run without a report does not need.
        from tidemark.report.files import load  # noqa: PLC0415

        print_run(load(report), everything=everything)


def _active(store: Stored, run: str, target: Target) -> tuple[str, str] | None:
    """Return the suite and the state of a run that holds a claim, None for any other run."""
    execution = claimed_runs(store.bucket).get(run)
    if execution is None:
        return None
    plan, progress = find_plan(store.bucket, run), read_progress(store.bucket, run)
    # A claim is written a moment before its plan.
    if plan is None or progress is None:
        return None
    status = store.status_of(execution)
    return plan.suite.name, active_state(run, progress, status, target.flags)


def _ended(store: Stored, run: str, target: Target) -> tuple[str, str]:
    """Return the suite and the outcome of a run that has ended."""
    rows = ask_saved(store.tables, "run_health", {"run_id": run}, limit=1).records()
    if rows:
        suite, status, reason = (rows[0][name] or "" for name in ("suite", "status", "reason"))
        return suite, f"is {status}: {reason}" if reason else f"is {status}"
    plan = find_plan(store.bucket, run)
    if plan is None:
        raise target.not_stored(run)
    outcome, progress = find_outcome(store.bucket, run), read_progress(store.bucket, run)
    state = ending(run, outcome, progress, target.flags)
    return plan.suite.name, f"is {state}" if outcome else f"was planned and ended {state}"


def _newest(store: Stored, target: Target) -> str:
    """Return the newest active run, or else the newest ended run."""
    ended = [row["run_id"] for row in ask_saved(store.tables, "run_health", limit=1).records()]
    newest = max(claimed_runs(store.bucket), default=None) or next(iter(ended), None)
    if newest is None:
        raise Refused(f"RUN: {target.nothing_stored}")
    return newest
