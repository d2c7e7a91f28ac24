"""The values of an axis beside each other: what another database makes of the same version."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tidemark.figures import version_rates
from tidemark.figures.load.label_changes import LabelChange, is_large
from tidemark.model.axes import canonical, figure_name
from tidemark.model.metric import Metric
from tidemark.model.numerals import change, figure
from tidemark.model.sentences import plural
from tidemark.report.blocks import Block, Row, Table
from tidemark.report.comparison.sides import Pair, Sides, value_of

_COLUMNS = ("Test", "Metric", "Version", "Values", "Means", "Δ of the means")


class _Values(NamedTuple):
    """One quantity under two values of an axis."""

    name: str
    """The name of the quantity without the axis."""
    first: str
    other: str
    pairs: tuple[Pair, Pair]


class _Difference(NamedTuple):
    """The means of one version under two values of an axis."""

    values: _Values
    version: str
    means: LabelChange

    @property
    def metric(self) -> Metric:
        """The metric of both means."""
        return self.values.pairs[1].metric

    @property
    def is_small(self) -> bool:
        """Whether it is one of many under labels, and too small to be listed."""
        return bool(self.metric.labels) and not is_large(self.metric, self.means)


def blocks(sides: Sides, pairs: Sequence[Pair]) -> Iterator[Block]:
    """Yield a table for each axis of which both sides together have several values.

    Small differences under labels are only counted.
    """
    for axis in dict.fromkeys(name for axes in sides.combinations() for name in axes):
        found = [each for values in _beside(axis, pairs) for each in _differences(values, sides)]
        if rows := tuple(_row(each) for each in found if not each.is_small):
            caption = f"The values of {axis} beside each other"
            yield Table(caption, _COLUMNS, rows, frozenset((_COLUMNS[-1],)))
        if small := sum(each.is_small for each in found):
            left_out = f"{plural(small, 'difference')} under labels, below least_change or"
            yield f"Left out of the values of {axis}: {left_out} least_difference."


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


def _differences(values: _Values, sides: Sides) -> Iterator[_Difference]:
    first, other = values.pairs
    for side, one, another in (
        (sides.base, first.base, other.base),
        (sides.new, first.new, other.new),
    ):
        means = LabelChange("", value_of(one), value_of(another))
        if version_rates.change(means.base, means.new) is not None:
            yield _Difference(values, side.name, means)


def _row(each: _Difference) -> Row:
    values, means = each.values, each.means
    return Row(
        (
            values.pairs[1].quantity.test,
            f"{values.name} [{each.metric.unit}]",
            each.version,
            f"{values.other} against {values.first}",
            f"{figure(means.new)} against {figure(means.base)}",
            change(means.share, each.metric),
        )
    )
