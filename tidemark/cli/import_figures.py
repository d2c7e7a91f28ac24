"""``tidemark import``: published figures as stored results."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path

import click

from tidemark.cli.chosen_suite import suites, systems
from tidemark.cli.options import DayType, check_version, day_refusal, source_option
from tidemark.cli.saving import show
from tidemark.cli.target import Target, stored, target_options
from tidemark.client.events import answer
from tidemark.client.imports import (
    Differences,
    differences,
    finish,
    in_git_order,
    releases,
    store,
    stored_metrics,
)
from tidemark.client.published.file_figures import figures_without_suite, published_figures
from tidemark.client.published.own_figures import Direction, Found, Known
from tidemark.client.published.release_figure import Order, Point, ReleaseFigure, refused_at
from tidemark.client.published.release_tables import Wishes
from tidemark.client.published.tables import page_context
from tidemark.model.base import NAME
from tidemark.model.checkout import check_written_suite, stored_suites
from tidemark.model.plan import Import
from tidemark.model.publication import Publication, find_publication, measured_publication
from tidemark.model.refusal import Refused
from tidemark.model.sentences import plural, shown

_CONFLICTS = 1
_LARGEST = 64 << 20  # [B]
_MOST_SHOWN = 60  # figures
_LONGEST = 32  # characters of a suite's name


@click.command(name="import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--suite",
    help="Suite that the figures belong to; if not given, one of the name of FILE. A name that no "
    "folder of suites has is a suite of imports alone.",
)
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
@click.option(
    "--label",
    "labels",
    multiple=True,
    metavar="HEADING",
    help="Column whose texts tell figures of one metric apart, such as Database; may be repeated. "
    "Columns of a few texts that do so are found without it.",
)
@click.option(
    "--better",
    type=click.Choice(["higher", "lower"]),
    help="Better direction of all figures of a suite of imports; if not given, it is guessed from "
    "their names and units.",
)
@click.option(
    "--decimal",
    "point",
    type=click.Choice([".", ","]),
    help="Mark before the decimals, if no figure of FILE tells it.",
)
@click.option(
    "--thousands",
    type=click.Choice([".", ","]),
    help="Mark between thousands, if no figure of FILE tells it.",
)
@click.option(
    "--order",
    "arrangement",
    type=click.Choice(["version", "typed"]),
    default="version",
    help="Order of the versions of a day: by their names, which is the default, or as FILE has "
    "them.",
)
@click.option(
    "--repo",
    "repository",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Git repository whose commits give the days and the order of the versions.",
)
@target_options
def command(
    file: Path,
    suite: str | None,
    dry_run: bool,
    order: Order | None,
    version: str | None,
    tested_on: datetime | None,
    source: str,
    leave_out: Sequence[str],
    labels: Sequence[str],
    better: Direction | None,
    point: Point | None,
    thousands: Point | None,
    arrangement: str,
    repository: Path | None,
    target: Target,
) -> None:
    """Add the published figures of FILE to the stored results.

    FILE is a Markdown page with tables, a page with a list of rates, a table as CSV, one of
    Sleeper's reports of jobs, or what hyperfine, google-benchmark, pytest-benchmark, asv,
    github-action-benchmark, k6, Locust, JMH or Criterion write; its content tells. Each release
    becomes a run whose figures are marked as imported; several figures of a version and a day are
    its trials. Figures that are stored already are not added again. A figure that differs from the
    stored one is listed, the stored one stays, and the exit code is 1. Parts of FILE that give no
    figure are listed.

    \b
    Example:
      tidemark import nightly.csv
      tidemark import docs/import.md --suite sleeper --dry-run
    """
    day = tested_on.date() if tested_on else None
    wishes = Wishes(version, day, order, leave_out, _point(point, thousands), labels)
    today, text = datetime.now(UTC).date(), _text(file)
    name = suite or _suite_of(file)
    publication = _publication(name, target)
    context = page_context(text)
    origin = Import(
        setup=context.setup,
        links=context.links,
        settings=context.settings,
        file=file.name,
        line=1,
        source=source,
        imported_on=today,
        as_typed=arrangement == "typed" or repository is not None,
    )

    # A mistake in FILE is told before anything is stored.
    named = _reader(text, publication, wishes, file.stem[:200], better, today)
    read = named({}) if target.is_empty else None
    figures = _arranged(read.figures, repository, today) if read else []
    if read and dry_run:
        found = Differences(figures, 0, 0, ())
    else:
        with stored(target, new=True) as results:
            if not dry_run:
                finish(results, name)
            read = read or named(stored_metrics(results.tables, name))
            figures = _arranged(read.figures, repository, today)
            found = differences(results.tables, name, figures)
            if found.new and not dry_run:
                added = list(releases(figures, found.new, origin))
                store(results, name, read.publication.title, added)
    _show(found, dry_run=dry_run)
    if found.new and not dry_run:
        # The tables of a suite are known once it has results.
        with stored(target) as results:
            click.echo("\n".join(answer(results.tables, name)))
    for note in read.notes:
        click.echo(note, err=True)
    if not suite:
        click.echo(f"suite: {name}; `tidemark history {name}{target.flags}` shows it", err=True)
    if found.conflicts:
        sys.exit(_CONFLICTS)


def _point(point: Point | None, thousands: Point | None) -> Point | None:
    """Return the mark before the decimals: the other one stands between thousands."""
    if thousands is None:
        return point
    if thousands == point:
        raise Refused(f"--thousands: {thousands} is the mark before the decimals by --decimal")
    return "." if thousands == "," else ","


def _reader(
    text: str,
    publication: Publication | None,
    wishes: Wishes,
    title: str,
    better: Direction | None,
    today: date,
) -> Callable[[Mapping[str, Known]], Found]:
    """Return a function that gives the figures of a file, from the metrics that are stored."""
    if publication and wishes.labels:
        raise Refused(
            f"--label: {wishes.labels[0]} has no effect: {publication.title} has metrics of its own"
        )
    if publication:
        found = published_figures(text, publication, wishes)
        return lambda _: found
    unnamed = figures_without_suite(text, wishes, today)
    return lambda known: unnamed.named(title, better, known)


def _arranged(
    figures: Sequence[ReleaseFigure], repository: Path | None, today: date
) -> Sequence[ReleaseFigure]:
    found = in_git_order(repository, figures) if repository else figures
    _check_days(found, today)
    return found


def _suite_of(file: Path) -> str:
    """Return the name of the suite of a file without ``--suite``."""
    words = re.sub("[^a-z0-9]+", "_", file.stem.casefold()).strip("_")
    name = (words if words[:1].isalpha() else f"f_{words}")[:_LONGEST]
    if not re.fullmatch(NAME, name):
        raise Refused(f"--suite: {shown(file.name)} gives no name of a suite; name one")
    return name


def _publication(suite: str, target: Target) -> Publication | None:
    """Return the metrics that pages publish of a suite: its own list, or what its runs measure.

    A suite that no folder of suites has is one of imports alone, on this machine.
    """
    if published := find_publication(systems(), suite):
        return published
    known = suites()
    if suite in known:
        return measured_publication(known[suite])
    if suite in stored_suites():
        raise Refused(f"--suite: {suite} is retired; expected a suite with a published.yaml")
    if target.stack is not None:
        check_written_suite(suite, stored_suites())
    if not re.fullmatch(NAME, suite):
        raise Refused(
            f"--suite: {shown(suite)} is not accepted; expected a small letter, and up to "
            f"{_LONGEST - 1} small letters, digits and _ after it"
        )
    return None


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
        raise Refused(f"FILE: {file.name} is not text in UTF-8; save it as UTF-8") from None


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
        for each in found.new[:_MOST_SHOWN]
    ]
    if rows:
        show(list(rows[0]), rows, "table")
    if (more := len(found.new) - len(rows)) > 0:
        click.echo(f"and {more:,} more")
    for conflict in found.conflicts:
        click.echo(f"conflict: {conflict.sentence}", err=True)
    added = "would be added" if dry_run else "added"
    conflicts = f", {plural(len(found.conflicts), 'conflict')}" if found.conflicts else ""
    count = plural(len(found.new), "figure")
    excluded = f", {found.excluded:,} stored but excluded" if found.excluded else ""
    click.echo(f"{count} {added}, {found.known:,} stored already{excluded}{conflicts}.")
