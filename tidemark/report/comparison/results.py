"""The table of results: each metric of the base beside the same metric of the new version."""

from __future__ import annotations

from collections.abc import Iterable

from tidemark.figures.verdicts.version_verdicts import Verdict
from tidemark.model.labels import labelled_name
from tidemark.report.blocks import Row, Table
from tidemark.report.comparison.sides import Pair, Reading, Side, Sides
from tidemark.report.numbers import figure, percent
from tidemark.report.rule import rule

_EXPLANATION = (
    "Each figure is the mean over the trials of its version, ± their standard deviation; Δ is "
    "(new − base) / base of these means. The verdict: "
)
NOT_MEASURED = "not measured"


def table(sides: Sides, pairs: Iterable[Pair]) -> Table:
    """Return a row for each metric that either side has."""
    base, new = sides.base.name, sides.new.name
    means, scatter = (base, new, "Δ"), ("95 % interval", f"± of {base}", f"± of {new}")
    return Table(
        caption=f"Metrics of {base} (base) and {new} (new)",
        columns=("Test", "Metric", *means, "Verdict", *scatter, "Trials"),
        rows=tuple(_row(pair) for pair in pairs),
        numbers=frozenset((*means, *scatter)),
    )


def explanation(pairs: Iterable[Pair]) -> str:
    """Return what the figures and the verdicts of the table mean."""
    return _EXPLANATION + rule([pair.metric for pair in pairs])


def interval(verdict: Verdict) -> str:
    """Return the interval of a change in words, ``none`` without an interval."""
    low, high = verdict.judgement.low, verdict.judgement.high
    return "none" if low is None or high is None else f"{percent(low)} to {percent(high)}"


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
            f"{before.direction} was better for {sides.base.name}, {after.direction} is for "
            f"{sides.new.name}"
        )
    return ""


def _why_missing(pair: Pair, reading: Reading | None, side: Side) -> str:
    if reading is None:
        return f"the suite that measured {side.name} has no {pair.name}"
    if reading.values:
        return ""
    left_out = [each for each in reading.measurements if side.run.is_excluded(each.trial)]
    if not reading.measurements:
        axes = pair.quantity.axes
        without = " without axes" if side.run.plan.request.axes and not axes else ""
        return f"no trial of {labelled_name(side.name, axes)}{without} is recorded"
    if len(left_out) == len(reading.measurements):
        return f"every trial of {side.name} is left out on request"
    return f"no trial of {side.name} that counts gave a rate"


def _row(pair: Pair) -> Row:
    verdict = pair.verdict
    return Row(
        (
            pair.quantity.test,
            f"{pair.name} [{pair.metric.unit}]",
            _value(pair, pair.base),
            _value(pair, pair.new),
            percent(verdict.change) if verdict and verdict.change is not None else "none",
            verdict.judgement.word if verdict else "not comparable",
            interval(verdict) if verdict else "none",
            _spread(pair.base),
            _spread(pair.new),
            f"{_trials(pair.base)}, {_trials(pair.new)}",
        )
    )


def _value(pair: Pair, reading: Reading | None) -> str:
    if reading is None or not reading.values:
        return NOT_MEASURED
    unit = reading.metric.unit
    return figure(reading.rate.value) + (f" {unit}" if unit != pair.metric.unit else "")


def _spread(reading: Reading | None) -> str:
    if reading is None or not reading.values:
        return NOT_MEASURED
    return "one trial" if reading.rate.spread is None else figure(reading.rate.spread)


def _trials(reading: Reading | None) -> str:
    return f"{reading.rate.trials} of {reading.rate.planned}" if reading else NOT_MEASURED
