"""``tidemark runs``: what goes on, what was run, and how it ended."""

from __future__ import annotations

import click

from local.commands.formats import format_option, show
from local.commands.systems import suites
from local.commands.tables import tables_of
from local.commands.target import Target, deployed, target_options
from local.running import Row, running
from suites.request import known_suite

_COLUMNS = ("run_id", "suite", "status", "trials", "versions", "note", "reason")


@click.command(name="runs")
@click.argument("suite", required=False)
@click.option(
    "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many at most."
)
@click.option("--all", "every", is_flag=True, help="All of them.")
@format_option
@target_options
def command(suite: str | None, limit: int, every: bool, form: str, target: Target) -> None:
    """List the runs of SUITE, or of all suites, the newest first.

    Those that go on come before those that have ended. The table has the columns that fit a screen,
    csv, json and markdown have all.

    \b
    Example:
      tidemark runs rocksdb --limit 5 --format markdown
    """
    asked = {"suite": known_suite(suite, suites()).name} if suite else {}
    with deployed(target) as cloud, tables_of(cloud) as tables:
        going_on = [row for row in running(cloud.runs()) if suite in {None, row["suite"]}]
        answer = tables.saved("run_health", asked, limit=None if every else limit)
    # A run that was resumed has a row of its last end.
    known = {row["run_id"] for row in going_on}
    rows = [*going_on, *(row for row in answer.records() if row["run_id"] not in known)]
    if not rows:
        click.echo(target.nothing_stored, err=True)
    listed = rows if every else rows[:limit]
    if form != "table":
        show(answer.columns, listed, form)
    elif listed:
        show(_COLUMNS, [_line(row) for row in listed], form)


def _line(row: Row) -> Row:
    return {**row, "trials": f"{row['trials_done']}/{row['trials_planned']}"}
