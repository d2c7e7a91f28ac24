"""Tables with a column for each version and a row for each figure, turned by a quarter."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tidemark.client.published.release_figure import release_version
from tidemark.client.published.tables import PageTable, TableRow
from tidemark.model.publication import Publication, plain_name

_VERSION = re.compile(r"v?\d+(\.\d+)+\S*")
# A figure of one of several runs of a version: MySQL (run 1).
_RUN = re.compile(r"(.*?)\s*\(run (\d+)\)", re.IGNORECASE)
DERIVED = {"delta", "change", "difference", "diff"}
"""The headings of what follows from the figures beside it, in plain letters."""


def with_version_rows(table: PageTable, publication: Publication) -> PageTable:
    """Return a table with a row for each version; one that has no column for each stays as it is.

    Rows that follow from the figures, such as a change, are left out. Each row has the line of the
    headings, where its version stands. Rows without a name have that of the figure whose heading
    stands over the table, and all rows the number of the run that stands there.
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


def named_run(name: str) -> tuple[str, str]:
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
    name = plain_name(named_run(row.cells[0])[0])
    return any(name in figure.names for figure in publication.figures)
