"""``tidemark history``: the rates of every version over all runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import click

from tidemark.cli.chosen_suite import check_suite, suite_to_read
from tidemark.cli.formats import format_option, show
from tidemark.cli.options import exact_option
from tidemark.cli.target import Target, stored, target_options
from tidemark.client.history import (
    Row,
    VersionHistory,
    columns,
    heading,
    histories,
    sentence,
    untold,
)
from tidemark.client.tables import ask_saved
from tidemark.figures.history.change_points import FEWEST
from tidemark.model.context import published_suites, written_systems
from tidemark.model.refusal import Refused
from tidemark.model.sentences import shown, there_are

_SIZE = "Size"
"""The column of sizes, which only a suite with trials of several sizes needs."""


@click.command(name="history")
@click.argument("suite", required=False, callback=check_suite)
@click.option("--test", help="Only the metrics of this test.")
@click.option("--metric", help="Only this metric.")
@exact_option
@format_option
@target_options
def command(
    suite: str | None, test: str | None, metric: str | None, exact: bool, form: str, target: Target
) -> None:
    """Show the rates of each version of SUITE over all runs.

    Without SUITE, the command takes the only suite or that of the newest run. Each figure is the
    mean over the version's trials with their standard deviation; the table has the digits that this
    spread supports. Excluded trials do not count, and a version with trials of several sizes has a
    row for each. Below the table stand the changes of level over at least 16 runs. A published
    figure that was imported stands digit for digit, and is a run of its own. JSON is a list with
    one object for each version and size. CSV has a line for each version, size and figure; its
    columns have the names of the fields in JSON.

    \b
    Example:
      tidemark history rocksdb --metric ingest_rate --format markdown
    """
    with stored(target) as store:
        suite = suite_to_read(suite, store.tables)
        rows = ask_saved(store.tables, "rates_by_version", {"suite": suite}).records()
        all_changes = ask_saved(store.tables, "level_changes", {"suite": suite}).records()
    rates = _only(_only(rows, "test", test), "metric", metric)
    shown_metrics = {(row["test"], row["metric"]) for row in rates}
    changes = [row for row in all_changes if (row["test"], row["metric"]) in shown_metrics]
    versions = histories(rates, changes)
    if form == "json":
        click.echo(json.dumps([version.record() for version in versions], indent=2))
    elif not versions:
        hint = f"`tidemark run {suite}{target.flags}` measures versions"
        raise Refused(f"suite: {suite} has no rates yet; {hint}")
    elif form in ("csv", "ndjson"):
        lines = [line for version in versions for line in version.lines()]
        show(list(lines[0]), lines, form)
    else:
        exact = exact or form != "table"
        _show(versions, changes, _titles(suite), form, exact=exact)


def _titles(suite: str) -> Mapping[str, str]:
    """Return the headings of the suite's own pages by metric, in their order."""
    if suite not in published_suites(written_systems()):
        return {}
    # A suite without published figures is shown without pydantic, whose import takes time.
    from tidemark.model.publication import find_publication  # noqa: PLC0415

    published = find_publication(written_systems(), suite)
    return {each.name: each.columns[0] for each in published.figures} if published else {}


def _only(rows: Sequence[Row], column: str, wanted: str | None) -> Sequence[Row]:
    if wanted is None or not rows:
        return rows
    matches = [row for row in rows if row[column] == wanted]
    if not matches:
        known = sorted({str(row[column]) for row in rows})
        raise Refused(f"--{column}: {shown(wanted)} has no rates; {there_are(known, wanted)}")
    return matches


def _show(
    versions: Sequence[VersionHistory],
    changes: Sequence[Row],
    titles: Mapping[str, str],
    form: str,
    *,
    exact: bool,
) -> None:
    names = columns(versions, titles)
    headings = {name: heading(name, versions, titles) for name in names}
    # People keep the Markdown table in their documentation, which has this form of dates.
    day = "%d/%m/%Y" if form == "markdown" else "%Y-%m-%d"
    rows = [
        {
            "Version number": version.version,
            "Test date": version.last_at.strftime(day),
            _SIZE: version.sizes,
            **{
                headings[name]: version.figures[name].text(exact=exact)
                for name in names
                if name in version.figures
            },
        }
        for version in versions
    ]
    size = [_SIZE] if len({version.sizes for version in versions}) > 1 else []
    show(["Version number", "Test date", *size, *headings.values()], rows, form)
    for text in (*map(sentence, reversed(changes)), *untold(versions, FEWEST)):
        # Standard output holds only the table that people keep.
        click.echo(text, err=form != "table")
