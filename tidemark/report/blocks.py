"""The parts of a report in plain text, which each form escapes.

The forms are ``tidemark.report.markdown``, ``tidemark.report.page`` and
``tidemark.report.terminal``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple


class Row(NamedTuple):
    """One row of a table; its first cell names it."""

    cells: tuple[str, ...]
    struck: bool = False
    """Whether the row is crossed out: kept, but left out of every figure."""


class Table(NamedTuple):
    """A table; each row has a cell for each column."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    numbers: frozenset[str] = frozenset()
    """The columns of figures, which are aligned right."""


class Bullets(NamedTuple):
    """A list of independent sentences."""

    items: tuple[str, ...]


class Mark(NamedTuple):
    """An entry of a chart's legend."""

    color: str
    """The colour in CSS, which may use the page's variables."""
    symbol: str
    words: str


class Chart(NamedTuple):
    """A chart, and a table of the same data."""

    caption: str
    spec: Mapping[str, Any]
    """The chart in Vega-Lite; a viewer sets its width."""
    width: float
    """The least width at which the chart is legible [em]."""
    table: Table
    legend: tuple[Mark, ...]
    with_table: bool = False
    """Whether the table is read beside the chart, and not only on a click."""


class Link(NamedTuple):
    """A link to a file beside the report, or to an address."""

    words: str
    file: str

    @property
    def is_address(self) -> bool:
        """Whether the link leads elsewhere than beside the report."""
        return self.file.startswith("https://")


class Command(NamedTuple):
    """A command to copy: what it is for, and what to expect of it."""

    words: str
    text: str
    expected: str = ""
    """Its time, its cost and its chance in sentences, '' if they are not known."""

    @property
    def sentence(self) -> str:
        """All of it in one text."""
        return f"{self.words}: {self.text}{self.expected and f'. {self.expected}'}"


class Details(NamedTuple):
    """Blocks that a reader of the results can do without, under a name; forms fold them."""

    name: str
    blocks: tuple[Block, ...]


class Said(NamedTuple):
    """What somebody wrote, in Markdown and as HTML for pages."""

    title: str
    """Its title, '' for a part of a document."""
    author: str
    day: str
    text: str
    html: str
    images: Mapping[str, str]
    """Its images in base64, by the name that text and HTML have."""
    warning: str = ""
    """Whether figures that it quotes no longer hold."""


Block = str | Bullets | Command | Link | Table | Chart | Details | Said


class Section(NamedTuple):
    """Blocks under a heading."""

    heading: str
    blocks: tuple[Block, ...]
    details: bool = False
    """Whether a reader of the results can do without it, so that Markdown folds it."""
    evidence: bool = False
    """Whether it says why the results are as they are; Markdown folds it, a terminal prints it."""


class Report(NamedTuple):
    """A title, a summary and sections."""

    title: str
    summary: tuple[Block, ...]
    sections: tuple[Section, ...]


def brief(report: Report) -> Report:
    """Return the results of a report and their evidence, without samples and other details."""
    shown = [each for each in report.sections if not each.details]
    return report._replace(
        summary=tuple(_brief(report.summary)),
        sections=tuple(
            each._replace(blocks=tuple(_brief(each.blocks)), evidence=False) for each in shown
        ),
    )


def _brief(blocks: Sequence[Block]) -> Iterator[Block]:
    for block in blocks:
        match block:
            case Chart():
                if block.with_table:
                    yield block.table
            case Details():
                pass
            case _:
                yield block
