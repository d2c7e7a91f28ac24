"""What a report is made of, whatever form it takes; every text is plain, and escaped by the form.

The forms are ``lambdas.report.markdown`` and ``lambdas.report.page``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """One row of a table; its first cell names it."""

    cells: tuple[str, ...]
    struck: bool = False
    """Crossed out: kept, and left out of every figure."""


@dataclass(frozen=True)
class Table:
    """Rows of as many cells as there are columns."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    numbers: frozenset[str] = frozenset()
    """The columns that hold figures, and are aligned as such."""


@dataclass(frozen=True)
class Bullets:
    """Sentences that stand for themselves."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class Mark:
    """What one kind of mark of a chart is."""

    color: str
    """In the words of CSS, with the page's names of colours."""
    symbol: str
    words: str


@dataclass(frozen=True)
class Chart:
    """A chart and the table that says the same."""

    caption: str
    spec: Mapping[str, Any]
    """Vega-Lite; a viewer gives it the width there is."""
    width: float
    """The least width at which it can be read [em]."""
    table: Table
    legend: tuple[Mark, ...]


Block = str | Bullets | Table | Chart


@dataclass(frozen=True)
class Section:
    """Blocks under a heading."""

    heading: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Report:
    """A title, what a reader in a hurry needs, and the rest."""

    title: str
    summary: tuple[Block, ...]
    sections: tuple[Section, ...]
