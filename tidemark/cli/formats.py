"""Printed rows, in the forms of cwli or as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

import click

from cwli import formats
from cwli.formats import Rows, are_numbers, option_of, visible_cells

format_option = option_of(["table", "markdown", "csv", "json", "ndjson"])


def show(columns: Sequence[str], rows: Rows, form: str) -> None:
    """Print rows as `cwli.formats.show` does, or as Markdown."""
    if form == "markdown":
        click.echo(_markdown(columns, rows), nl=False)
    else:
        formats.show(columns, rows, form)


def _markdown(columns: Sequence[str], rows: Rows) -> str:
    from tidemark.report.blocks import Row, Table  # noqa: PLC0415 (few outputs are Markdown)
    from tidemark.report.markdown import table_lines  # noqa: PLC0415

    cells = visible_cells(columns, rows)
    numbers = frozenset(column for column in columns if are_numbers(cells[column]))
    lines = tuple(map(Row, zip(*cells.values(), strict=True)))
    return "".join(f"{line}\n" for line in table_lines(Table("", tuple(columns), lines, numbers)))
