"""Printed rows, for people and programs: a table, Markdown, CSV or JSON."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Literal

import click

from tidemark.model.sentences import visible

Rows = Sequence[Mapping[str, str | None]]

# A number, perhaps with its spread or its whole: 12, 696 k ± 34 k (6 trials), 1.5e-07, +5.17%, 3/4.
_NUMBER = re.compile(r"[-+−]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?( ?[kMG%])?(/\d+| ± .*)?", re.IGNORECASE)
# Source: OWASP, "CSV Injection".
_FORMULA = {*"=+-@\t\r"}
_LONGEST_WORD = 24
_NARROWEST, _GAP = 8, 2

format_option = click.option(
    "--format",
    "form",
    type=click.Choice(["table", "markdown", "csv", "json", "ndjson"]),
    default="table",
    show_default=True,
    help="Form of the output.",
)


def show(columns: Sequence[str], rows: Rows, form: str) -> None:
    """Print rows; a missing value is empty, and null in JSON.

    Control characters and characters of direction are escaped, and so are texts in CSV that a
    spreadsheet would run as a formula.
    """
    if form == "table":
        _show_table(columns, rows)
    else:
        click.echo(_WRITERS[form](columns, rows), nl=False)


def _cells(columns: Sequence[str], rows: Rows) -> dict[str, list[str]]:
    return {column: [visible(row.get(column) or "") for row in rows] for column in columns}


def _markdown(columns: Sequence[str], rows: Rows) -> str:
    from tidemark.report.blocks import Row, Table  # noqa: PLC0415 (few outputs are Markdown)
    from tidemark.report.markdown import table_lines  # noqa: PLC0415

    cells = _cells(columns, rows)
    numbers = frozenset(column for column in columns if _are_numbers(cells[column]))
    lines = tuple(map(Row, zip(*cells.values(), strict=True)))
    return "".join(f"{line}\n" for line in table_lines(Table("", tuple(columns), lines, numbers)))


def _comma_separated(columns: Sequence[str], rows: Rows) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows({name: _no_formula(cell or "") for name, cell in row.items()} for row in rows)
    return text.getvalue()


def _no_formula(cell: str) -> str:
    text = visible(cell)
    return f"'{text}" if text[:1] in _FORMULA and not _NUMBER.fullmatch(text) else text


def _json(columns: Sequence[str], rows: Rows) -> str:
    records = [{column: row.get(column) for column in columns} for row in rows]
    return visible(json.dumps(records, indent=2, ensure_ascii=False)) + "\n"


def _lines_of_json(columns: Sequence[str], rows: Rows) -> str:
    records = ({column: row.get(column) for column in columns} for row in rows)
    return "".join(f"{visible(json.dumps(each, ensure_ascii=False))}\n" for each in records)


_WRITERS: Mapping[str, Callable[[Sequence[str], Rows], str]] = {
    "markdown": _markdown,
    "csv": _comma_separated,
    "json": _json,
    "ndjson": _lines_of_json,
}


def _show_table(columns: Sequence[str], rows: Rows) -> None:
    # The import of rich takes time, which CSV and JSON do not need.
    from rich import box  # noqa: PLC0415
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table as Printed  # noqa: PLC0415

    # A program that reads the output gets each row on one line, however long.
    width = None if sys.stdout.isatty() else 10_000
    console = Console(highlight=False, markup=False, width=width)
    cells = _cells(columns, rows)
    words = _whole_words(cells, console.width)
    table = Printed(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for column in columns:
        justify: Literal["right", "left"] = "right" if _are_numbers(cells[column]) else "left"
        table.add_column(column, justify=justify, no_wrap=column in words, overflow="fold")
    for line in zip(*cells.values(), strict=True):
        table.add_row(*line)
    console.print(table)


def _are_numbers(cells: Sequence[str]) -> bool:
    return any(cells) and all(_NUMBER.fullmatch(cell) for cell in cells if cell)


def _whole_words(cells: Mapping[str, Sequence[str]], width: int) -> Set[str]:
    """Return the columns whose cells are not folded, none if the table is too narrow for that.

    People copy the id of a run and read a number at a glance.
    """
    widest = {column: max(map(len, [column, *texts])) for column, texts in cells.items()}
    words = {
        column
        for column, texts in cells.items()
        if widest[column] <= _LONGEST_WORD and not any(" " in text for text in texts)
    }
    needed = sum(
        size if column in words else min(size, _NARROWEST) for column, size in widest.items()
    )
    return words if needed + _GAP * len(cells) <= width else set()
