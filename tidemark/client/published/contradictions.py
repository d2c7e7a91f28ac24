"""Published figures that contradict each other."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations

from tidemark.client.published.amounts import amount, is_amount
from tidemark.client.published.release_figure import ReleaseFigure
from tidemark.client.published.tables import PageTable, TableRow
from tidemark.client.published.version_columns import DERIVED, version_columns
from tidemark.figures.load.call_rates import Printed, contradict, rate
from tidemark.figures.version_rates import change
from tidemark.model.numerals import percent
from tidemark.model.publication import PublishedMetric, plain_name

_PERCENT = re.compile(r"(?P<sign>[-+\N{MINUS SIGN}]?)(?P<number>\d+(?:\.(?P<digits>\d+))?)\s?%")


def of_tables(tables: Sequence[PageTable]) -> Iterator[str]:
    """Yield a sentence for each printed change that is not that of the two versions beside it."""
    for table in tables:
        versions = version_columns(table)
        changes = [n for n, text in enumerate(table.headings) if plain_name(text) in DERIVED]
        if len(versions) == 2 and len(changes) == 1:
            for row in table.rows:
                yield from _wrong_change(row, versions[0], versions[1], changes[0])


def _wrong_change(row: TableRow, base: int, new: int, column: int) -> Iterator[str]:
    printed = _PERCENT.fullmatch(row.cells[column])
    if not printed or not all(is_amount(row.cells[each]) for each in (base, new)):
        return
    before, after = (amount(row.cells[each], "").value for each in (base, new))
    found = change(before, after)
    if found is None:
        return
    sign = -1 if printed["sign"] in {"-", "\N{MINUS SIGN}"} else 1
    digits = len(printed["digits"] or "")
    if percent(sign * float(printed["number"]) / 100, digits) != percent(found, digits):
        figures = f"from {row.cells[base]} to {row.cells[new]} is {percent(found, digits)}"
        yield f"line {row.line}: the change {figures}, not {row.cells[column]}"


def of_figures(figures: Sequence[ReleaseFigure]) -> Iterator[str]:
    """Yield a sentence for each two figures that are one rate in two units, and differ."""
    releases: defaultdict[object, list[tuple[ReleaseFigure, Printed]]] = defaultdict(list)
    for each in figures:
        if printed := rate(each.amount.text, _unit(each.metric)):
            place = (each.version, each.tested_on, each.metric.test, *each.metric.axes.values())
            releases[(*place, printed.noun)].append((each, printed))
    for group in releases.values():
        for (one, first), (other, second) in combinations(group, 2):
            if one.metric.unit != other.metric.unit and contradict(first, second):
                both = f"{first.text} contradicts {second.text}, if one client calls"
                yield f"line {other.line}: {one.version}: {both}"


def _unit(metric: PublishedMetric) -> str:
    """Return the unit of a metric, ``ms/request`` if it is the time per request."""
    noun = metric.metric.removeprefix("time_per_")
    return metric.unit if noun == metric.metric else f"{metric.unit}/{noun}"
