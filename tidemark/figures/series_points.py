"""The points of a series, from the rows of its log query."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime

from tidemark.figures.statistic import of_samples
from tidemark.model.refusal import Refused
from tidemark.model.results import MeasuredSeries, Point
from tidemark.model.sentences import shown
from tidemark.model.series import Series


def measured_series(series: Series, rows: Sequence[Mapping[str, str]]) -> MeasuredSeries:
    """Return the values of a series in order of time, those of all log streams in one.

    Raises
    ------
    Refused
        If a row has no time, or a value that is no finite number.

    """
    by_time: defaultdict[str, list[float]] = defaultdict(list)
    for row in rows:
        by_time[_time(series, row)].append(_value(series, row))
    points = tuple(
        Point(at=at, value=of_samples(series.statistic, by_time[at], None))
        for at in sorted(by_time)
    )
    return MeasuredSeries(name=series.name, unit=series.unit, points=points)


def _time(series: Series, row: Mapping[str, str]) -> str:
    text = row.get("at", "")
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise _refusal(series, "at", text, "a time, such as bin(1s) or @timestamp gives") from None
    return text


def _value(series: Series, row: Mapping[str, str]) -> float:
    text = row.get("value", "")
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise _refusal(series, "value", text, "a finite number")
    return value


def _refusal(series: Series, column: str, text: str, accepted: str) -> Refused:
    sentence = f"{series.query}.cwli: {column} {shown(text)} is not accepted; expected {accepted}"
    return Refused(sentence)
