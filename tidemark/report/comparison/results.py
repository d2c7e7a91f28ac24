"""The table of results: each metric of the base beside the same metric of the new version."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tidemark.model.labels import labelled_name
from tidemark.model.numerals import MISSING, NONE, change, figure, interval
from tidemark.model.sentences import part_of, plural
from tidemark.report.blocks import Block, Details, Row, Table
from tidemark.report.comparison import changes_chart
from tidemark.report.comparison.sides import Pair, Reading, Side, Sides
from tidemark.report.label_columns import label_cells, label_columns, without_labels
from tidemark.report.marks import marked
from tidemark.report.rule import rule

_EXPLANATION = (
    "Δ is the change that the verdict judges: of new / base, the geometric mean over the pairs of "
    "trials, or over all trials if different runs measured both. Its sign is that of the figure: a "
    "latency that rises has a Δ above zero, and is worse. The mean of a version is that of all of "
    "its trials that count, ± their standard deviation; Δ is not the change of these means. "
)
# All of RocksDB. With more rows, a comment would have more than 24 lines before its first fold.
_MOST_AT_ONCE = 6


def blocks(sides: Sides, pairs: Sequence[Pair]) -> Iterator[Block]:
    """Yield the chart of changes, the table of the metrics that matter most, and the other metrics.

    ``pairs`` have the changes first, and among them the metrics that decide.
    """
    first, others = pairs[:_MOST_AT_ONCE], pairs[_MOST_AT_ONCE:]
    changes = [change for change in map(_change, pairs) if change]
    yield changes_chart.chart(changes, len(pairs), _table(sides, first))
    if others:
        yield Details(plural(len(others), "more metric"), (_table(sides, others),))
    yield Details("All digits, spreads and trials", (_figures(sides, pairs),))
    yield Details("How to read the figures", (_explanation(pairs),))


def _change(pair: Pair) -> changes_chart.DrawnChange | None:
    """Return the change of a metric, None without one."""
    if pair.verdict is None or pair.effect is None:
        return None
    judgement, metric = pair.verdict.judgement, pair.metric
    return changes_chart.DrawnChange(
        title=pair.title,
        unit=metric.unit,
        direction=metric.direction,
        verdict=pair.word,
        effect=pair.effect,
        low=judgement.low,
        high=judgement.high,
    )


def _table(sides: Sides, pairs: Sequence[Pair]) -> Table:
    """Return the table of changes, in the digits that their intervals and spreads support."""
    base, new = sides.base.name, sides.new.name
    figures = ("Δ", "95 % interval", *_means(sides))
    labels = label_columns(pair.quantity for pair in pairs)
    return Table(
        caption=f"Changes from {base} to {new}",
        columns=("Metric", *labels, "Verdict", *figures),
        rows=tuple(_short_row(pair, labels) for pair in pairs),
        numbers=frozenset(figures),
    )


def _short_row(pair: Pair, labels: Sequence[str]) -> Row:
    judgement = pair.verdict and pair.verdict.judgement
    return Row(
        (
            f"{without_labels(pair.quantity).title} [{pair.metric.unit}]",
            *label_cells(pair.quantity, labels),
            marked(pair.word),
            change(pair.effect, pair.metric, pair.places),
            interval(judgement, pair.metric, pair.places) if judgement else NONE,
            _short(pair, pair.base),
            _short(pair, pair.new),
        )
    )


def _short(pair: Pair, reading: Reading | None) -> str:
    if reading is None or reading.rate.value is None:
        return MISSING
    return f"{reading.text}{_other_unit(pair, reading)}"


def _figures(sides: Sides, pairs: Sequence[Pair]) -> Table:
    base, new = sides.base.name, sides.new.name
    figures = ("Δ", "95 % interval", *_means(sides), f"± of {base}", f"± of {new}")
    labels = label_columns(pair.quantity for pair in pairs)
    return Table(
        caption=f"Metrics of {base} (base) and {new} (new)",
        columns=("Test", "Metric", *labels, "Verdict", *figures, "Trials"),
        rows=tuple(_row(pair, labels) for pair in pairs),
        numbers=frozenset(figures),
    )


def _means(sides: Sides) -> tuple[str, ...]:
    return tuple(f"Mean of {side.name}" for side in sides.both)


def _explanation(pairs: Iterable[Pair]) -> str:
    return _EXPLANATION + rule([pair.metric for pair in pairs])


def why_incomparable(pair: Pair, sides: Sides) -> str:
    """Return why both sides of a metric cannot be compared, '' if they can."""
    reasons = [
        why for reading, side in sides.readings(pair) if (why := _why_missing(pair, reading, side))
    ]
    if reasons:
        return "; ".join(reasons)
    assert pair.base
    assert pair.new
    before, after = pair.base.metric, pair.new.metric
    if before.unit != after.unit:
        return (
            f"its unit is {before.unit} for {sides.base.name} and {after.unit} for {sides.new.name}"
        )
    if before.direction != after.direction:
        return (
            f"{before.direction} is better for {sides.base.name}, {after.direction} for "
            f"{sides.new.name}"
        )
    return ""


def _why_missing(pair: Pair, reading: Reading | None, side: Side) -> str:
    if reading is None:
        lacks = f"no {pair.quantity.name_in_test} of {pair.quantity.test}"
        measured = f"the suite that measured {side.name} has {lacks}"
        return f"{lacks} of {side.name} is published" if side.run.plan.imported else measured
    if reading.values:
        return ""
    axes, measurements = pair.quantity.axes, reading.measurements
    name = labelled_name(side.name, axes)
    left_out = [each for each in measurements if side.run.is_excluded(each.trial)]
    if not measurements:
        without = " without axes" if side.run.plan.request.axes and not axes else ""
        return f"no trial of {name}{without} is recorded"
    if len(left_out) == len(measurements):
        return f"every trial of {name} is left out on request"
    if {each.trial.status for each in measurements} == {"failed"}:
        count = len(measurements)
        return f"{part_of(count, count, 'trial')} of {name} failed"
    return f"no trial of {name} that counts has this rate"


def _row(pair: Pair, labels: Sequence[str]) -> Row:
    verdict = pair.verdict
    return Row(
        (
            pair.quantity.test,
            f"{without_labels(pair.quantity).name_in_test} [{pair.metric.unit}]",
            *label_cells(pair.quantity, labels),
            marked(pair.word),
            change(pair.effect, pair.metric),
            interval(verdict.judgement, pair.metric) if verdict else NONE,
            _value(pair, pair.base),
            _value(pair, pair.new),
            _spread(pair.base),
            _spread(pair.new),
            f"{_trials(pair.base)}, {_trials(pair.new)}",
        )
    )


def _value(pair: Pair, reading: Reading | None) -> str:
    if reading is None or not reading.values:
        return MISSING
    return f"{figure(reading.rate.value)}{_other_unit(pair, reading)}"


def _other_unit(pair: Pair, reading: Reading) -> str:
    """Return the unit of a reading if the pair has another."""
    unit = reading.metric.unit
    return f" {unit}" if unit != pair.metric.unit else ""


def _spread(reading: Reading | None) -> str:
    if reading is None or not reading.values:
        return MISSING
    return "one trial" if reading.rate.spread is None else figure(reading.rate.spread)


def _trials(reading: Reading | None) -> str:
    return f"{reading.rate.trials} of {reading.rate.planned}" if reading else MISSING
