"""The form of a report as GitHub's Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tidemark.model.sentences import visible
from tidemark.report.blocks import Block, Bullets, Chart, Report, Row, Table

# CommonMark 0.31, Backslash escapes. An underscore within a word needs no escape.
_MARKUP = re.compile(r"[\\`*\[\]<>&|~$]|(?<![^\W_])_|_(?![^\W_])")
# Text that notifies a person, or links an issue or merge request, where a report is posted. GitHub
# and GitLab search the rendered Markdown, where escapes are gone: an invisible character has to
# split the text (github/cmark-gfm, issue 181).
_REFERENCE = re.compile(r"(?<!\w)@(?=\w)|[#!](?=\d)|\bGH-(?=\d)", re.IGNORECASE)
_INVISIBLE = "&#8203;"


def markdown(report: Report, most_rows: int | None = None) -> str:
    """Return a report as Markdown; a chart becomes its table, or a sentence if that is too long."""

    def blocks(contents: Iterable[Block]) -> list[str]:
        return [_block(block, most_rows) for block in contents]

    parts = [f"# {_text(report.title)}", *blocks(report.summary)]
    for section in report.sections:
        parts += [f"## {_text(section.heading)}", *blocks(section.blocks)]
    return "\n\n".join(parts) + "\n"


def _block(block: Block, most_rows: int | None) -> str:
    match block:
        case str():
            return _text(block)
        case Bullets():
            return "\n".join(f"- {_text(item)}" for item in block.items)
        case Table():
            return _table(block)
        case Chart() if most_rows is not None and len(block.table.rows) > most_rows:
            return _text(f"{block.table.caption}: {len(block.table.rows):,} rows, in the page.")
        case Chart():
            return _table(block.table)


def table_lines(table: Table) -> list[str]:
    """Return the lines of a table, without its caption."""
    rules = ["--:" if column in table.numbers else "---" for column in table.columns]
    header = _line([_text(column) for column in table.columns])
    return [header, f"|{'|'.join(rules)}|", *map(_row, table.rows)]


def _table(table: Table) -> str:
    return "\n".join([f"**{_text(table.caption)}**", "", *table_lines(table)])


def _row(row: Row) -> str:
    cells = [_text(cell) for cell in row.cells]
    return _line([f"~~{cell}~~" if row.struck and cell else cell for cell in cells])


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _text(text: str) -> str:
    """Return a text on one line that Markdown shows unchanged, without mentions and links."""
    line = visible(" ".join(text.split()))
    escaped = _MARKUP.sub(lambda match: f"\\{match.group()}", line)
    return _REFERENCE.sub(lambda match: match.group() + _INVISIBLE, escaped)
