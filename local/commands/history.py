"""``tidemark history``: the rates of every version over all runs."""

from __future__ import annotations

import json
from collections.abc import Sequence

import click

from local.commands.formats import format_option, show
from local.commands.systems import suites
from local.commands.tables import deployed_tables
from local.commands.target import Target, target_options
from local.history import Row, VersionHistory, columns, heading, histories
from suites.refusal import Refused, listed, shown
from suites.request import known_suite


@click.command(name="history")
@click.argument("suite", default="rocksdb")
@click.option("--test", help="Only the metrics of this test.")
@click.option("--metric", help="Only this metric.")
@format_option
@target_options
def command(suite: str, test: str | None, metric: str | None, form: str, target: Target) -> None:
    """Show the rates of each version of SUITE over all runs.

    SUITE is rocksdb if none is named. Versions are in order. Each figure is the mean over the
    version's trials, with their standard deviation; trials of several sizes are said to be mixed.
    Trials that were excluded do not count. JSON is a list with one object for each version. CSV has
    a line for each version and figure, with value, spread, trials and what else JSON has in columns
    of the same names.

    \b
    Example:
      tidemark history rocksdb --metric ingest_rate --format markdown
    """
    known_suite(suite, suites())
    with deployed_tables(target) as tables:
        rows = tables.saved("rates_by_version", {"suite": suite}).records()
    found = histories(_only(_only(rows, "test", test), "metric", metric))
    if form == "json":
        click.echo(json.dumps([version.record() for version in found], indent=2))
    elif not found:
        hint = f"`tidemark run {suite}{target.flags}` measures some"
        raise Refused(f"suite: {suite} has no rates yet; {hint}")
    elif form == "csv":
        lines = [line for version in found for line in version.lines()]
        show(list(lines[0]), lines, form)
    else:
        _show(found, form)


def _only(rows: Sequence[Row], column: str, wanted: str | None) -> Sequence[Row]:
    if wanted is None or not rows:
        return rows
    found = [row for row in rows if row[column] == wanted]
    if not found:
        known = sorted({str(row[column]) for row in rows})
        raise Refused(f"--{column}: {shown(wanted)} has no rates; there are {listed(known)}")
    return found


def _show(found: Sequence[VersionHistory], form: str) -> None:
    names = columns(found)
    headings = {name: heading(name, found) for name in names}
    # Markdown is the table that people keep in their documentation, with the dates of its kind.
    day = "%d/%m/%Y" if form == "markdown" else "%Y-%m-%d"
    rows = [
        {
            "Version number": version.version,
            "Test date": version.last_at.strftime(day),
            **{
                headings[name]: version.figures[name].text()
                for name in names
                if name in version.figures
            },
        }
        for version in found
    ]
    show(["Version number", "Test date", *headings.values()], rows, form)
    for mixed in filter(None, (version.mixed() for version in found)):
        # Markdown is kept as it is, in people's documentation.
        click.echo(mixed, err=form != "table")
