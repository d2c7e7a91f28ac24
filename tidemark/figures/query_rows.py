"""The rows of the log queries of metrics and of series."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import NamedTuple, TypeVar

from tidemark.figures.trial_statistics import (
    QUANTILES,
    Histogram,
    histogram,
    histogram_quantile,
    merged_histogram,
    of_streams,
)
from tidemark.model.labels import canonical
from tidemark.model.metric import MOST_POINTS, Metric, Series
from tidemark.model.refusal import Refused
from tidemark.model.results import MeasuredSeries, Point, Sample
from tidemark.model.sentences import shortened, shown

Row = Mapping[str, str]
Labels = Mapping[str, str]
_LONGEST_TEXT = 200  # [B]; a system may log a job, a label or a value of any length


class Answered(NamedTuple):
    """A row of a metric's query: a figure of the values of one log stream and its labels."""

    stream: str
    labels: Labels
    value: Decimal | None
    """The figure as printed; None for no finite number, which a text of 400 digits leaves."""
    n: int
    """The number of values."""


class Binned(NamedTuple):
    """A histogram of one log stream and its labels."""

    stream: str
    labels: Labels
    values: Histogram


class Group(NamedTuple):
    """The rows of a metric under the same labels."""

    labels: Labels
    answered: Sequence[Answered]
    samples: Sequence[Sample]
    histogram: Histogram
    """The histogram of all values, empty if the metric has none."""


class MetricRows:
    """The rows of the queries of one metric, over the log streams of its tasks, or of all tasks.

    ``listed`` are the rows of its samples or of its histograms, ``began`` the rows of the jobs that
    the tasks began.

    Raises
    ------
    Refused
        If a row's figure or number of values is not a number, or its histogram cannot be read.

    """

    def __init__(
        self,
        metric: Metric,
        rows: Sequence[Row],
        listed: Sequence[Row],
        streams: Collection[str] | None = None,
        began: Sequence[Row] = (),
    ) -> None:
        self.metric = metric
        self.began = list(dict.fromkeys(shortened(row["job"], _LONGEST_TEXT) for row in began))
        self._streams = streams
        self.answered = [_answered(metric, row) for row in rows]
        self.histograms = [_binned(metric, row) for row in listed] if metric.histograms else []
        sample_rows = [] if metric.histograms else listed
        self.samples = [_sample(metric, row) for row in sample_rows]
        self._listed = Counter(sample.log_stream for sample in self.samples)
        for each in self.histograms:
            self._listed[each.stream] += sum(each.values.values())
        self._not_finite = Counter(one.log_stream for one in self.samples if one.value is None)
        self._n: Counter[str] = Counter()
        for row in self.answered:
            self._n[row.stream] += row.n
        jobs = Counter((row["@logStream"], row["job"]) for row in sample_rows if "job" in row)
        self._repeated = [job for job, lines in jobs.items() if lines > 1]

    @property
    def lines_of_any_number(self) -> int:
        """The lines of all queries, 0 for a metric whose number of values is known."""
        if self.metric.is_of_jobs:
            return 0
        return self._n.total() + self._listed.total() + len(self.began)

    @property
    def names_jobs(self) -> bool:
        """Whether each value is listed with its job."""
        listed = self.metric.samples is not None
        return listed and all(sample.job is not None for sample in self.samples)

    def has(self, stream: str) -> bool:
        """Tell whether a log stream is of the metric's tasks."""
        return self._streams is None or stream in self._streams

    def lines(self, stream: str) -> tuple[int, int]:
        """Return the fewest and the most values that the queries found in a stream.

        The query of the metric counts only finite numbers.
        """
        n = self._n[stream]
        if self.metric.samples is None and self.metric.histograms is None:
            return n, n
        listed = self._listed[stream]
        counted = n if n > listed else min(listed, n + self._not_finite[stream])
        return min(counted, listed), max(counted, listed)

    def repeated_jobs(self, stream: str) -> list[str]:
        """Return the jobs with more than one value in a stream."""
        return [job for its_stream, job in self._repeated if its_stream == stream]

    def groups(self) -> list[Group]:
        """Return the rows by their labels, in order; a metric without labels has one group."""
        labels: dict[str, Labels] = {} if self.metric.labels else {"": {}}
        answered: defaultdict[str, list[Answered]] = defaultdict(list)
        samples: defaultdict[str, list[Sample]] = defaultdict(list)
        histograms: defaultdict[str, list[Histogram]] = defaultdict(list)
        for row in self.answered:
            answered[canonical(row.labels)].append(row)
            labels[canonical(row.labels)] = row.labels
        for sample in self.samples:
            samples[canonical(sample.labels)].append(sample)
            labels[canonical(sample.labels)] = sample.labels
        for each in self.histograms:
            histograms[canonical(each.labels)].append(each.values)
            labels[canonical(each.labels)] = each.labels
        return [
            Group(labels[key], answered[key], samples[key], merged_histogram(histograms[key]))
            for key in sorted(labels)
        ]


