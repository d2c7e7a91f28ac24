"""The changes of a metric under its labels: what worsened, what improved, and what is missing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from tidemark.figures.load.label_changes import LabelChange, label_changes
from tidemark.model.axes import canonical, figure_name
from tidemark.model.metric import Metric
from tidemark.model.numerals import bound, change, figure
from tidemark.model.sentences import listed, plural
from tidemark.report.blocks import Block, Row, Table
from tidemark.report.comparison.sides import Pair, Sides, value_of

# The table of results has every combination.
_MOST_ROWS = 20


def blocks(sides: Sides, pairs: Iterable[Pair]) -> Iterator[Block]:
    """Yield the changes of each metric with labels of its own, and what its tables leave out."""
    labelled = [pair for pair in pairs if pair.metric.labels and pair.quantity.labels]
    for (test, name), group in groupby(labelled, key=_name):
        of_metric = list(group)
        metric = of_metric[-1].metric
        found = label_changes(metric, map(_change, of_metric))
        for words, changes in (("Worsened", found.worsened), ("Improved", found.improved)):
            if changes:
                yield _table(f"{words}: {name} of {test}", metric, changes, sides)
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
    labels = json.loads(pair.quantity.labels)
    own = {name: value for name, value in labels.items() if name not in pair.quantity.axes}
    return LabelChange(canonical(own), value_of(pair.base), value_of(pair.new), pair.effect)


def _table(name: str, metric: Metric, changes: Sequence[LabelChange], sides: Sides) -> Table:
    figures = (*(f"Mean of {side.name}" for side in sides.both), "Difference", "Δ")
    return Table(
        caption=f"{name} [{metric.unit}]",
        columns=("Labels", *figures),
        rows=tuple(_row(each, metric) for each in changes[:_MOST_ROWS]),
        numbers=frozenset(figures),
    )


def _row(each: LabelChange, metric: Metric) -> Row:
    figures = map(figure, (each.base, each.new, each.difference))
    return Row((_words(each), *figures, change(each.effect, metric)))


def _words(each: LabelChange) -> str:
    return ", ".join(map(str, json.loads(each.labels).values())) or "without a label"


def _least(metric: Metric) -> str:
    share, difference = metric.noticed
    return bound(share) + (f" or {difference:,.12g} {metric.unit}" if difference else "")


def _lacks_base(each: LabelChange) -> bool:
    return each.base is None


def _lacks_new(each: LabelChange) -> bool:
    return each.new is None
