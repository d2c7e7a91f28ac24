"""The form of a report as one HTML page that needs no network."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from itertools import groupby
from pathlib import Path
from string import Template
from urllib.parse import quote

from tidemark.model.sentences import visible
from tidemark.pages import shell
from tidemark.report.blocks import Block, Bullets, Chart, Details, Link, Report, Row, Section, Table
from tidemark.report.marks import DECIDED, FAILURES, MARKS, marked

FOLDER = Path(__file__).parent
# Cells with more characters may break into lines.
_LINE = 32
# The class of each verdict and of failures; all but the same and the missing have a colour.
_CLASSES = {
    marked(word): word if word in DECIDED else {"not comparable": "missing"}.get(word, "untold")
    for word in MARKS
} | dict.fromkeys(FAILURES.values(), "failed")
_VERDICT = re.compile("|".join(map(re.escape, _CLASSES)))


def page(report: Report) -> str:
    """Return a report as a page."""
    body = Template(_file("page.html")).substitute(
        title=escape(report.title),
        summary=_blocks(report.summary),
        sections="\n".join(map(_section, report.sections)),
    )
    # The charts' JSON in the body means the same with these escapes.
    return shell.page(
        report.title, _file("page.css"), visible(body), shell.drawing(_file("page.js"))
    )


def _file(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _section(section: Section) -> str:
    return f"<section>\n<h2>{escape(section.heading)}</h2>\n{_blocks(section.blocks)}\n</section>"


def _blocks(blocks: Iterable[Block]) -> str:
    """Return blocks below each other, and charts in a row beside each other where they fit."""
    return "\n".join(
        _grid(map(_block, row)) if is_chart else "\n".join(map(_block, row))
        for is_chart, row in groupby(blocks, lambda block: isinstance(block, Chart))
    )


def _grid(charts: Iterable[str]) -> str:
    return f'<div class="charts">\n{"".join(charts)}</div>'


def _block(block: Block) -> str:
    match block:
        case str():
            return f"<p>{_colored(shell.words(block))}</p>"
        case Bullets():
            items = "".join(f"<li>{_colored(shell.words(item))}</li>" for item in block.items)
            return f"<ul>{items}</ul>"
        case Link():
            return f'<p><a href="{quote(block.file)}">{escape(block.words)}</a></p>'
        case Table():
            return _table(block)
        case Chart():
            return _chart(block)
        case Details():
            return _details(block.name, _blocks(block.blocks))


def _details(name: str, contents: str) -> str:
    return f"<details>\n<summary>{escape(name)}</summary>\n{contents}\n</details>"


def _colored(html: str) -> str:
    """Return HTML with its verdicts in their colours."""
    return _VERDICT.sub(lambda found: f'<b class="{_CLASSES[found[0]]}">{found[0]}</b>', html)


def _table(table: Table) -> str:
    caption = escape(table.caption)
    head = "".join(
        f'<th scope="col"{_number(table, column)}>{escape(column)}</th>' for column in table.columns
    )
    body = "\n".join(_row(table, row) for row in table.rows)
    # A scrolling region has to be reachable by keyboard, and so needs a name.
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{caption}"><table>\n'
        f"<caption>{caption}</caption>\n<thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def _row(table: Table, row: Row) -> str:
    first, *rest = (_cell(cell, struck=row.struck) for cell in row.cells)
    cells = "".join(
        f"<td{_number(table, column) or _long(plain)}>{cell}</td>"
        for column, plain, cell in zip(table.columns[1:], row.cells[1:], rest, strict=True)
    )
    return f'<tr><th scope="row">{first}</th>{cells}</tr>'


def _cell(text: str, *, struck: bool) -> str:
    html = _colored(escape(text))
    return f"<s>{html}</s>" if struck else html


def _number(table: Table, column: str) -> str:
    return ' class="number"' if column in table.numbers else ""


def _long(cell: str) -> str:
    """Return the class of a cell whose text may break into lines, '' for other cells."""
    return ' class="long"' if len(cell) > _LINE else ""


def _chart(chart: Chart) -> str:
    caption = escape(chart.caption)
    return Template(_file("chart.html")).substitute(
        caption=caption,
        legend="\n".join(
            f'<li><span style="color: {mark.color}">{mark.symbol}</span> {escape(mark.words)}</li>'
            for mark in chart.legend
        ),
        width=f"{chart.width:g}",
        spec=shell.json_for_script(chart.spec),
        table=(
            _table(chart.table)
            if chart.with_table
            else _details(chart.table.caption, _table(chart.table))
        ),
    )
