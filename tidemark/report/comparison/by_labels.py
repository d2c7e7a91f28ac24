"""The results by label, by axis and by supported users.

Under labels: what worsened, what improved, and what is missing. By axis: what another database
makes of the same version.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from tidemark.figures import version_rates
from tidemark.figures.version_rates import Quantity
from tidemark.model.labels import canonical, figure_name, labelled_name
from tidemark.model.metric import Metric
from tidemark.model.numerals import bound, change, supported
from tidemark.model.sentences import listed, plural
from tidemark.report.blocks import Block, Row, Table
from tidemark.report.comparison.sides import USERS, Pair, Side, Sides, text_of, value_of

# The table of results has every combination.
_MOST_ROWS = 20


def blocks(sides: Sides) -> Iterator[Block]:
    """Yield the changes of each metric with labels of its own, and what its tables leave out."""
    labelled = [pair for pair in sides.pairs if pair.metric.labels and pair.quantity.labels]
    for (test, name), group in groupby(labelled, key=_name):
        of_metric = list(group)
        metric = of_metric[-1].metric
        by_labels = {_own_labels(pair): pair for pair in of_metric}
        found = label_changes(metric, map(_change, of_metric))
        for words, changes in (("Worsened", found.worsened), ("Improved", found.improved)):
            if changes:
                caption = f"{words}: {name} of {test} [{metric.unit}]"
                yield _table(caption, metric, changes, by_labels, sides)
            if (more := len(changes) - _MOST_ROWS) > 0:
                yield f"{words}: {name} of {test}: the table of results has {more:,} more."
        if found.small:
            changed = plural(len(found.small), "combination")
            yield f"{name} of {test}: {changed} of labels changed by less than {_least(metric)}."
        for side, is_missing in ((sides.base, _lacks_base), (sides.new, _lacks_new)):
            if lacking := listed(_words(each) for each in found.missing if is_missing(each)):
                yield f"{name} of {test} is missing in {side.name}: {lacking}."


def _name(pair: Pair) -> tuple[str, str]:
    """Return the test and the name of a quantity with the values of its axes alone."""
    quantity = pair.quantity
    axes = canonical(quantity.axes)
    return quantity.test, figure_name(quantity.metric.name, quantity.statistic, axes)


def _change(pair: Pair) -> LabelChange:
    return LabelChange(_own_labels(pair), value_of(pair.base), value_of(pair.new), pair.effect)


def _own_labels(pair: Pair) -> str:
    """Return the canonical labels of a quantity beside its axes."""
    return canonical(pair.quantity.own_labels)


def _table(
    caption: str,
    metric: Metric,
    changes: Sequence[LabelChange],
    by_labels: Mapping[str, Pair],
    sides: Sides,
) -> Table:
    figures = (*(f"Mean of {side.name}" for side in sides.both), "Difference", "Δ")
    return Table(
        caption=caption,
        columns=("Labels", *figures),
        rows=tuple(_row(each, metric, by_labels[each.labels]) for each in changes[:_MOST_ROWS]),
        numbers=frozenset(figures),
    )


def _row(each: LabelChange, metric: Metric, pair: Pair) -> Row:
    figures = text_of(pair.base), text_of(pair.new), supported(each.difference, None)[0]
    return Row((_words(each), *figures, change(each.effect, metric, pair.places)))


def _words(each: LabelChange) -> str:
    return ", ".join(map(str, json.loads(each.labels).values())) or "without a label"


def _least(metric: Metric) -> str:
    share, difference = metric.noticed
    return bound(share) + (f" or {difference:,.12g} {metric.unit}" if difference else "")


def _lacks_base(each: LabelChange) -> bool:
    return each.base is None


def _lacks_new(each: LabelChange) -> bool:
    return each.new is None


def supported_users(sides: Sides) -> Iterator[Table]:
    """Yield the table of supported users; nothing if no metric has them.

    A metric counts supported users if its unit is users and more are better; its first figure is
    shown.
    """
    figures = (*(f"Mean of {side.name}" for side in sides.both), "Δ")
    if rows := tuple(_users_row(sides, pair) for pair in sides.pairs if _has_users(pair)):
        yield Table("Supported users", ("Test", *figures), rows, frozenset(figures))


def _has_users(pair: Pair) -> bool:
    metric = pair.metric
    is_first = pair.quantity.statistic == metric.statistics[0]
    return is_first and (metric.unit, metric.direction) == (USERS, "higher")


def _users_row(sides: Sides, pair: Pair) -> Row:
    name = labelled_name(pair.quantity.test, pair.quantity.axes)
    users = (
        f"{text_of(reading)}{_bracket(side, pair.quantity)}"
        for reading, side in sides.readings(pair)
    )
    return Row((name, *users, change(pair.effect, pair.metric, pair.places)))


def _bracket(side: Side, quantity: Quantity) -> str:
    """Return the users that all searches of a side held, and those at which each hit a limit."""
    results = side.run.results(quantity.test, quantity.axes)
    brackets = [result.load.bracket for _, result in results if result.load]
    known = [bracket for bracket in brackets if bracket]
    if not known:
        return ""
    held, failed = min(low for low, _ in known), max(high for _, high in known)
    return f" ({held:,} to {failed:,})"


_AXIS_COLUMNS = ("Test", "Metric", "Version", "Values", "Means", "Δ of the means")


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
    texts: str
    """Both means in words."""

    @property
    def metric(self) -> Metric:
        """The metric of both means."""
        return self.values.pairs[1].metric

    @property
    def is_small(self) -> bool:
        """Whether it is one of many under labels, and too small to be listed."""
        return bool(self.metric.labels) and not is_large(self.metric, self.means)


def axis_blocks(sides: Sides) -> Iterator[Block]:
    """Yield a table for each axis that has several values on both sides together.

    Small differences under labels are only counted.
    """
    for axis in dict.fromkeys(name for axes in sides.combinations() for name in axes):
        beside = _beside(axis, sides.pairs)
        found = [each for values in beside for each in _differences(values, sides)]
        if rows := tuple(_axis_row(each) for each in found if not each.is_small):
            caption = f"The values of {axis} beside each other"
            yield Table(caption, _AXIS_COLUMNS, rows, frozenset((_AXIS_COLUMNS[-1],)))
        if small := sum(each.is_small for each in found):
            left_out = f"{plural(small, 'difference')} under labels, below least_change or"
            yield f"Left out of the values of {axis}: {left_out} least_difference."


def _beside(axis: str, pairs: Iterable[Pair]) -> Iterator[_Values]:
    """Yield each further value of an axis beside the first one, for each quantity."""
    first: dict[tuple[str, str], tuple[str, Pair]] = {}
    for pair in (each for each in pairs if axis in each.quantity.axes):
        value, quantity = pair.quantity.axes[axis], pair.quantity
        labels = {k: v for k, v in quantity.all_labels.items() if k != axis}
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
            texts = f"{text_of(another)} against {text_of(one)}"
            yield _Difference(values, side.name, means, texts)


def _axis_row(each: _Difference) -> Row:
    values, means = each.values, each.means
    return Row(
        (
            values.pairs[1].quantity.test,
            f"{values.name} [{each.metric.unit}]",
            each.version,
            f"{values.other} against {values.first}",
            each.texts,
            change(means.share, each.metric),
        )
    )


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
        if self.effect is not None:
            return self.effect
        return version_rates.change(self.base, self.new) or 0.0

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
    """Those that one side lacks, which is not a change."""


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
