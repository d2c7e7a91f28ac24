"""The changes of a metric under its labels, such as operations: those worth a look, worst first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tidemark.figures.version_rates import change
from tidemark.model.metric import Metric


class LabelChange(NamedTuple):
    """A figure of one combination of labels on both sides; None where it was not measured."""

    labels: str
    base: float | None
    new: float | None
    effect: float | None = None
    """The change by the verdict on both sides, 0.1 being 10 % more; None without one."""

    @property
    def share(self) -> float:
        """The change by which combinations are sorted, of the figures if there is no verdict.

        It is 0 where a side is missing or the base is 0.
        """
        return (change(self.base, self.new) or 0.0) if self.effect is None else self.effect

    @property
    def difference(self) -> float:
        """The change in the unit of the metric; 0 where a side is missing."""
        return self.new - self.base if self.new is not None and self.base is not None else 0.0


class LabelChanges(NamedTuple):
    """The changes of a metric by their kind."""

    worsened: tuple[LabelChange, ...]
    improved: tuple[LabelChange, ...]
    """Both with the greatest change first."""
    small: tuple[LabelChange, ...]
    missing: tuple[LabelChange, ...]
    """Those that one side lacks, which is no change."""


def label_changes(metric: Metric, figures: Iterable[LabelChange]) -> LabelChanges:
    """Return the changes of a metric, in the order of their share.

    A change is small unless both its share and its difference are as large as the metric says.
    """
    ordered = sorted(figures, key=lambda each: (-abs(each.share), each.labels))
    both = [each for each in ordered if each.base is not None and each.new is not None]
    large = [each for each in both if is_large(metric, each)]
    worse = 1 if metric.direction == "lower" else -1
    return LabelChanges(
        worsened=tuple(each for each in large if (each.share or each.difference) * worse > 0),
        improved=tuple(each for each in large if (each.share or each.difference) * worse < 0),
        small=tuple(each for each in both if each not in large),
        missing=tuple(each for each in ordered if (each.base is None) != (each.new is None)),
    )


def is_large(metric: Metric, each: LabelChange) -> bool:
    """Tell whether a change is worth a look, as the metric says."""
    least, difference = metric.noticed
    from_zero = each.base == 0 and each.difference != 0
    return (abs(each.share) >= least or from_zero) and abs(each.difference) >= difference
