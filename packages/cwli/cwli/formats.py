"""Rows in the forms that commands print, and names, counts and texts of users in sentences."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from datetime import datetime
from itertools import islice, pairwise
from math import isfinite
from typing import Literal, TypeVar

import click

_MOST_NAMES = 20
# Control characters can steer a terminal, and characters of direction reorder what people read.
# A lone surrogate is in no encoding. Tabs and line ends are text.
_HIDDEN = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def listed(names: Iterable[object]) -> str:
    """Return names for a sentence, ``a, b, c``; names beyond the 20th are only counted."""
    rest = iter(names)
    first = ", ".join(str(name) for name in islice(rest, _MOST_NAMES))
    more = sum(1 for _ in rest)
    return f"{first} and {more} more" if more else first


def plural(count: int, noun: str, several: str = "") -> str:
    """Return ``1 file`` or ``2 files``; ``several`` is a plural without a mere s."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {several or f'{noun}s'}"


def visible(text: str) -> str:
    r"""Return a text with control characters and characters of direction as ``\u001b``, as in JSON.

    A document in JSON keeps its meaning.
    """
    if text.isprintable():  # most texts are, and this is faster
        return text
    return _HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


Rows = Sequence[Mapping[str, str | None]]
Show = Callable[[Sequence[str], Rows, str], None]
_Command = TypeVar("_Command", bound=Callable[..., object])

# A number, perhaps with its spread or its whole: 12, 696 k ± 34 k (6 trials), 1.5e-07, +5.17%, 3/4.
_NUMBER = re.compile(r"[-+−]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?( ?[kMG%])?(/\d+| ± .*)?", re.IGNORECASE)
# Source: OWASP, "CSV Injection".
_FORMULA = {*"=+-@\t\r"}
_LONGEST_WORD = 24
_NARROWEST, _GAP = 8, 2
_BARS = "▁▂▃▄▅▆▇█"
_MOST_BINS = 100


def option_of(forms: Sequence[str]) -> Callable[[_Command], _Command]:
    """Return the option ``--format``, whose first form is the default."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(forms),
        default=forms[0],
        show_default=True,
        help="Form of the output.",
    )


format_option = option_of(["table", "csv", "json", "ndjson"])


def show(columns: Sequence[str], rows: Rows, form: str) -> None:
    """Print rows; a missing value is empty, and null in JSON.

    Control characters and characters of direction are escaped, and so are texts in CSV that a
    spreadsheet would run as a formula.
    """
    if form == "table":
        _show_table(columns, rows)
    else:
        click.echo(_WRITERS[form](columns, rows), nl=False)


def visible_cells(columns: Sequence[str], rows: Rows) -> dict[str, list[str]]:
    """Return the cells of each column without control characters; a missing value is empty."""
    return {column: [visible(row.get(column) or "") for row in rows] for column in columns}


def _comma_separated(columns: Sequence[str], rows: Rows) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows({name: _no_formula(cell or "") for name, cell in row.items()} for row in rows)
    return text.getvalue()


def _no_formula(cell: str) -> str:
    text = visible(cell)
    return (
        f"'{text}" if text != "-" and text[:1] in _FORMULA and not _NUMBER.fullmatch(text) else text
    )


def _json(columns: Sequence[str], rows: Rows) -> str:
    records = [{column: row.get(column) for column in columns} for row in rows]
    return visible(json.dumps(records, indent=2, ensure_ascii=False)) + "\n"


def _lines_of_json(columns: Sequence[str], rows: Rows) -> str:
    records = ({column: row.get(column) for column in columns} for row in rows)
    return "".join(f"{visible(json.dumps(each, ensure_ascii=False))}\n" for each in records)


_WRITERS: Mapping[str, Callable[[Sequence[str], Rows], str]] = {
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
    cells = visible_cells(columns, rows)
    words = _whole_words(cells, console.width)
    table = Printed(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for column in columns:
        justify: Literal["right", "left"] = "right" if are_numbers(cells[column]) else "left"
        table.add_column(column, justify=justify, no_wrap=column in words, overflow="fold")
    for line in zip(*cells.values(), strict=True):
        table.add_row(*line)
    console.print(table)


def are_numbers(cells: Sequence[str]) -> bool:
    """Tell whether the cells of a column are numbers, perhaps with units and spreads."""
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


def lines_of_bars(columns: Sequence[str], rows: Rows) -> list[str]:
    """Return a line for each column of numbers, if the first column has a bin of each row.

    A bin without a row is blank. The lowest bar is for 0, or for the least number below it.
    """
    bins = [column for column in columns[:1] if not column.startswith("@")]
    places = _places([_time(row.get(column) or "") for column in bins for row in rows])
    return [
        line
        for column in (columns[1:] if places else ())
        if (line := _line(column, places, [row.get(column) for row in rows]))
    ]


def _time(text: str) -> datetime | None:
    try:
        return datetime.strptime(text, "%Y-%m-%d %H:%M:%S.%f")
    except ValueError:
        return None


def _places(times: Sequence[datetime | None]) -> list[int]:
    """Return the place of each time among the bins; none unless there are 2 to 100 bins."""
    known = sorted({time for time in times if time})
    if len(known) < 2 or len(known) < len(times):
        return []
    step = min(later - earlier for earlier, later in pairwise(known))
    places = [round((time - known[0]) / step) for time in times if time]
    return places if max(places) < _MOST_BINS else []


def _line(column: str, places: Sequence[int], cells: Sequence[str | None]) -> str:
    """Return the bars of a column after its name, '' if it has other values than numbers."""
    try:
        numbers = {place: float(cell) for place, cell in zip(places, cells, strict=True) if cell}
    except ValueError:
        return ""
    least, most = min([0.0, *numbers.values()]), max([0.0, *numbers.values()])
    if not all(map(isfinite, (most - least, *numbers.values()))):
        return ""
    height = (most - least) or 1.0
    bars = (
        _bar((numbers[place] - least) / height) if place in numbers else " "
        for place in range(max(places) + 1)
    )
    return f"{visible(column)}: {''.join(bars)} from {least:g} to {most:g}"


def _bar(share: float) -> str:
    return _BARS[round(share * (len(_BARS) - 1))]
