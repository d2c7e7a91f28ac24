"""Rows as people and programs read them: a table, Markdown, CSV or JSON."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Mapping, Sequence

import click

Rows = Sequence[Mapping[str, str | None]]

format_option = click.option(
    "--format",
    "form",
    type=click.Choice(["table", "markdown", "csv", "json"]),
    default="table",
    show_default=True,
    help="How to print it.",
)


def show(columns: Sequence[str], rows: Rows, form: str) -> None:
    """Print rows; what is missing is empty, in JSON null."""
    if form == "table":
        _show_table(columns, rows)
    else:
        written = {"markdown": markdown, "csv": comma_separated, "json": _json}[form]
        click.echo(written(columns, rows), nl=False)


def markdown(columns: Sequence[str], rows: Rows) -> str:
    """Return a Markdown table whose columns are as wide as their widest cell."""
    cells = [[_escaped(row.get(column)) for column in columns] for row in rows]
    widths = [
        max(len(column), *(len(line[place]) for line in cells), 3)
        for place, column in enumerate(columns)
    ]
    lines = [list(columns), ["-" * width for width in widths], *cells]
    return "".join(
        "| "
        + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        + " |\n"
        for line in lines
    )


def comma_separated(columns: Sequence[str], rows: Rows) -> str:
    """Return CSV with a line of names."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _json(columns: Sequence[str], rows: Rows) -> str:
    listed = [{column: row.get(column) for column in columns} for row in rows]
    return json.dumps(listed, indent=2, ensure_ascii=False) + "\n"


def _escaped(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|")


def _show_table(columns: Sequence[str], rows: Rows) -> None:
    # A program that asks for CSV or JSON does not wait for what only a table needs.
    from rich import box  # noqa: PLC0415
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(row.get(column) or "" for column in columns))
    # A program that reads the output gets each row on one line, however long.
    width = None if sys.stdout.isatty() else 10_000
    Console(highlight=False, markup=False, width=width).print(table)
