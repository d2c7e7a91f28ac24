"""The points of a series, from the rows of its log query."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TypeVar

from tidemark.figures.load.histogram import Histogram, histogram, merged, quantile
from tidemark.figures.statistic import QUANTILES, of_streams
from tidemark.model.metric import MOST_POINTS, Series
from tidemark.model.refusal import Refused
from tidemark.model.results import MeasuredSeries, Point
from tidemark.model.sentences import shown

Row = Mapping[str, str]
T = TypeVar("T")


def measured_series(series: Series, rows: Sequence[Row]) -> MeasuredSeries:
    """Return the values of a series in order of time, those of all log streams in one.

    There are at most ``MOST_POINTS``.

    Raises
    ------
    Refused
        If a row has no time, a value or an ``n`` that is no number, or a histogram that is none.

    """
    by_time: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_time[_time(series, row)].append(row)
    figure = _quantile if series.of_histograms else _merged
    times = thinned(sorted(by_time), MOST_POINTS)
    points = tuple(Point(at=at, value=figure(series, by_time[at])) for at in times)
    return MeasuredSeries(name=series.name, unit=series.unit, points=points)


def thinned(points: Sequence[T], most: int) -> Sequence[T]:
    """Return points, or an even choice with the first and the last if there are too many."""
    if len(points) <= most:
        return points
    step = (len(points) - 1) / (most - 1)
    return [points[round(number * step)] for number in range(most)]


def _merged(series: Series, rows: Sequence[Row]) -> float:
    figures = [(_value(series, row), _n(series, row)) for row in rows]
    return of_streams(series.statistic, figures, None)


def _quantile(series: Series, rows: Sequence[Row]) -> float:
    return quantile(
        merged(_histogram(series, row) for row in rows), QUANTILES[series.statistic]
    ).value


def _time(series: Series, row: Row) -> str:
    text = row.get("at", "")
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise _refusal(series, "at", text, "a time, such as bin(1s) or @timestamp gives") from None
    return text


def _value(series: Series, row: Row) -> float:
    text = row.get("value", "")
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise _refusal(series, "value", text, "a finite number")
    return value


def _n(series: Series, row: Row) -> int:
    """Return the number of values that a value is of; each counts as one if the query has none."""
    text = row.get("n", "1")
    if not text.isdecimal() or not int(text):
        raise _refusal(series, "n", text, "a whole number above 0")
    return int(text)


def _histogram(series: Series, row: Row) -> Histogram:
    text = row.get("histogram", "")
    try:
        return histogram(text)
    except ValueError as error:
        sentence = f"{series.query}.cwli: histogram {shown(text)} is not accepted; {error}"
        raise Refused(sentence) from None


def _refusal(series: Series, column: str, text: str, accepted: str) -> Refused:
    sentence = f"{series.query}.cwli: {column} {shown(text)} is not accepted; expected {accepted}"
    return Refused(sentence)
