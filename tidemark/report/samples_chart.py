"""The chart of every sample of a metric, by version or side and by trial, as Vega-Lite."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tidemark.figures.version_rates import Quantity
from tidemark.model.numerals import counted
from tidemark.model.sentences import plural
from tidemark.pages import vega_lite
from tidemark.pages.vega_lite import Json, figures, layer, tooltip
from tidemark.report.blocks import Chart, Mark, Row, Table
from tidemark.report.run_report.measured import Measurement

# A column has the width 1; its trials share the width between the margins, one lane each.
_MARGIN = 0.1
_COLUMN_WIDTH_EM, _LETTER_EM = 4.5, 0.5  # the least width of a column, and of a letter of a name


class Column(NamedTuple):
    """A column of the chart: a version, or a side of a comparison."""

    name: str
    mean: float | None
    lanes: int
    """The number of planned trials."""
    measurements: Sequence[Measurement]


def chart(quantity: Quantity, columns: Sequence[Column]) -> Chart | str:
    """Return the chart of a quantity, or a sentence if there is nothing to draw."""
    name, unit = quantity.name, quantity.metric.unit
    measurements = [measurement for column in columns for measurement in column.measurements]
    logged = [sample.value for measurement in measurements for sample in measurement.samples]
    values = [value for value in logged if value is not None]
    rates = [each.counted for each in measurements if each.counted is not None]
    if not values and not rates:
        return f"There is no chart of {name}: no sample is a finite number, and no rate counts."
    low, high = _axis([*values, *rates])
    number = plural(len(values), "sample")
    drawn = f"{number} of {name}, by version and trial, in the order in which each task logged them"
    drawn = drawn if logged else f"{name} of each trial, by version"
    caption = f"{drawn}. The axis starts at {low:,.10g} {unit}."
    if len(values) < len(logged):
        caption += f" Not drawn: {len(logged) - len(values)} without a finite number."
    return Chart(
        caption=caption,
        spec=vega_lite.chart(
            height=280,
            encoding={
                "x": _by_column([column.name for column in columns]),
                "y": figures(
                    f"{name} [{unit}]",
                    {"tickCount": 6, "domain": False},
                    field="value",
                    scale={"domain": [low, high]},
                ),
            },
            layer=_layers(columns),
        ),
        width=_COLUMN_WIDTH_EM + sum(_width([column.name for column in columns])),
        table=(_samples if logged else _figures)(quantity, columns),
        legend=_legend(quantity.statistic, measurements),
    )


def _legend(statistic: str, measurements: Sequence[Measurement]) -> tuple[Mark, ...]:
    """Return the marks that the chart has."""
    counts = {each.counts for each in measurements if each.samples}
    samples = {
        True: Mark("var(--sample)", "●", "sample"),
        False: Mark("var(--left-out)", "✚", "sample that is not in the rate"),
    }
    return (
        *(mark for in_rate, mark in samples.items() if in_rate in counts),
        Mark("var(--trial)", "━", f"{statistic.replace('_', ' ')} of a trial"),
        Mark("var(--version)", "━", "mean of the version"),
    )


def _axis(values: Sequence[float]) -> tuple[float, float]:
    """Return the ends of an axis: round figures a little beyond the values.

    It is below zero only for values there.
    """
    low, high = min(values), max(values)
    room = 0.08 * (high - low) or 0.05 * abs(high) or 1
    step = 10.0 ** math.floor(math.log10(room))
    start, end = math.floor((low - room) / step) * step, math.ceil((high + room) / step) * step
    return (max(0.0, start) if low >= 0 else start), end


def _words(name: str) -> list[str]:
    """Return the lines of a column's name: the version, and the run if the name has one."""
    version, of, run = name.partition(" of ")
    return [f"{version}{of}", run] if run else [version]


def _width(names: Sequence[str]) -> Iterator[float]:
    """Yield the width at which the name of each column is legible [em]."""
    for name in names:
        yield max(_COLUMN_WIDTH_EM, _LETTER_EM * (2 + max(map(len, _words(name)))))


