"""The chart of every sample of one metric, by version and trial, as Vega-Lite."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

from lambdas.report.blocks import Chart, Row, Table
from lambdas.report.figures import figure
from lambdas.report.measured import Measurement
from lambdas.summary import VersionRate
from suites.model import Metric

Json = dict[str, Any]

# A version takes the width 1; its trials, each in its own lane, share what the margins leave.
_MARGIN = 0.1
_VERSION_WIDTH_EM = 4.5
# The page that shows the chart says what these colours are, in light and in dark.
_CONFIG = {
    "background": "transparent",
    "font": "system-ui, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "domainColor": "var(--line)",
        "gridColor": "var(--line)",
        "labelColor": "var(--ink)",
        "labelFontSize": 12,
        "titleColor": "var(--ink)",
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "ticks": False,
    },
}


def chart(
    metric: Metric, rates: Sequence[VersionRate], measurements: Sequence[Measurement]
) -> Chart | str:
    """Return the chart of a metric; a sentence if there is nothing to draw."""
    logged = [sample.value for measurement in measurements for sample in measurement.samples]
    values = [value for value in logged if value is not None]
    if not values:
        return f"No finite number was logged for {metric.name}, so there is no chart."
    low, high = _axis(values)
    caption = (
        f"{len(values)} samples of {metric.name}, by version and trial, in the order in which "
        f"each task logged them. The axis starts at {low:,.10g} {metric.unit}."
    )
    if len(values) < len(logged):
        caption += f" Not drawn: {len(logged) - len(values)}, which are no finite number."
    return Chart(
        caption=caption,
        spec={
            "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
            "width": "container",
            "height": 280,
            "autosize": {"type": "fit-x", "contains": "padding"},
            "config": _CONFIG,
            "encoding": {
                "x": _by_version([rate.version for rate in rates]),
                "y": {
                    "field": "value",
                    "type": "quantitative",
                    "title": f"{metric.name} [{metric.unit}]",
                    "scale": {"domain": [low, high]},
                    "axis": {"tickCount": 6, "domain": False},
                },
            },
            "layer": _layers(rates, measurements),
        },
        width=_VERSION_WIDTH_EM * (1 + len(rates)),
        table=_table(metric, measurements),
    )


def _axis(values: Sequence[float]) -> tuple[float, float]:
    """Return the ends of an axis: round figures a little way off the values, none below zero."""
    low, high = min(values), max(values)
    room = 0.08 * (high - low) or 0.05 * abs(high) or 1
    step = 10.0 ** math.floor(math.log10(room))
    return max(0.0, math.floor((low - room) / step) * step), math.ceil((high + room) / step) * step


def _by_version(versions: Sequence[str]) -> Json:
    return {
        "field": "x",
        "type": "quantitative",
        "title": None,
        "scale": {"domain": [0, len(versions)], "nice": False},
        "axis": {
            "values": [position + 0.5 for position in range(len(versions))],
            "labelExpr": f"{json.dumps(versions)}[floor(datum.value)]",
            "labelPadding": 8,
            "grid": False,
        },
    }


def _layers(rates: Sequence[VersionRate], measurements: Sequence[Measurement]) -> list[Json]:
    starts = {rate.version: position for position, rate in enumerate(rates)}
    width = (1 - 2 * _MARGIN) / max(rate.planned for rate in rates)
    samples: dict[bool, list[Json]] = {True: [], False: []}
    means: list[Json] = []
    for measurement in measurements:
        trial = measurement.trial
        lane = starts[trial.version] + _MARGIN + width * (trial.repetition - 1)
        samples[measurement.counts] += _points(measurement, lane, width)
        if measurement.counts and measurement.rate and measurement.rate.value is not None:
            means.append(_mean(f"trial {trial.trial}", measurement.rate.value, lane, width))
    versions = [
        _mean(rate.version, rate.value, starts[rate.version], 1)
        for rate in rates
        if rate.value is not None
    ]
    return [
        _rules("versions", versions, "var(--version)"),
        _marks("samples", samples[True], "circle", "var(--sample)"),
        _marks("left_out", samples[False], "cross", "var(--left-out)"),
        _rules("trials", means, "var(--trial)"),
    ]


def _points(measurement: Measurement, lane: float, width: float) -> Iterator[Json]:
    count = len(measurement.samples)
    logged = ((task, sample) for task, own in measurement.by_task() for sample in own)
    for position, (task, sample) in enumerate(logged):
        if sample.value is not None:
            yield {
                "x": round(lane + width * (position + 1) / (count + 1), 4),
                "value": sample.value,
                "version": measurement.trial.version,
                "trial": measurement.trial.trial,
                "task": task,
                "logged": sample.value_text,
            }


def _mean(of: str, value: float, start: float, width: float) -> Json:
    gap = 0.05 * width
    return {
        "x": round(start + gap, 4),
        "end": round(start + width - gap, 4),
        "value": value,
        "of": of,
        "mean": figure(value),
    }


def _marks(name: str, points: Sequence[Json], shape: str, color: str) -> Json:
    mark = {
        "type": "point", "shape": shape, "size": 50, "filled": True, "color": color, "opacity": 0.8
    }  # fmt: skip
    return _layer(name, points, mark, {"tooltip": _told("version", "trial", "task", "logged")})


def _rules(name: str, rules: Sequence[Json], color: str) -> Json:
    mark = {"type": "rule", "color": color, "strokeWidth": 2.5}
    return _layer(name, rules, mark, {"x2": {"field": "end"}, "tooltip": _told("of", "mean")})


def _layer(name: str, values: Sequence[Json], mark: Json, encoding: Json) -> Json:
    return {"name": name, "data": {"values": list(values)}, "mark": mark, "encoding": encoding}


def _told(*fields: str) -> list[Json]:
    return [{"field": field} for field in fields]


def _table(metric: Metric, measurements: Sequence[Measurement]) -> Table:
    return Table(
        caption=f"Every sample of {metric.name} in {metric.unit}, as it was logged",
        columns=("Trial", "Version", "Task", "Samples", "In the rate"),
        rows=tuple(
            Row(
                (
                    str(measurement.trial.trial),
                    measurement.trial.version,
                    str(task),
                    ", ".join(sample.value_text for sample in own) or "none",
                    "yes" if measurement.counts else "no",
                )
            )
            for measurement in measurements
            for task, own in measurement.by_task()
        ),
    )
