"""The users that both versions support, for each test and combination of axes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tidemark.model.axes import labelled_name
from tidemark.model.numerals import change, figure
from tidemark.report.blocks import Row, Table
from tidemark.report.comparison.sides import Pair, Sides, value_of

_UNIT = "users"


def tables(sides: Sides, pairs: Sequence[Pair]) -> Iterator[Table]:
    """Yield the table of supported users; nothing if no metric has them.

    They are the first figure of each metric of which more users are better.
    """
    figures = (*(f"Mean of {side.name}" for side in sides.both), "Δ")
    if rows := tuple(_row(pair) for pair in pairs if _has_users(pair)):
        yield Table("Supported users", ("Test", *figures), rows, frozenset(figures))


def _has_users(pair: Pair) -> bool:
    metric = pair.metric
    is_first = pair.quantity.statistic == metric.statistics[0]
    return is_first and (metric.unit, metric.direction) == (_UNIT, "higher")


def _row(pair: Pair) -> Row:
    name = labelled_name(pair.quantity.test, pair.quantity.axes)
    users = (figure(value_of(each)) for each in (pair.base, pair.new))
    return Row((name, *users, change(pair.effect, pair.metric)))
