"""The form of a report as GitHub's Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tidemark.model.sentences import plural, visible
from tidemark.report.blocks import Block, Bullets, Chart, Details, Link, Report, Row, Section, Table
from tidemark.report.folds import EVIDENCE, fold, fold_named, unfolded

# CommonMark 0.31, Backslash escapes. An underscore within a word needs no escape.
_MARKUP = re.compile(r"[\\`*\[\]<>&|~$]|(?<![^\W_])_|_(?![^\W_])")
# Text that notifies a person, or links an issue or merge request, where a report is posted. GitHub
# and GitLab search the rendered Markdown, where escapes are gone: an invisible character has to
# split the text (github/cmark-gfm, issue 181).
_REFERENCE = re.compile(r"(?<!\w)@(?=\w)|[#!](?=\d)|\bGH-(?=\d)", re.IGNORECASE)
_INVISIBLE = "&#8203;"
_DETAILS = "details"


def markdown(report: Report, most_rows: int | None = None) -> str:
    """Return a report as Markdown; a chart becomes its table, or a sentence if that is too long.

    The tables of charts are folded, and so are sections of details.
    """
    parts = [f"# {_text(report.title)}", *(_block(block, most_rows) for block in report.summary)]
    for section in report.sections:
        parts += [f"## {_text(section.heading)}", *_contents(section, most_rows)]
    return "\n\n".join(parts) + "\n"


def _contents(section: Section, most_rows: int | None) -> Sequence[str]:
    blocks = [_block(block, most_rows) for block in section.blocks]
    if not section.details and not section.evidence:
        return blocks
    summary = EVIDENCE if section.evidence else _DETAILS
    return [fold(summary, unfolded("\n\n".join(blocks)))]


def _block(block: Block, most_rows: int | None) -> str:
    match block:
        case str():
            return _text(block)
        case Bullets():
            return "\n".join(f"- {_text(item)}" for item in block.items)
        case Link():
            # Markdown is read in other places, too, where a link to the file would lead nowhere.
            return f"{_text(block.words)}: {_text(block.file)}, beside this report."
        case Table():
            return _table(block)
        case Details():
            contents = "\n\n".join(_block(each, most_rows) for each in block.blocks)
            return fold_named(_text(block.name), unfolded(contents))
        case Chart():
            return _table(block.table) if block.with_table else _chart_table(block.table, most_rows)


def _chart_table(table: Table, most_rows: int | None) -> str:
    """Return the folded table of a chart, or a sentence if the table is too long."""
    if most_rows is not None and len(table.rows) > most_rows:
        return _text(f"{table.caption}: {len(table.rows):,} rows, in the page.")
    return f"{_bold(table.caption)}\n\n{fold(plural(len(table.rows), 'row'), _lines(table))}"


def _lines(table: Table) -> str:
    return "\n".join(table_lines(table))


def table_lines(table: Table) -> list[str]:
    """Return the lines of a table, without its caption."""
    rules = ["--:" if column in table.numbers else "---" for column in table.columns]
    header = _line([_text(column) for column in table.columns])
    return [header, f"|{'|'.join(rules)}|", *map(_row, table.rows)]


def _table(table: Table) -> str:
    return f"{_bold(table.caption)}\n\n{_lines(table)}"


def _bold(text: str) -> str:
    return f"**{_text(text)}**"


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
