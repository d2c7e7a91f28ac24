"""The values of an axis beside each other: what another database makes of the same version."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tidemark.figures import summary
from tidemark.model.labels import canonical, figure_name
from tidemark.report.blocks import Row, Table
from tidemark.report.comparison.sides import Pair, Sides, value_of
from tidemark.report.numbers import change, figure

_COLUMNS = ("Test", "Metric", "Version", "Values", "Means", "Δ of the means")


class _Values(NamedTuple):
    """One quantity under two values of an axis."""

    name: str
    """The name of the quantity without the axis."""
    first: str
    other: str
    pairs: tuple[Pair, Pair]


def tables(sides: Sides, pairs: Sequence[Pair]) -> Iterator[Table]:
    """Yield a table for each axis of which both sides together have several values."""
    for axis in dict.fromkeys(name for axes in sides.combinations() for name in axes):
        rows = [
            row
            for values in _beside(axis, pairs)
            for row in _rows(values, sides)
        ]  # fmt: skip
        if rows:
            caption = f"The values of {axis} beside each other"
            yield Table(caption, _COLUMNS, tuple(rows), frozenset((_COLUMNS[-1],)))


def _beside(axis: str, pairs: Iterable[Pair]) -> Iterator[_Values]:
    """Yield each further value of an axis beside the first one, for each quantity."""
    first: dict[tuple[str, str], tuple[str, Pair]] = {}
    for pair in (each for each in pairs if axis in each.quantity.axes):
        value, quantity = pair.quantity.axes[axis], pair.quantity
        labels = {k: v for k, v in json.loads(quantity.labels).items() if k != axis}
        name = figure_name(quantity.metric.name, quantity.statistic, canonical(labels))
        known, base = first.setdefault((quantity.test, name), (value, pair))
        if known != value:
            yield _Values(name, known, value, (base, pair))


def _rows(values: _Values, sides: Sides) -> Iterator[Row]:
    first, other = values.pairs
    unit = other.metric.unit
    for side, one, another in (
        (sides.base, first.base, other.base),
        (sides.new, first.new, other.new),
    ):
        before, after = value_of(one), value_of(another)
        if (found := summary.change(before, after)) is not None:
            yield Row(
                (
                    other.quantity.test,
                    f"{values.name} [{unit}]",
                    side.name,
                    f"{values.other} against {values.first}",
                    f"{figure(after)} against {figure(before)}",
                    change(found, other.metric),
                )
            )
