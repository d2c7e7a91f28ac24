"""``tidemark runs`` and ``tidemark stop``: the active and the ended runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

import click

from tidemark.cli.chosen_suite import known_suite
from tidemark.cli.options import run_argument
from tidemark.cli.saving import format_option, show
from tidemark.cli.target import Target, deployed, stored, target_options
from tidemark.cli.this_machine import CloudLost
from tidemark.client.deployed import ClaimStatus, Stored
from tidemark.client.runs import RunClient
from tidemark.client.tables import ask_saved
from tidemark.model.outcome import Outcome
from tidemark.model.plan import Plan
from tidemark.model.refusal import Refused
from tidemark.model.sentences import plural, shown
from tidemark.store.bucket import Bucket, Damaged
from tidemark.store.claims import claimed_runs
from tidemark.store.columns import timestamp
from tidemark.store.run_ends import find_outcome
from tidemark.store.run_objects import recorded_trials
from tidemark.store.stored_plan import find_plan
from tidemark.store.stored_run import Progress, planned_so_far, read_progress

Row = Mapping[str, str | None]


def active_runs(stored: Stored) -> Iterator[Row]:
    """Yield a row as ``run_health.sql`` has them for each run that holds the claim of its suite.

    ``trials_done`` counts the recorded trials, successful or not.
    """
    for run_id, execution_arn in claimed_runs(stored.bucket).items():
        # A claim is written a moment before its plan.
        if plan := _whole_plan(stored, run_id):
            status = stored.status_of(execution_arn)
            plan = planned_so_far(stored.bucket, plan)
            yield _row(plan, status, len(recorded_trials(stored.bucket, run_id)))


def _whole_plan(stored: Stored, run_id: str) -> Plan | None:
    """Return the plan of a run, None if there is none or it is damaged: it hides no other run."""
    with suppress(Damaged):
        return find_plan(stored.bucket, run_id)
    return None


def _row(plan: Plan, status: str, recorded: int) -> Row:
    return {
        "suite": plan.suite.name,
        "run_id": plan.run_id,
        "status": status,
        "reason": "",
        "trials_planned": str(len(plan.all_trials)),
        "trials_done": str(recorded),
        "versions": ", ".join(plan.request.versions),
        "started_at": timestamp(plan.started_at),
        "ended_at": None,
        "task_seconds": None,
        "note": plan.request.note,
        "trigger": plan.request.trigger,
    }


_MOST = 20
"""The most runs that are listed without --all."""
_COLUMNS = ("run_id", "suite", "status", "trials", "versions", "note", "reason")


@click.command
@click.argument("suite", required=False)
@click.option("--all", "every", is_flag=True, help="List all runs, not only the newest 20.")
@format_option
@target_options
def runs(suite: str | None, every: bool, form: str, target: Target) -> None:
    """List the runs of SUITE, or of all suites, the newest first.

    Active runs come before ended runs. The table has the columns that fit a screen; csv, json and
    markdown have all columns.

    \b
    Example:
      tidemark runs rocksdb --format markdown
    """
    with stored(target) as store:
        equal = {"suite": known_suite(suite, store.tables)} if suite is not None else {}
        active = [row for row in active_runs(store) if suite in {None, row["suite"]}]
        # One more than is listed tells whether there are others.
        answer = ask_saved(store.tables, "run_health", equal, limit=None if every else _MOST + 1)
    # A resumed run still has the row of its last end.
    known = {row["run_id"] for row in active}
    rows = [*active, *(row for row in answer.records() if row["run_id"] not in known)]
    if not rows:
        click.echo(_nothing(suite, target), err=True)
    listed = rows if every else rows[:_MOST]
    if form != "table":
        show(answer.columns, listed, form)
    elif listed:
        show(_COLUMNS, [_line(row) for row in listed], form)
    if len(listed) < len(rows):
        # Standard output holds only the runs.
        click.echo("There are older runs; --all lists them, too.", err=True)


def _nothing(suite: str | None, target: Target) -> str:
    if suite is None:
        return target.nothing_stored
    return (
        f"no run of {suite} is stored; `tidemark runs{target.flags}` lists the runs of all suites"
    )


def _line(row: Row) -> Row:
    return {**row, "trials": f"{row['trials_done']}/{row['trials_planned']}"}


_LONGEST_REASON = 500


@click.command
@run_argument
@click.option(
    "--reason",
    default="by hand",
    show_default=True,
    help="Reason, stored with the outcome of the run.",
)
@target_options
def stop(run: str, reason: str, target: Target) -> None:
    """End RUN, which another terminal started. Its finished trials are kept and reported.

    \b
    Example:
      tidemark stop 20261120T124455Z-0a1b2c --reason "the machine is needed"
    """
    if not 0 < len(reason.strip()) <= _LONGEST_REASON or not reason.isprintable():
        expected = f"1 to {_LONGEST_REASON} characters on one line"
        raise Refused(f"--reason: {shown(reason)} is not accepted; expected {expected}")
    if target.stack is None:
        with stored(target) as store:
            # The start of a cloud takes seconds; only a run with a claim may need one.
            if run not in claimed_runs(store.bucket):
                raise _inactive(run, store.bucket, target)
    try:
        with deployed(target) as cloud:
            _stop(run, reason, cloud.runs, target)
            sentence = _told(run, cloud.bucket, target)
    except CloudLost:
        # The process of a run ends its cloud after the run, perhaps before this one has seen that.
        with stored(target) as store:
            if find_outcome(store.bucket, run) is None:
                raise
            sentence = _told(run, store.bucket, target)
    click.echo(sentence)


def _stop(run: str, reason: str, client: RunClient, target: Target) -> None:
    """Stop an active run, and wait until its outcome is stored."""
    active_run = client.find(run)
    if active_run is None:
        raise _inactive(run, client.bucket, target)
    client.stop(active_run, reason)
    client.await_end([run])


def _inactive(run: str, bucket: Bucket, target: Target) -> Refused:
    """Return the refusal of a run that is not active."""
    if find_plan(bucket, run) is None:
        return target.not_stored(run)
    return Refused(f"RUN: {run} has ended already")


def _told(run: str, bucket: Bucket, target: Target) -> str:
    how = ending(run, find_outcome(bucket, run), read_progress(bucket, run), target.flags)
    return f"Run {run} is {how}"


def ending(run_id: str, outcome: Outcome | None, progress: Progress | None, flags: str = "") -> str:
    """Return how a run ended: ``aborted, 4 of 9 trials kept; resume it with …``.

    ``flags`` are the options that give a command the place of the run.
    """
    status = outcome.status if outcome else "without an outcome"
    kept = f", {progress.recorded} of {plural(progress.planned, 'trial')} kept" if progress else ""
    return f"{status}{kept}{resume_hint(run_id, progress, flags, before='; ')}"


def active_state(run_id: str, progress: Progress, status: ClaimStatus, flags: str = "") -> str:
    """Return the state of a run that holds a claim, and the command that ends it.

    ``is active, 4 of 9 trials recorded; `tidemark stop …` ends it``
    """
    recorded = f"{progress.recorded} of {plural(progress.planned, 'trial')} recorded"
    if status == "interrupted":
        return (
            f"was interrupted, {recorded}; `tidemark run --resume {run_id}{flags}` resumes "
            f"it, `tidemark stop {run_id}{flags}` ends it"
        )
    return f"is active, {recorded}; `tidemark stop {run_id}{flags}` ends it"


def resume_hint(run_id: str, progress: Progress | None, flags: str = "", before: str = "") -> str:
    """Return how to resume a run, '' if no trial is missing."""
    if progress is None or progress.recorded == progress.planned:
        return ""
    return f"{before}resume it with `tidemark run --resume {run_id}{flags}`"