def _by_column(names: Sequence[str]) -> Json:
    lines = [_words(name) for name in names]
    axis = {
        "values": [position + 0.5 for position in range(len(names))],
        "labelExpr": f"{json.dumps(lines)}[floor(datum.value)]",
        "labelLimit": 0,
        "labelOverlap": False,
        "labelPadding": 8,
        "grid": False,
    }
    return figures(None, axis, field="x", scale={"domain": [0, len(names)], "nice": False})


def _layers(columns: Sequence[Column]) -> list[Json]:
    width = (1 - 2 * _MARGIN) / max(column.lanes for column in columns)
    samples: dict[bool, list[Json]] = {True: [], False: []}
    means: list[Json] = []
    for start, column in enumerate(columns):
        for measurement in column.measurements:
            trial = measurement.trial
            lane = start + _MARGIN + width * (trial.repetition - 1)
            samples[measurement.counts] += _points(column, measurement, lane, width)
            if measurement.counted is not None:
                means.append(_mean(f"trial {trial.trial}", measurement.counted, lane, width))
    versions = [
        _mean(column.name, column.mean, start, 1)
        for start, column in enumerate(columns)
        if column.mean is not None
    ]
    return [
        _rules("versions", versions, "var(--version)"),
        _marks("samples", samples[True], "circle", "var(--sample)"),
        _marks("left_out", samples[False], "cross", "var(--left-out)"),
        _rules("trials", means, "var(--trial)"),
    ]


def _points(column: Column, measurement: Measurement, lane: float, width: float) -> Iterator[Json]:
    count = len(measurement.samples)
    logged = ((task, sample) for task, samples in measurement.by_task() for sample in samples)
    for position, (task, sample) in enumerate(logged):
        if sample.value is not None:
            yield {
                "x": round(lane + width * (position + 1) / (count + 1), 4),
                "value": sample.value,
                "version": column.name,
                "trial": measurement.trial.trial,
                "task": task,
                "logged": sample.value_text,
            }


def _mean(label: str, value: float, start: float, width: float) -> Json:
    gap = 0.05 * width
    return {
        "x": round(start + gap, 4),
        "end": round(start + width - gap, 4),
        "value": value,
        "of": label,
        "mean": counted(value),
    }


def _marks(name: str, points: Sequence[Json], shape: str, color: str) -> Json:
    mark = {
        "type": "point", "shape": shape, "size": 50, "filled": True, "color": color, "opacity": 0.8
    }  # fmt: skip
    return layer(name, points, mark, {"tooltip": tooltip("version", "trial", "task", "logged")})


def _rules(name: str, rules: Sequence[Json], color: str) -> Json:
    mark = {"type": "rule", "color": color, "strokeWidth": 2.5}
    return layer(name, rules, mark, {"x2": {"field": "end"}, "tooltip": tooltip("of", "mean")})


def _samples(quantity: Quantity, columns: Sequence[Column]) -> Table:
    return Table(
        caption=f"Every sample of {quantity.name} in {quantity.metric.unit}, as it was logged",
        columns=("Trial", "Version", "Task", "Samples", "In the rate"),
        rows=tuple(
            Row(
                (
                    str(measurement.trial.trial),
                    column.name,
                    str(task),
                    ", ".join(sample.value_text for sample in samples) or "none",
                    "yes" if measurement.counts else "no",
                )
            )
            for measurement, column in _by_trial(columns)
            for task, samples in measurement.by_task()
        ),
    )


def _figures(quantity: Quantity, columns: Sequence[Column]) -> Table:
    name = f"{quantity.statistic} [{quantity.metric.unit}]"
    return Table(
        caption=f"{quantity.name} of each trial",
        columns=("Trial", "Version", name),
        rows=tuple(
            Row((str(each.trial.trial), column.name, counted(each.counted)))
            for each, column in _by_trial(columns)
        ),
        numbers=frozenset({name}),
    )


def _by_trial(columns: Sequence[Column]) -> list[tuple[Measurement, Column]]:
    return sorted(
        ((measurement, column) for column in columns for measurement in column.measurements),
        key=lambda pair: pair[0].trial.trial,
    )
