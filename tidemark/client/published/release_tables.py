"""The figures of releases in the tables of a page."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from tidemark.client.published.release_figure import (
    Amount,
    Day,
    Order,
    Point,
    ReleaseFigure,
    amount,
    day_of,
    decimal_point,
    in_line,
    is_amount,
    is_missing,
    order_of,
    refused_at,
    release_version,
    without_figure,
)
from tidemark.client.published.tables import PageTable, TableRow, cells
from tidemark.model.publication import Publication, PublishedMetric, plain_name
from tidemark.model.refusal import Refused
from tidemark.model.sentences import listed, plural, shown

VERSION_NAMES = {"version", "version number", "version no", "release", "release version", "tag"}
DAY_NAMES = {
    "date", "day", "test date", "date of test", "date tested", "tested", "tested on", "run date",
    "release date", "released", "released on", "published", "measured", "measured on",
}  # fmt: skip
# A heading with its unit in brackets or behind a comma: Compaction rate (records/s).
_WITH_UNIT = re.compile(r"(.+?)\s*(?:[(\[]([^()\[\]]*)[)\]]|,\s*(\S+))\s*")
_PER_SECOND = re.compile(r"\s*(?:per|/)\s*(?:seconds?|secs?|s)\b|\bps$", re.IGNORECASE)
_VERSION = re.compile(r"v?\d+(\.\d+)+\S*")
# A figure of one of several runs of a version: MySQL (run 1).
_RUN = re.compile(r"(.*?)\s*\(run (\d+)\)", re.IGNORECASE)
DERIVED = {"delta", "change", "difference", "diff"}
"""The headings of what follows from the figures beside it, in plain letters."""


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
    wishes = wishes._replace(point=decimal_point(_cells(chosen), wishes.point))
    for each in chosen:
        _check_complete(each, wishes)
        for row in each.table.rows:
            yield from _of_row(each, row, wishes, order)


def _known(tables: Sequence[PageTable], publication: Publication, wishes: Wishes) -> list[_Table]:
    turned = [_with_version_rows(table, publication) for table in tables]
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
    yield from without_figure(_cells(chosen))


def _cells(chosen: Sequence[_Table]) -> Iterator[str]:
    return cells((each.table, [*each.columns.metrics]) for each in chosen)


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
            with in_line(row.line, f"{metric.metric}: "):
                figure = amount(text, metric.unit, point)
            yield metric, figure


def _version(each: _Table, row: TableRow, wishes: Wishes) -> str:
    column = each.columns.version
    if column is None:
        return wishes.version or ""
    with in_line(row.line):
        return release_version(row.cells[column])


class Layout(NamedTuple):
    """The places of the columns of a table."""

    version: int | None
    day: int | None
    metrics: Mapping[int, PublishedMetric]


def layout(table: PageTable, publication: Publication, left_out: Collection[str]) -> Layout:
    """Return the meaning of a table's columns; ``left_out`` are headings that do not count.

    Raises
    ------
    Refused
        If a column has two meanings, two columns have one, or a column has unknown figures.

    """
    ignored = {plain_name(heading) for heading in left_out}
    names = [
        None
        if plain_name(heading) in ignored
        else plain_name(heading_parts(_named_run(heading)[0])[0])
        for heading in table.headings
    ]
    title = plain_name(publication.title)
    version = _only(table, names, {*VERSION_NAMES, f"{title} version", title})
    day = _only(table, names, DAY_NAMES)
    metrics: dict[int, PublishedMetric] = {}
    unknown = []
    for column, heading in enumerate(table.headings):
        name = names[column]
        if name is None or column in (version, day):
            continue
        known = _metric_of(heading, name, publication)
        if known is None:
            unknown.append(column)
        elif known in metrics.values():
            raise refused_at(table.line, f"{shown(heading)} is a second column of {known.metric}")
        else:
            _check_unit(table, _named_run(heading)[0], known)
            metrics[column] = known
    # A table of settings has no measured figures to lose.
    if metrics or (version is not None and day is not None):
        for column in unknown:
            _check_remarks(table, column, publication)
    return Layout(version, day, metrics)


def _metric_of(heading: str, name: str, publication: Publication) -> PublishedMetric | None:
    """Return the metric of a heading, of one run if the heading names it; None for no metric."""
    known = next((each for each in publication.figures if name in each.names), None)
    run = _named_run(heading)[1]
    return known.of_run(run) if known and run else known


def heading_parts(heading: str) -> tuple[str, str]:
    """Return the name and the unit of a heading, '' without a unit."""
    match = _WITH_UNIT.fullmatch(heading)
    return (match[1], match[2] or match[3] or "") if match else (heading, "")


def _only(table: PageTable, names: Sequence[str | None], wanted: Collection[str]) -> int | None:
    found = [column for column, name in enumerate(names) if name in wanted]
    if len(found) > 1:
        both = listed(shown(table.headings[column]) for column in found)
        raise refused_at(
            table.line, f"{both} have the same meaning; leave one out with --leave-out"
        )
    return found[0] if found else None


def _check_unit(table: PageTable, heading: str, metric: PublishedMetric) -> None:
    unit = heading_parts(heading)[1]
    if unit and _normal(unit) != _normal(metric.unit):
        sentence = f"the unit of {shown(heading)} is {shown(unit)}; expected {metric.unit}"
        raise refused_at(table.line, sentence)


def _normal(unit: str) -> str:
    """Return a unit in which rows are records, and ``per second`` is ``/s``."""
    # A heading of Sleeper 0.27 has the unit records/s/.
    text = _PER_SECOND.sub("/s", unit.strip(" /").casefold())
    return re.sub(r"^(?:rows?|recs?|records?|lines?)\b", "records", text)


def _check_remarks(table: PageTable, column: int, publication: Publication) -> None:
    """Refuse a column that has figures and no known name."""
    figures = [row for row in table.rows if is_amount(row.cells[column])]
    if figures:
        heading = shown(table.headings[column])
        known = listed(figure.columns[0] for figure in publication.figures)
        raise refused_at(
            table.line,
            f"the column {heading} has figures and is not a metric of {publication.title}; known "
            f"are {known}; --leave-out {heading} leaves it out",
        )


def _with_version_rows(table: PageTable, publication: Publication) -> PageTable:
    """Return a table with a row for each version; one that has no column for each stays as it is.

    Rows that follow from the figures, such as a change, are left out. Each row has the line of the
    headings, where its version stands. Rows without a name have the name of the figure whose
    heading stands over the table, and all rows the number of the run that stands there.
    """
    table = _with_names(table, publication)
    versions = version_columns(table)
    rows = [_of_run(row, table) for row in table.rows if plain_name(row.cells[0]) not in DERIVED]
    if not versions or not any(_is_known(row, publication) for row in rows):
        return table
    return PageTable(
        line=table.line,
        headings=("Version", *(row.cells[0] for row in rows)),
        rows=tuple(
            TableRow(
                table.line,
                (release_version(table.headings[column]), *(row.cells[column] for row in rows)),
            )
            for column in versions
        ),
    )


def version_columns(table: PageTable) -> Sequence[int]:
    """Return the columns whose heading is a version, but the first one if it has the names."""
    columns = [n for n, text in enumerate(table.headings) if _VERSION.fullmatch(text)]
    return columns if _is_nameless(table) else [column for column in columns if column]


def _named_run(name: str) -> tuple[str, str]:
    """Return a name without the number of a run behind it, and the number, '' without one."""
    match = _RUN.fullmatch(name)
    return (match[1], match[2]) if match else (name, "")


def _is_nameless(table: PageTable) -> bool:
    """Tell whether each column is one of a version, or follows from them."""
    return all(_VERSION.fullmatch(text) or plain_name(text) in DERIVED for text in table.headings)


def _with_names(table: PageTable, publication: Publication) -> PageTable:
    over = plain_name(table.over)
    names = [each.columns[0] for each in publication.figures if over in map(plain_name, each.over)]
    if not names or not _is_nameless(table):
        return table
    rows = tuple(TableRow(row.line, (names[0], *row.cells)) for row in table.rows)
    return table._replace(headings=("", *table.headings), rows=rows)


def _of_run(row: TableRow, table: PageTable) -> TableRow:
    """Return a row whose name has the number of the run that the heading over the table names."""
    number = re.fullmatch(r"run (\d+)", plain_name(table.over))
    name = f"{row.cells[0]} (run {number[1]})" if number else row.cells[0]
    return TableRow(row.line, (name, *row.cells[1:]))


def _is_known(row: TableRow, publication: Publication) -> bool:
    name = plain_name(_named_run(row.cells[0])[0])
    return any(name in figure.names for figure in publication.figures)
