"""The form of a report as GitHub's Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, zip_longest

from tidemark.model.sentences import plural, visible
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

# CommonMark 0.31, Backslash escapes. An underscore within a word needs no escape.
_MARKUP = re.compile(r"[\\`*\[\]<>&|~$]|(?<![^\W_])_|_(?![^\W_])")
# Text that notifies a person, or links an issue or merge request, where a report is posted. GitHub
# and GitLab search the rendered Markdown, where escapes are gone: an invisible character has to
# split the text (github/cmark-gfm, issue 181).
_REFERENCE = re.compile(r"(?<!\w)@(?=\w)|[#!](?=\d)|\bGH-(?=\d)", re.IGNORECASE)
_INVISIBLE = "&#8203;"
# The lines over the folds of sections.
_EVIDENCE, _DETAILS = "evidence", "details"


def markdown(report: Report, most_rows: int | None = None) -> str:
    """Return a report as Markdown; a chart becomes its table, or a sentence if that is too long.

    The tables of charts are folded, and so are sections of details.
    """
    return _Writer(most_rows).report(report)


def plain(report: Report) -> str:
    """Return a report as Markdown for people who read it as text: without folds and escapes.

    Bars in cells alone keep their escape.
    """
    return _Writer(folds=False, escapes=False).report(report)


def with_pictures(report: Report, draw: Callable[[Chart], str]) -> str:
    """Return a report as Markdown whose charts are pictures; ``draw`` returns the place of one.

    Its author wrote the title, as Markdown.
    """
    title = f"# {report.title}\n\n" if report.title else ""
    return title + _Writer(draw=draw).report(report._replace(title=""))


def table_lines(table: Table) -> list[str]:
    """Return the lines of a table, without its caption."""
    return _Writer().table_lines(table)


@dataclass(frozen=True)
class _Writer:
    most_rows: int | None = None
    """The most rows of the folded table of a chart, None without a limit."""
    folds: bool = True
    escapes: bool = True
    draw: Callable[[Chart], str] | None = None
    """Draw a chart and return the place of the picture; None for tables in place of charts."""

    def report(self, report: Report) -> str:
        title = [f"# {self._text(report.title)}"] if report.title else []
        parts = [*title, *self._parts(report.summary)]
        for section in report.sections:
            parts += [f"## {self._text(section.heading)}", *self._contents(section)]
        return "\n\n".join(parts) + "\n"

    def _parts(self, blocks: Sequence[Block]) -> Iterator[str]:
        """Yield blocks; pictures that follow each other are a table of two in a row."""
        for is_chart, row in groupby(blocks, lambda block: isinstance(block, Chart)):
            if is_chart and self.draw:
                charts = [block for block in row if isinstance(block, Chart)]
                pictures = [self._picture(chart) for chart in charts]
                yield _in_pairs(pictures) if len(pictures) > 1 else pictures[0]
                yield from (self._table(chart.table) for chart in charts if chart.with_table)
            else:
                yield from map(self._block, row)

    def _picture(self, chart: Chart) -> str:
        assert self.draw
        return f"![{self._text(chart.caption)}]({self.draw(chart)})"

    def _contents(self, section: Section) -> list[str]:
        if not section.details and not section.evidence:
            return list(map(self._block, section.blocks))
        summary = _EVIDENCE if section.evidence else _DETAILS
        return [self._folded(summary, self._within_fold(section.blocks))]

    def _within_fold(self, blocks: Sequence[Block]) -> str:
        """Return blocks that are folded together, without folds of their own."""
        return "\n\n".join(map(replace(self, folds=False)._block, blocks))

    def _folded(self, summary: str, contents: str) -> str:
        if not self.folds:
            return contents
        return f"<details><summary>{summary}</summary>\n\n{contents}\n\n</details>"

    def _block(self, block: Block) -> str:
        match block:
            case str() | Link() | Said():
                return self._paragraph(block)
            case Bullets():
                return "\n".join(f"- {self._text(item)}" for item in block.items)
            case Command():
                return self._command(block)
            case Table():
                return self._table(block)
            case Details():
                return self._details(block)
            case Chart():
                return self._table(block.table) if block.with_table else self._chart(block.table)

    def _paragraph(self, block: str | Link | Said) -> str:
        if isinstance(block, Said):
            return "\n\n".join(filter(None, [*self._headed(block), block.text]))
        if isinstance(block, Link):
            if block.is_address:
                return (
                    f"[{self._text(block.words)}]({block.file})"
                    if self.escapes
                    else (f"{self._text(block.words)}: {block.file}")
                )
            if self.draw:
                return f"[{self._text(block.words)}]({block.file})"
            # Markdown is read in other places, too, where a link to the file leads nowhere.
            return f"{self._text(block.words)}: {self._text(block.file)}, beside this report."
        return self._text(block)

    def _command(self, block: Command) -> str:
        """Return a command as code, in a fence that is longer than any of its own."""
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", block.text)), default=0))
        code = f"{fence}sh\n{visible(' '.join(block.text.split()))}\n{fence}"
        words = f"{self._text(block.words)}:"
        return "\n\n".join([words, code, *filter(None, [self._text(block.expected)])])

    def _headed(self, said: Said) -> Iterator[str]:
        """Yield the title of a comment, with its author and day, and what no longer holds."""
        if said.title:
            yield f"### {self._text(said.title)}"
            yield f"*{self._text(f'{said.author}, {said.day}')}*"
            yield self._text(said.warning)

    def _details(self, block: Details) -> str:
        contents = self._within_fold(block.blocks)
        if self.folds:
            return self._folded(f"<b>{self._text(block.name)}</b>", contents)
        return f"{self._bold(block.name)}\n\n{contents}"

    def _chart(self, table: Table) -> str:
        """Return the folded table of a chart, or a sentence if the table is too long."""
        if self.most_rows is not None and len(table.rows) > self.most_rows:
            return self._text(f"{table.caption}: {len(table.rows):,} rows, in the page.")
        rows = self._folded(plural(len(table.rows), "row"), self._lines(table))
        return f"{self._bold(table.caption)}\n\n{rows}"

    def _table(self, table: Table) -> str:
        return f"{self._bold(table.caption)}\n\n{self._lines(table)}"

    def _lines(self, table: Table) -> str:
        return "\n".join(self.table_lines(table))

    def table_lines(self, table: Table) -> list[str]:
        rules = ["--:" if column in table.numbers else "---" for column in table.columns]
        header = _line([self._cell(column) for column in table.columns])
        return [header, f"|{'|'.join(rules)}|", *map(self._row, table.rows)]

    def _row(self, row: Row) -> str:
        cells = [self._cell(cell) for cell in row.cells]
        return _line([f"~~{cell}~~" if row.struck and cell else cell for cell in cells])

    def _cell(self, text: str) -> str:
        shown = self._text(text)
        return shown if self.escapes else shown.replace("|", "\\|")

    def _bold(self, text: str) -> str:
        return f"**{self._text(text)}**"

    def _text(self, text: str) -> str:
        """Return a text on one line that Markdown shows unchanged, without mentions and links."""
        line = visible(" ".join(text.split()))
        if not self.escapes:
            return line
        escaped = _MARKUP.sub(lambda match: f"\\{match.group()}", line)
        return _REFERENCE.sub(lambda match: match.group() + _INVISIBLE, escaped)


def _in_pairs(pictures: Sequence[str]) -> str:
    pairs = zip_longest(pictures[::2], pictures[1::2], fillvalue="")
    first, *others = (_line(list(pair)) for pair in pairs)
    return "\n".join([first, "|---|---|", *others])


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