def _answered(metric: Metric, row: Row) -> Answered:
    text = row.get("value", "NaN")
    try:
        value, n = Decimal(text), int(row.get("n", ""))
    except (InvalidOperation, ValueError):
        raise _refusal(metric, row) from None
    known = value if value.is_finite() else None
    if n and known is None and metric.samples is None:
        raise _refusal(metric, row)
    return Answered(row["@logStream"], _labels(metric, row), known, n)


def _refusal(metric: Metric, row: Row) -> Refused:
    value, n = shown(row.get("value", "")), shown(row.get("n", ""))
    return Refused(
        f"{metric.query}.cwli: value {value} with n {n} is not accepted; "
        "expected a number, and the number of values that it is made of"
    )


def _binned(metric: Metric, row: Row) -> Binned:
    values = _histogram(metric.histograms, row)
    return Binned(row["@logStream"], _labels(metric, row), values)


def _histogram(query: str | None, row: Row) -> Histogram:
    text = row.get("histogram", "")
    try:
        return histogram(text)
    except ValueError as error:
        sentence = f"{query}.cwli: histogram {shown(text)} is not accepted; {error}"
        raise Refused(sentence) from None


def _sample(metric: Metric, row: Row) -> Sample:
    return Sample(
        metric=metric.name,
        log_stream=row["@logStream"],
        logged_at=row["@timestamp"],
        job=shortened(row["job"], _LONGEST_TEXT) if "job" in row else None,
        value_text=shortened(row.get("value", ""), _LONGEST_TEXT),
        value=_finite(row.get("value", "")),
        records=int(row["records"]) if row.get("records", "").isdecimal() else None,
        seconds=_finite(row["seconds"]) if "seconds" in row else None,
        labels=_labels(metric, row),
    )


def _labels(metric: Metric, row: Row) -> dict[str, str]:
    """Return the labels of a row; a label that its line does not have is ''."""
    return {label: shortened(row.get(label, ""), _LONGEST_TEXT) for label in metric.labels}


def _finite(text: str) -> float | None:
    """Return the number that metrics' queries also read from a text, None for any other text."""
    number = float(text) if re.fullmatch(r"\d+(\.\d+)?", text) else math.inf
    # A text of about three hundred digits or more becomes infinity.
    return number if math.isfinite(number) else None


T = TypeVar("T")


def measured_series(series: Series, rows: Sequence[Row]) -> MeasuredSeries:
    """Return the values of a series in order of time, the values of all log streams together.

    There are at most ``MOST_POINTS``.

    Raises
    ------
    Refused
        If a row has no time, a value or ``n`` is not a number, or a histogram cannot be read.

    """
    by_time: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_time[_time(series, row)].append(row)
    figure = _quantile if series.of_histograms else _merged
    times = _thinned(sorted(by_time), MOST_POINTS)
    points = tuple(Point(at=at, value=figure(series, by_time[at])) for at in times)
    return MeasuredSeries(name=series.name, unit=series.unit, points=points)


def _thinned(points: Sequence[T], most: int) -> Sequence[T]:
    """Return points, or an even choice with the first and the last if there are too many."""
    if len(points) <= most:
        return points
    step = (len(points) - 1) / (most - 1)
    return [points[round(number * step)] for number in range(most)]


def _merged(series: Series, rows: Sequence[Row]) -> float:
    figures = [(_value(series, row), _n(series, row)) for row in rows]
    return of_streams(series.statistic, figures, None)


def _quantile(series: Series, rows: Sequence[Row]) -> float:
    values = merged_histogram(_histogram(series.query, row) for row in rows)
    return histogram_quantile(values, QUANTILES[series.statistic]).value


def _time(series: Series, row: Row) -> str:
    text = row.get("at", "")
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise _refused(series, "at", text, "a time, such as bin(1s) or @timestamp gives") from None
    return text


def _value(series: Series, row: Row) -> float:
    text = row.get("value", "")
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise _refused(series, "value", text, "a finite number")
    return value


def _n(series: Series, row: Row) -> int:
    """Return the number of values that a value is of; each counts as one if the query has none."""
    text = row.get("n", "1")
    if not text.isdecimal() or not int(text):
        raise _refused(series, "n", text, "a whole number above 0")
    return int(text)


def _refused(series: Series, column: str, text: str, accepted: str) -> Refused:
    sentence = f"{series.query}.cwli: {column} {shown(text)} is not accepted; expected {accepted}"
    return Refused(sentence)
