"""The form of a report as one HTML page that needs no network."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import chain, groupby
from pathlib import Path
from string import Template
from urllib.parse import quote

from tidemark.model.comment import media_type
from tidemark.model.run_id import RUN_ID
from tidemark.model.sentences import visible
from tidemark.pages import shell
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
    Section,
    Table,
)
from tidemark.report.marks import DECIDED, FAILURES, MARKED, MARKS

FOLDER = Path(__file__).parent
_RUN = re.compile(RUN_ID)
# An address in a cell, which is HTML by then.
_ADDRESS = re.compile(r"\bhttps?://[^\s<>\"']+")
# Cells with more characters may break into lines.
_LINE = 32
# A phone shows some 800 letters at once.
_MOST_LETTERS, _MOST_ITEMS = 1_500, 4
# A page with fewer sections needs no list of them.
_FEWEST_LISTED = 4
# The class of each verdict's mark and of the mark of failures. All have a colour, except the marks
# of what is the same or missing.
_CLASSES = {
    mark: word if word in DECIDED else {"not comparable": "missing"}.get(word, "untold")
    for word, mark in MARKS.items()
} | {each[0]: "failed" for each in FAILURES.values()}


def page(report: Report) -> str:
    """Return a report as a page."""
    body = Template(_file("page.html")).substitute(
        title=_unbroken(shell.words(report.title)),
        summary=_blocks(report.summary),
        contents=_contents(report.sections),
        sections="\n".join(_section(each, _id(n)) for n, each in enumerate(report.sections, 1)),
    )
    # The charts' JSON in the body means the same with these escapes.
    return shell.page(
        report.title, _file("page.css"), visible(body), shell.drawing(_file("page.js"))
    )


def _file(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _contents(sections: Sequence[Section]) -> str:
    """Return the list of a page's sections, '' for a page that needs none."""
    if len(sections) < _FEWEST_LISTED:
        return ""
    entries = (
        f'<li><a href="#{_id(number)}">{escape(section.heading)}</a></li>'
        for number, section in enumerate(sections, start=1)
    )
    return f'<nav aria-label="Contents"><ul>{"".join(entries)}</ul></nav>'


def _id(number: int) -> str:
    return f"section-{number}"


def _section(section: Section, name: str) -> str:
    """Return a section; one that a reader of the results can do without is folded.

    So is evidence that is longer than a screen of a phone.
    """
    heading = f"<h2>{escape(section.heading)}</h2>"
    blocks = _blocks(each for block in section.blocks for each in _first_items(block))
    if not section.details and not (section.evidence and _letters(section) > _MOST_LETTERS):
        return f'<section id="{name}">\n{heading}\n{blocks}\n</section>'
    folded = f"<details>\n<summary>{heading}</summary>\n{blocks}\n</details>"
    return f'<section id="{name}" class="folded">\n{folded}\n</section>'


def _letters(section: Section) -> int:
    """Return the length of the sentences of a section."""
    items = (block.items for block in section.blocks if isinstance(block, Bullets))
    return sum(map(len, chain.from_iterable(items)))


def _first_items(block: Block) -> Iterator[Block]:
    """Yield a block; of a long list the first items, and the others folded."""
    if not isinstance(block, Bullets) or len(block.items) <= _MOST_ITEMS + 1:
        yield block
        return
    yield Bullets(block.items[:_MOST_ITEMS])
    rest = block.items[_MOST_ITEMS:]
    yield Details(f"{len(rest)} more", (Bullets(rest),))


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
        case str() | Link() | Said():
            return _paragraph(block)
        case Bullets():
            items = "".join(f"<li>{_colored(shell.words(item))}</li>" for item in block.items)
            return f"<ul>{items}</ul>"
        case Command():
            return _command(block)
        case Table():
            return _table(block)
        case Chart():
            return _chart(block)
        case Details():
            return _details(block.name, _blocks(block.blocks))


def _said(said: Said) -> str:
    """Return what somebody wrote; its model has refused all HTML that is not Markdown."""
    html = said.html
    for name, content in said.images.items():
        data = f"data:{media_type(name)};base64,{content}"
        html = html.replace(f'<img src="{name}"', f'<img src="{data}"')
    if not said.title:
        return html
    about = f'<p class="quiet">{escape(said.author)}, {said.day}</p>'
    warning = f'<p><b class="failed">{escape(said.warning)}</b></p>' if said.warning else ""
    return f"<article><h3>{escape(said.title)}</h3>{about}{warning}{html}</article>"


def _paragraph(block: str | Link | Said) -> str:
    if isinstance(block, Said):
        return _said(block)
    if isinstance(block, Link):
        address = escape(block.file) if block.is_address else quote(block.file)
        return f'<p><a href="{address}">{escape(block.words)}</a></p>'
    return f"<p>{_colored(shell.words(block))}</p>"


def _command(command: Command) -> str:
    words, expected = (shell.words(each) for each in (f"{command.words}:", command.expected))
    after = f'<p class="quiet">{expected}</p>' if expected else ""
    code = f"<pre><code>{escape(command.text)}</code></pre>"
    return f'<div class="command"><p>{words}</p>{code}{after}</div>'


def _details(name: str, contents: str) -> str:
    return f"<details>\n<summary>{escape(name)}</summary>\n{contents}\n</details>"


def _colored(html: str) -> str:
    """Return HTML with its verdicts in their colours."""
    return _unbroken(
        MARKED.sub(lambda found: f'<b class="{_CLASSES[found[0][0]]}">{found[0]}</b>', html)
    )


def _unbroken(html: str) -> str:
    """Return HTML in which no line breaks within the id of a run."""
    return _RUN.sub(r'<span class="whole">\g<0></span>', html)


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
    html = _ADDRESS.sub(r'<a href="\g<0>">\g<0></a>', _colored(escape(text)))
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
