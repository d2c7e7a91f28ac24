"""The form of a report on a terminal, with its verdicts in colour."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Literal

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from tidemark.model.sentences import visible
from tidemark.report.blocks import (
    Block,
    Bullets,
    Chart,
    Command,
    Details,
    Link,
    Report,
    Row,
    Said,
    Table,
)
from tidemark.report.marks import MARKS

STYLES = {"slower": "bold red", "faster": "bold green", "cannot tell": "yellow"}
"""The style of each verdict on a terminal that has colours."""
_GAP = 2  # characters between columns, and the indent
# A percent sign begins no line.
_BETWEEN_WORDS = re.compile(r" (?!%)")


def screen_lines(report: Report, console: Console) -> list[str]:
    """Return a report as lines of the terminal, with an empty line between its parts."""
    parts: list[RenderableType] = []
    if report.title:
        parts.append(_heading(report.title, "bold underline"))
    parts += _blocks(report.summary, console.width)
    for section in report.sections:
        parts.append(_heading(section.heading, "bold underline"))
        parts += _blocks(section.blocks, console.width)
    drawn = [line for part in parts for line in (*drawn_lines([part], console), "")]
    return drawn[:-1]


def print_blocks(blocks: Iterable[Block], console: Console) -> None:
    """Print blocks."""
    for part in _blocks(blocks, console.width):
        console.print(part)


def drawn_lines(parts: Iterable[RenderableType], console: Console) -> list[str]:
    """Return renderables as lines of the terminal, without empty lines at the end."""
    with console.capture() as drawn:
        for part in parts:
            console.print(part)
    return [line.rstrip() for line in drawn.get().rstrip().split("\n")]


def _heading(text: str, style: str) -> Text:
    return Text(_one_line(text), style)


def _blocks(blocks: Iterable[Block], width: int) -> Iterator[RenderableType]:
    for block in blocks:
        match block:
            case str():
                yield _text(block)
            case Bullets():
                yield _bullets(block)
            case Command():
                yield _text(f"{block.words}:")
                yield Padding(_text(block.text), (0, 0, 0, _GAP))
                yield from map(_text, filter(None, [block.expected]))
            case Link():
                where = "" if block.is_address else ", beside this report."
                yield _text(f"{block.words}: {block.file}{where}")
            case Table():
                yield _table(block, width)
            case Chart():
                yield _table(block.table, width)
            case Details():
                yield _heading(block.name, "bold")
                yield from _blocks(block.blocks, width)
            case Said():
                yield from _said(block)


def _said(said: Said) -> Iterator[RenderableType]:
    # Few reports have a comment, and the import takes time.
    from rich.markdown import Markdown  # noqa: PLC0415

    if said.title:
        yield _heading(said.title, "bold")
        yield _text(f"{said.author}, {said.day}")
    if said.warning:
        yield Text(said.warning, "bold red")
    yield Markdown(visible(said.text))


def _bullets(block: Bullets) -> Grid:
    grid = Grid.grid(padding=(0, 1, 0, 0))
    for item in block.items:
        grid.add_row(" •", _text(item))
    return grid


def _table(table: Table, width: int) -> Group:
    fits = _width(_widths(table)) <= width
    caption = _heading(table.caption, "bold")
    return Group(caption, _whole(table) if fits else _narrow(table, width))


def _widths(table: Table) -> list[int]:
    columns = zip(table.columns, *(row.cells for row in table.rows), strict=True)
    return [max(len(_one_line(cell)) for cell in column) for column in columns]


def breaks_words(table: Table, width: int) -> bool:
    """Tell whether a table is wider than some characters even with a line for each word."""
    return _width(_words(table)) > width


def _words(table: Table) -> list[int]:
    """Return the length of the longest word of each column."""
    columns = zip(table.columns, *(row.cells for row in table.rows), strict=True)
    return [
        max(len(word) for cell in column for word in _BETWEEN_WORDS.split(_one_line(cell)))
        for column in columns
    ]


def _width(widths: Sequence[int]) -> int:
    return sum(widths) + _GAP * (len(widths) - 1)


def _whole(table: Table) -> Grid:
    """Return a table with each row on one line, or on several if it is too wide."""
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, _GAP - 1, 0, 0))
    for column in table.columns:
        grid.add_column(_one_line(column), justify=_justify(table, column), overflow="fold")
    for row in table.rows:
        grid.add_row(*_cells(row))
    return grid


def _narrow(table: Table, width: int) -> RenderableType:
    """Return a table for a narrow screen: the first cell of a row stands on a line above it.

    Equal first cells of neighbours stand there once. The widest of the other columns break into
    lines, between words.
    """
    (_, *widths), (_, *words) = _widths(table), _words(table)
    while _width(widths) > width - _GAP:
        broken = max(range(len(widths)), key=lambda at: (widths[at] > words[at], widths[at]))
        if widths[broken] == words[broken]:
            return _whole(table)
        widths[broken] -= 1
    head, *columns = table.columns
    parts: list[RenderableType] = ["", _heading(head, "bold")]
    parts.append(_rows(table, widths, [[Text(_one_line(each), "bold") for each in columns]]))
    for first, rows in groupby(table.rows, key=lambda row: row.cells[0]):
        parts += [_text(first), _rows(table, widths, [_cells(row)[1:] for row in rows])]
    return Group(*parts)


def _rows(table: Table, widths: Sequence[int], rows: Iterable[Sequence[Text]]) -> Grid:
    """Return rows of all columns but the first one, indented."""
    grid = Grid.grid(padding=(0, _GAP, 0, 0), pad_edge=False)
    grid.add_column(width=0)  # with its padding, the indent
    for column, width in zip(table.columns[1:], widths, strict=True):
        grid.add_column(width=width, justify=_justify(table, column), overflow="fold")
    for row in rows:
        grid.add_row("", *map(_broken, row, widths))
    return grid


def _broken(text: Text, width: int) -> Text:
    """Return a text with its lines ended between words; no word is longer than a line."""
    ends, end, room = list[int](), 0, width
    for word in _BETWEEN_WORDS.split(text.plain):
        if end and len(word) > room:
            ends.append(end)
            room = width
        end, room = end + len(word) + 1, room - len(word) - 1
    lines = text.divide(ends)
    for line in lines:
        line.rstrip()
    return Text("\n").join(lines)


def _justify(table: Table, column: str) -> Literal["left", "right"]:
    return "right" if column in table.numbers else "left"


def _cells(row: Row) -> list[Text]:
    cells = [_text(cell) for cell in row.cells]
    for cell in cells if row.struck else []:
        cell.stylize("strike")
    return cells


def _text(text: str) -> Text:
    """Return a text on one line, with its verdicts in colour."""
    shown = Text(_one_line(text))
    for word, style in STYLES.items():
        shown.highlight_regex(rf"{re.escape(MARKS[word])} (?:[\d,]+ )?{word}", style)
    return shown


def _one_line(text: str) -> str:
    return visible(" ".join(text.split()))
