"""The rows of the log queries of a metric."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from tidemark.figures.load.histogram import Histogram, histogram, merged
from tidemark.model.labels import canonical
from tidemark.model.metric import Metric
from tidemark.model.refusal import Refused
from tidemark.model.results import Sample
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

    ``listed`` are the rows of its samples or of its histograms, ``began`` those of the jobs that
    the tasks began.

    Raises
    ------
    Refused
        If a row's figure or number of values is no number, or its histogram is none.

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
            Group(labels[key], answered[key], samples[key], merged(histograms[key]))
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
    text = row.get("histogram", "")
    try:
        values = histogram(text)
    except ValueError as error:
        sentence = f"{metric.histograms}.cwli: histogram {shown(text)} is not accepted"
        raise Refused(f"{sentence}; {error}") from None
    return Binned(row["@logStream"], _labels(metric, row), values)


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
