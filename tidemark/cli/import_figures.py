"""``tidemark import``: published figures as stored results."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path

import click

from tidemark.cli.formats import show
from tidemark.cli.option_types import DayType
from tidemark.cli.release_options import check_version, day_refusal, source_option
from tidemark.cli.target import Target, stored, target_options
from tidemark.cli.written_suites import suites, systems
from tidemark.client.imports import Differences, differences, finish, releases, store
from tidemark.client.published.dates import Order
from tidemark.client.published.file_figures import contradictions, file_figures, left_out
from tidemark.client.published.release_figure import ReleaseFigure, refused_at
from tidemark.client.published.release_tables import Wishes
from tidemark.model.context import check_written_suite, stored_suites
from tidemark.model.plan import Import
from tidemark.model.publication import Publication, find_publication, measured_publication
from tidemark.model.refusal import Refused
from tidemark.model.sentences import plural, shown

_CONFLICTS = 1
_LARGEST = 8 << 20  # [B]


@click.command(name="import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--suite", required=True, help="Suite that the figures belong to.")
@click.option("--dry-run", is_flag=True, help="Show what would be added, and store nothing.")
@click.option(
    "--dates",
    "order",
    type=click.Choice(["day-first", "month-first"]),
    help="Order of day and month in dates such as 06/01/2023, if no other date of FILE shows it.",
)
@click.option("--version", callback=check_version, help="Version of the figures, if FILE has none.")
@click.option(
    "--date",
    "tested_on",
    type=DayType(),
    metavar="YYYY-MM-DD",
    help="Day of the figures, if a table of FILE has none.",
)
@source_option
@click.option(
    "--leave-out", multiple=True, metavar="HEADING", help="Column to leave out; may be repeated."
)
@target_options
def command(
    file: Path,
    suite: str,
    dry_run: bool,
    order: Order | None,
    version: str | None,
    tested_on: datetime | None,
    source: str,
    leave_out: Sequence[str],
    target: Target,
) -> None:
    """Add the published figures of FILE to the stored results.

    FILE is a Markdown page with tables, a table as CSV, or one of Sleeper's reports of jobs as text
    or JSON. Each release becomes a run whose figures are marked as imported. Figures that are
    stored already are not added again. A figure that differs from the stored one is listed, the
    stored one stays, and the exit code is 1. Parts of FILE that give no figure are listed.

    \b
    Example:
      tidemark import docs/import.md --suite sleeper --dry-run
    """
    publication = _publication(suite)
    wishes = Wishes(version, tested_on.date() if tested_on else None, order, leave_out)
    today = datetime.now(UTC).date()
    text = _text(file)
    figures = file_figures(text, publication, wishes)
    _check_days(figures, today)
    origin = Import(file=file.name, line=1, source=source, imported_on=today)
    if dry_run and target.is_empty:
        found = Differences(figures, 0, 0, ())
    else:
        with stored(target, new=True) as results:
            if not dry_run:
                finish(results, suite)
            found = differences(results.tables, suite, figures)
            if found.new and not dry_run:
                added = list(releases(figures, found.new, origin))
                store(results, suite, publication.title, added)
    for sentence in contradictions(text, figures):
        click.echo(f"contradiction: {sentence}", err=True)
    _show(found, dry_run=dry_run)
    for part in left_out(text, publication, wishes):
        click.echo(f"left out: {part}", err=True)
    if found.conflicts:
        sys.exit(_CONFLICTS)


def _publication(suite: str) -> Publication:
    """Return the metrics that pages publish of a suite: its own list, or what its runs measure."""
    check_written_suite(suite, stored_suites())
    published = find_publication(systems(), suite)
    if published:
        return published
    known = suites()
    if suite not in known:
        raise Refused(f"--suite: {suite} is retired; expected a suite with a published.yaml")
    return measured_publication(known[suite])


def _text(file: Path) -> str:
    if not file.name.isprintable():
        raise Refused(f"FILE: {shown(file.name)} is not accepted; expected printable characters")
    try:
        with file.open("rb") as opened:
            content = opened.read(_LARGEST + 1)
    except OSError as error:
        raise Refused(f"FILE: {str(file)!r} cannot be read: {error.strerror}") from None
    if len(content) > _LARGEST:
        raise Refused(f"FILE: {file.name} has too many bytes; expected {_LARGEST:,} or fewer")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Refused(f"FILE: {file.name} is no text in UTF-8") from None


def _check_days(figures: Sequence[ReleaseFigure], today: date) -> None:
    for each in figures:
        if refusal := day_refusal(each.tested_on, today):
            raise refused_at(each.line, refusal)


def _show(found: Differences, *, dry_run: bool) -> None:
    rows = [
        {
            "Version": each.version,
            "Date": each.tested_on.isoformat(),
            "Metric": each.metric.name,
            "Figure": each.amount.text,
            "Unit": each.metric.unit,
            "Line": str(each.line),
        }
        for each in found.new
    ]
    if rows:
        show(list(rows[0]), rows, "table")
    for conflict in found.conflicts:
        click.echo(f"conflict: {conflict.sentence}", err=True)
    added = "would be added" if dry_run else "added"
    conflicts = f", {plural(len(found.conflicts), 'conflict')}" if found.conflicts else ""
    count = plural(len(found.new), "figure")
    excluded = f", {found.excluded:,} stored but excluded" if found.excluded else ""
    click.echo(f"{count} {added}, {found.known:,} stored already{excluded}{conflicts}.")
