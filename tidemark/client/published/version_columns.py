"""Tables with a column for each version and a row for each figure, turned by a quarter."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tidemark.client.published.release_figure import release_version
from tidemark.client.published.tables import PageTable, TableRow
from tidemark.model.publication import Publication, plain_name

_VERSION = re.compile(r"v?\d+(\.\d+)+\S*")
DERIVED = {"delta", "change", "difference", "diff"}
"""The headings of what follows from the figures beside it, in plain letters."""


def with_version_rows(table: PageTable, publication: Publication) -> PageTable:
    """Return a table with a row for each version; one that has no column for each stays as it is.

    Rows that follow from the figures, such as a change, are left out. Each row has the line of the
    headings, where its version stands.
    """
    versions = version_columns(table)
    rows = [row for row in table.rows if plain_name(row.cells[0]) not in DERIVED]
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
    """Return the columns, but the first, whose heading is a version."""
    headings = enumerate(table.headings)
    return [column for column, text in headings if column and _VERSION.fullmatch(text)]


def _is_known(row: TableRow, publication: Publication) -> bool:
    return any(plain_name(row.cells[0]) in figure.names for figure in publication.figures)
