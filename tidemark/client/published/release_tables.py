"""The figures of releases in the tables of a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from typing import NamedTuple

from tidemark.client.published.amounts import Amount, Point, amount, decimal_point, is_missing
from tidemark.client.published.dates import Day, Order, day_of, order_of
from tidemark.client.published.layout import Layout, layout
from tidemark.client.published.release_figure import (
    ReleaseFigure,
    refused_at,
    release_version,
)
from tidemark.client.published.tables import PageTable, TableRow
from tidemark.client.published.version_columns import with_version_rows
from tidemark.model.publication import Publication, PublishedMetric, plain_name
from tidemark.model.refusal import Refused
from tidemark.model.sentences import listed, plural, shown


class Wishes(NamedTuple):
    """The user's facts about a file."""

    version: str | None = None
    tested_on: date | None = None
    order: Order | None = None
    """The order of day and month."""
    left_out: Sequence[str] = ()
    """The headings of columns that do not count."""
    point: Point | None = None
    """The mark before the decimals, None if the figures tell it."""
    labels: Sequence[str] = ()
    """The headings of columns that tell figures of one metric apart."""


class _Table(NamedTuple):
    table: PageTable
    columns: Layout


def release_figures(
    tables: Sequence[PageTable], publication: Publication, wishes: Wishes
) -> Iterator[ReleaseFigure]:
    """Yield the figures of all tables that have a version and a metric of the publication.

    Raises
    ------
    Refused
        If a table is ambiguous or no table has figures; the sentence names the line.

    """
    known = _known(tables, publication, wishes)
    _check_left_out([each.table for each in known], wishes)
    chosen = [each for each in known if each.columns.metrics]
    _check_needed(chosen, wishes)
    days = [day for each in chosen for row in each.table.rows if (day := _day(each, row))]
    order = order_of(days, wishes.order)
    cells = (
        row.cells[n] for each in chosen for row in each.table.rows for n in each.columns.metrics
    )
    wishes = wishes._replace(point=decimal_point(cells, wishes.point))
    for each in chosen:
        _check_complete(each, wishes)
        for row in each.table.rows:
            yield from _of_row(each, row, wishes, order)


def _known(tables: Sequence[PageTable], publication: Publication, wishes: Wishes) -> list[_Table]:
    turned = [with_version_rows(table, publication) for table in tables]
    return [_Table(table, layout(table, publication, wishes.left_out)) for table in turned]


def tables_left_out(
    tables: Sequence[PageTable], publication: Publication, wishes: Wishes
) -> Iterator[str]:
    """Yield the tables, columns and cells that give no figure."""
    known = _known(tables, publication, wishes)
    if lines := [each.table.line for each in known if not each.columns.metrics]:
        places = f"line{'s' if len(lines) > 1 else ''} {listed(lines)}"
        yield f"{plural(len(lines), 'table')} without a metric of {publication.title}, in {places}"
    chosen = [each for each in known if each.columns.metrics]
    headings = dict.fromkeys(heading for each in chosen for heading in _unread(each))
    if headings:
        yield f"{plural(len(headings), 'column')} without a metric, {listed(map(shown, headings))}"
    missing = sum(
        is_missing(row.cells[column])
        for each in chosen
        for row in each.table.rows
        for column in each.columns.metrics
    )
    if missing:
        yield plural(missing, "cell") + " without a figure"


def _unread(each: _Table) -> Iterator[str]:
    for column, heading in enumerate(each.table.headings):
        if column not in {each.columns.version, each.columns.day, *each.columns.metrics}:
            yield heading


def _check_left_out(tables: Sequence[PageTable], wishes: Wishes) -> None:
    headings = {plain_name(heading) for table in tables for heading in table.headings}
    for heading in wishes.left_out:
        if plain_name(heading) not in headings:
            raise Refused(f"--leave-out: no table of FILE has the heading {shown(heading)}")


def _check_needed(chosen: Sequence[_Table], wishes: Wishes) -> None:
    """Refuse an option that stands for a column which every table has."""
    for columns, given, option in (
        ([each.columns.version for each in chosen], wishes.version, "--version"),
        ([each.columns.day for each in chosen], wishes.tested_on, "--date"),
    ):
        if chosen and given is not None and None not in columns:
            raise Refused(
                f"{option}: {given} has no effect: every table of FILE has a column for it"
            )


def _check_complete(each: _Table, wishes: Wishes) -> None:
    for name, column, given, option in (
        ("version", each.columns.version, wishes.version, "--version"),
        ("date", each.columns.day, wishes.tested_on, "--date"),
    ):
        if column is None and given is None:
            headings = listed(map(shown, each.table.headings))
            sentence = f"the table has no column for the {name}; its headings are {headings}"
            raise refused_at(each.table.line, f"{sentence}; {option} gives one for all rows")


def _day(each: _Table, row: TableRow) -> Day | None:
    """Return the day of a row with a figure, None without a column of days or without a figure."""
    if each.columns.day is None or all(is_missing(row.cells[n]) for n in each.columns.metrics):
        return None
    return Day(row.cells[each.columns.day], row.line)


def _of_row(
    each: _Table, row: TableRow, wishes: Wishes, order: Order | None
) -> Iterator[ReleaseFigure]:
    found = list(_amounts(each, row, wishes.point))
    if not found:
        return
    version = _version(each, row, wishes)
    day = _day(each, row)
    tested_on = day_of(day, order) if day else wishes.tested_on
    assert tested_on  # a table without both is refused
    for metric, figure in found:
        yield ReleaseFigure(version, tested_on, metric, figure, row.line)


def _amounts(
    each: _Table, row: TableRow, point: Point | None
) -> Iterator[tuple[PublishedMetric, Amount]]:
    for column, metric in each.columns.metrics.items():
        if not is_missing(text := row.cells[column]):
            yield metric, _amount(metric, text, row.line, point)


def _amount(metric: PublishedMetric, text: str, line: int, point: Point | None) -> Amount:
    try:
        return amount(text, metric.unit, point)
    except ValueError as error:
        raise refused_at(line, f"{metric.metric}: {error}") from None


def _version(each: _Table, row: TableRow, wishes: Wishes) -> str:
    column = each.columns.version
    if column is None:
        return wishes.version or ""
    try:
        return release_version(row.cells[column])
    except ValueError as error:
        raise refused_at(row.line, str(error)) from None
