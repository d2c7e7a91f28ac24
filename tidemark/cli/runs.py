"""``tidemark runs``: the active and the ended runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from tidemark.cli.chosen_suite import known_suite
from tidemark.cli.options import NumberType
from tidemark.cli.saving import format_option, show
from tidemark.cli.target import Target, stored, target_options
from tidemark.client.deployed import Stored
from tidemark.client.tables import ask_saved
from tidemark.model.refusal import Refused
from tidemark.store.bucket import Damaged
from tidemark.store.claims import claimed_runs
from tidemark.store.columns import timestamp
from tidemark.store.run_objects import recorded_trials
from tidemark.store.stored_plan import find_plan
from tidemark.store.stored_run import planned_so_far

if TYPE_CHECKING:
    from tidemark.model.plan import Plan


Row = Mapping[str, str | None]


def active_runs(stored: Stored) -> Iterator[Row]:
    """Yield a row like those of ``run_health.sql`` for each run that holds the claim of its suite.

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


_COLUMNS = ("run_id", "suite", "status", "trials", "versions", "note", "reason")


@click.command(name="runs")
@click.argument("suite", required=False)
@click.option(
    "--limit",
    type=NumberType(1),
    default=20,
    show_default=True,
    help="Largest number of runs.",
)
@click.option("--all", "every", is_flag=True, help="List all runs.")
@format_option
@target_options
def command(suite: str | None, limit: int, every: bool, form: str, target: Target) -> None:
    """List the runs of SUITE, or of all suites, the newest first.

    Active runs come before ended ones. The table has the columns that fit a screen; csv, json and
    markdown have all columns.

    \b
    Example:
      tidemark runs rocksdb --limit 5 --format markdown
    """
    given = click.get_current_context().get_parameter_source("limit")
    if every and given is ParameterSource.COMMANDLINE:
        raise Refused(f"--limit: {limit} is not accepted with --all; leave one of both out")
    with stored(target) as store:
        equal = {"suite": known_suite(suite, store.tables)} if suite is not None else {}
        active = [row for row in active_runs(store) if suite in {None, row["suite"]}]
        # One more than is listed tells whether there are others.
        answer = ask_saved(store.tables, "run_health", equal, limit=None if every else limit + 1)
    # A resumed run still has the row of its last end.
    known = {row["run_id"] for row in active}
    rows = [*active, *(row for row in answer.records() if row["run_id"] not in known)]
    if not rows:
        click.echo(_nothing(suite, target), err=True)
    listed = rows if every else rows[:limit]
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
    return f"no run of {suite} is stored; `tidemark runs{target.flags}` lists those of all suites"


def _line(row: Row) -> Row:
    return {**row, "trials": f"{row['trials_done']}/{row['trials_planned']}"}
