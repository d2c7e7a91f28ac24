"""Metrics and series: log queries of a test, and the figures made of them.

A metric names its queries, or else the form of its lines, such as ``rows=* ms=*``, from which
Tidemark writes them. A star stands for any text. The value is at the mark ``{value}``, or else at
the last star; it has no space in it. Any other name in braces is a label.
"""

import operator
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal, get_args

from pydantic import Field

from tidemark.model.base import Consistent, Frozen, Name
from tidemark.model.refusal import Problem, lone, problem
from tidemark.model.sentences import listed, shown, there_are
from tidemark.model.subject import Line

MORE_SERIES_COLUMNS = ("n",)
"""The column that a series' query may have, too: the number of values that ``value`` is of."""
MOST_POINTS = 600
"""The most points of a series that a trial keeps: 90 minutes have 540 of ten seconds each."""
_PLACE = ("@logStream", "at")


def _is_missing(value: object) -> bool:
    return value is None


class Series(Frozen):
    """A quantity of one test over time, which a chart shows."""

    name: Name
    """The name, in the form of ``active_users``."""
    unit: Line
    """The unit of the values, such as ``users``."""
    query: Name
    """The query: ``<query>.cwli`` beside the suite, or else in ``queries/logs``."""
    statistic: Literal["total", "mean", "max", "min", "p50", "p90", "p95", "p99"] = "total"
    """The figure of all log streams that have a value at the same time; a quantile comes from
    the [histograms](#histograms) of this time."""
    limit: float | None = Field(
        default=None, strict=True, allow_inf_nan=False, exclude_if=_is_missing
    )
    """The greatest accepted value, at which its chart has a line."""

    @property
    def of_histograms(self) -> bool:
        """Whether the query gives histograms, from which a quantile is read."""
        return self.statistic.startswith("p")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the query: a value or a histogram at a time, by log stream."""
        return (*_PLACE, "histogram" if self.of_histograms else "value")


# One answer of Logs Insights holds 10,000 rows; only fewer rows prove that none is missing.
MOST_SAMPLES = 9_999
MOST_VALUES = 1_000
"""The most values of a task that may log any number, unless its metric has another bound."""
MARGIN, SAME_WITHIN = 0.03, 0.05
"""The bounds of a metric's changes unless its suite has others, as shares."""
Share = Annotated[float, Field(strict=True, gt=0, le=0.5)]
PartOfOne = Annotated[float, Field(strict=True, gt=0, le=1)]
Bound = Annotated[float, Field(strict=True)] | Name
Quantile = Literal["p50", "p90", "p95", "p99"]
Statistic = Literal["mean", Quantile, "max", "min", "total", "count", "per_second"]
Basis = Literal["mean", "total", "max", "min"]
RATE_COLUMNS = ("@logStream", "value", "n")
"""The columns of a metric's query: a value and the number of finite values in it, by log stream."""
SAMPLE_COLUMNS = ("@timestamp", "@logStream", "value")
"""The columns of a metric's samples: each value as its line has it."""
MORE_SAMPLE_COLUMNS = ("job", "records", "seconds")
"""The columns that samples may have, too."""
BEGAN_COLUMNS = ("@logStream", "job")
"""The columns of the jobs that began: each as its line has it."""
HISTOGRAM_COLUMNS = ("@logStream", "histogram")
"""The columns of a metric's histograms: the buckets as their line has them, by log stream."""
_NO_LABELS = {*RATE_COLUMNS, *SAMPLE_COLUMNS, *MORE_SAMPLE_COLUMNS, *HISTOGRAM_COLUMNS}
_OF_BASIS: dict[Statistic, Basis] = {
    "max": "max", "min": "min", "total": "total", "per_second": "total",
}  # fmt: skip
_LEAST_CHANGE, _LEAST_MS = 0.01, 2.0
_MARK = re.compile(r"(\*|\{[a-z][a-z0-9_]*\})")
_VALUE = "{value}"
VALUES = "_values"
"""The end of the name of a query that gives all values of the lines."""
# The queries give these names to parts of a line.
_TAKEN = {"text", "number"}
# Statistics whose figures of tasks are merged otherwise than by their mean.
_FUNCTIONS = {"max": "max", "min": "min", "total": "sum", "per_second": "sum"}
_SPECIAL = re.compile(r"[\\^$.|?*+()\[\]{}/]")


def basis(statistic: Statistic) -> Basis:
    """Return the figure of a log stream that a metric's query gives for a statistic."""
    return _OF_BASIS.get(statistic, "mean")


def contradicting_bounds(margin: float, same_within: float) -> Iterator[Problem]:
    """Yield why the bounds of a metric's changes do not fit each other."""
    if same_within < margin:
        sentence = (
            "expected {:.12g}, the margin, or more: a change between both would have no verdict"
        )
        yield problem(("same_within",), sentence.format(margin))


class Metric(Consistent):
    """A metric of one test, which log queries read."""

    name: Name
    """The name, in the form of ``ingest_rate``."""
    unit: Line
    """The unit of the values, such as ``records/s``, ``ms`` or ``B``."""
    direction: Literal["higher", "lower"]
    """The better direction, ``higher`` or ``lower``."""
    log: Line | None = Field(default=None, exclude_if=operator.not_)
    """The [form of the lines](#lines) with the values, such as ``"rows=* ms=*"``: Tidemark writes
    the queries. It takes the place of ``query`` and ``samples``."""
    query: Name = Field(default="", exclude_if=operator.not_)
    """The query of the figures: ``<query>.cwli`` beside the suite, or else in ``queries/logs``.
    Without ``log`` it is required."""
    step: Name | None = Field(default=None, exclude_if=operator.not_)
    """The step whose tasks log the values, by default every step with ``run_tasks`` or
    ``find_tasks``."""
    samples: Name | None = None
    """The query of the values themselves, in the same places; quantiles need it, or histograms."""
    histograms: Name | None = Field(default=None, exclude_if=operator.not_)
    """The query of [histograms](#histograms) of the values, in the same places."""
    statistics: tuple[Statistic, ...] = Field(default=("mean",), min_length=1, max_length=10)
    """The [figures](#statistics) of a trial."""
    labels: tuple[Name, ...] = Field(default=(), max_length=8)
    """The columns of both queries that tell values apart, such as ``[operation]``."""
    most_labels: int | None = Field(default=None, strict=True, ge=1, le=MOST_SAMPLES)
    """The most combinations of labels that one task logs; a metric with labels needs it."""
    values: Literal["jobs", "once", "any"] = "jobs"
    """The number of values that each task logs: one for each of its ``jobs``, one ``once``, or
    ``any`` number, at least one. With ``log``, and without ``jobs`` of the test, it is ``any``."""
    values_at_most: int = Field(
        default=MOST_VALUES,
        strict=True,
        ge=1,
        le=MOST_SAMPLES,
        exclude_if=lambda most: most == MOST_VALUES,
    )
    """The most values that a task logs with ``values: any``, 1 to 9,999. A run has room for more
    trials of fewer values; a task that logs more fails its test."""
    once_in_round: bool = Field(default=False, strict=True, exclude_if=operator.not_)
    """Whether each version logs one value alone in a [round](tests.md#rounds), not one a slice."""
    began: Name | None = Field(default=None, exclude_if=operator.not_)
    """The query of the jobs that the tasks began, with the column ``job``, in the same places: all
    tasks together log one value for each of these jobs, in place of ``values``."""
    margin: Share = MARGIN
    """The least change that counts as slower or faster, as a share: 0.03 is 3 %."""
    same_within: Share = SAME_WITHIN
    """The largest change that counts as the same, as a share: 0.05 is ±5 %; at least ``margin``."""
    holds: dict[Statistic, Bound] = Field(default={}, exclude_if=operator.not_)
    """The worst accepted value of a statistic at which a [size](services.md#sizes) holds, such as
    ``{p99: 2000}``: a number, or the name of a parameter."""
    least_change: Share | None = Field(default=None, exclude_if=_is_missing)
    """The least change under a label that a comparison lists, as a share, by default 0.01."""
    least_difference: float | None = Field(default=None, ge=0, exclude_if=_is_missing)
    """The least difference under a label that a comparison lists, by default 2 ms, and 0 of other
    units."""
    work_from: PartOfOne | None = Field(default=None, exclude_if=_is_missing)
    """The least share, such as 0.8, that a report accepts without a word. The metric then is the
    share of work in the time of a test's jobs."""
    decides: bool = Field(default_factory=lambda fields: not fields["labels"], strict=True)
    """Whether the metric can stop a run and fail a pipeline; by default it can without labels."""

    @property
    def is_of_jobs(self) -> bool:
        """Whether each task logs a known number of values."""
        return self.values != "any" and self.began is None

    def values_of(self, jobs: int) -> int:
        """Return the number of values that a task with this number of jobs logs."""
        return 1 if self.values == "once" else jobs

    @property
    def is_cpu_time(self) -> bool:
        """Whether the metric is the CPU time of some work, in a unit such as CPU µs/record."""
        return self.unit.startswith("CPU ")

    @property
    def queries(self) -> tuple[str, ...]:
        """The queries that read the values, one to three."""
        named = (self.query, self.samples, self.histograms, self.began)
        return tuple(name for name in named if name)

    @property
    def noticed(self) -> tuple[float, float]:
        """The least change and the least difference under a label that a comparison lists."""
        difference = _LEAST_MS if self.unit == "ms" else 0.0
        return (
            _LEAST_CHANGE if self.least_change is None else self.least_change,
            difference if self.least_difference is None else self.least_difference,
        )

    def contradictions(self) -> Iterator[Problem]:
        """Yield why the fields do not fit each other; the places begin in the metric."""
        yield from self._unread()
        for name in ("statistics", "labels"):
            if len(set(getattr(self, name))) < len(getattr(self, name)):
                yield Problem(
                    (name,), f"{name}: an entry is given twice in {listed(getattr(self, name))}"
                )
        if unknown := [name for name in self.holds if name not in self.statistics]:
            known = there_are(self.statistics, unknown[0])
            yield problem(
                ("holds",), f"{listed(unknown)} is not a statistic of the metric; {known}"
            )
        if self.began and self.values == "any":
            yield problem(("began",), "the metric has values: any, too; expected one of both")
        yield from self._unreadable()
        yield from self._without_buckets()
        yield from contradicting_bounds(self.margin, self.same_within)
        if taken := [label for label in self.labels if label in _NO_LABELS]:
            yield Problem(("labels",), f"labels: {listed(taken)} is a column of every metric")
        yield from lone({
            "labels": bool(self.labels), "most_labels": self.most_labels is not None,
        })  # fmt: skip

    def _unread(self) -> Iterator[Problem]:
        """Yield why it is not known which lines have the values."""
        if not self.query:
            yield problem(("query",), 'required, but missing; or log, such as log: "rate=*"')
        if self.log is None:
            return
        if self.samples != f"{self.query}{VALUES}":
            yield problem(("log",), "the metric has a query or samples, too; expected log alone")
        if misfit := misfit_of(self.log):
            yield problem(("log",), f"{shown(self.log)} is not accepted; {misfit}")
        elif sorted(self.labels) != sorted(labels_of(self.log)):
            sentence = f"its form has {listed(labels_of(self.log)) or 'none'}"
            yield problem(("labels",), f"{sentence}; expected these labels, or leave labels out")

    def _without_buckets(self) -> Iterator[Problem]:
        """Yield why histograms cannot give the values of the metric."""
        if self.histograms is None:
            return
        if self.samples:
            yield problem(("histograms",), "the metric has samples, too; expected one of both")
        if self.values != "any":
            yield problem(("histograms",), "a task logs any number of values; expected values: any")
        if basis(self.statistics[0]) != "mean":
            sentence = f"the first statistic checks them, and is {self.statistics[0]}"
            yield problem(("histograms",), f"{sentence}; expected mean")

    def _unreadable(self) -> Iterator[Problem]:
        """Yield the statistics that need samples, of a metric without samples."""
        of_query = basis(self.statistics[0])
        needy = [
            statistic
            for statistic in self.statistics
            if (statistic in get_args(Quantile) and not self.histograms)
            or (statistic != "count" and basis(statistic) != of_query)
        ]
        if self.samples is None and needy:
            given = f"the query gives only the {of_query} of each log stream"
            advice = "set samples to the query of the values"
            sentence = f"statistics: {listed(needy)} needs samples, since {given}; {advice}"
            yield Problem(("statistics",), sentence)


def labels_of(line: str) -> list[str]:
    """Return the labels in the form of a line."""
    return [mark[1:-1] for mark in _MARK.findall(line) if mark not in {"*", _VALUE}]


def misfit_of(line: str) -> str:
    """Return why a text is not a form of a line, '' if it is one."""
    marks, labels = _MARK.findall(line), labels_of(line)
    if marks.count(_VALUE) > 1 or not {"*", _VALUE} & {*marks}:
        return "expected * in place of the value, once, or {value}"
    if not re.search(r"\w", _MARK.sub("", line)):
        return "every line has this form; expected a word of the line before the value"
    if twice := {*labels} & _TAKEN or {each for each in labels if labels.count(each) > 1}:
        return f"{{{min(twice)}}} is taken; expected another name"
    return ""


def queries_of(metric: Metric) -> Mapping[str, str]:
    """Return the queries of a metric's lines by name: the figures of each task, and all values."""
    assert metric.log
    assert metric.samples
    function = _FUNCTIONS.get(metric.statistics[0], "avg")
    by, columns = (
        ", ".join([*names, *metric.labels])
        for names in (["@logStream"], ["@timestamp", "@logStream", "value"])
    )
    figures = [
        f"# {metric.name} [{metric.unit}] of each task, from lines in the form of {metric.log}",
        "fields @message",
        f"| parse @message /{_pattern(metric.log, 'text')}/",
        "| filter ispresent(text)",
        r"| parse text /^(?<number>\d+(\.\d+)?)$/",
        f"| stats {function}(number) as value, count(number) as n by {by}",
    ]
    values = [
        f"# Every {metric.name} [{metric.unit}], from lines in the form of {metric.log}",
        "fields @message",
        f"| parse @message /{_pattern(metric.log, 'value')}/",
        "| filter ispresent(value)",
        f"| display {columns}",
        "| sort @timestamp asc",
        "| limit 10000",
    ]
    return {
        name: "".join(f"{line}\n" for line in lines)
        for name, lines in ((metric.query, figures), (metric.samples, values))
    }


def _pattern(line: str, value: str) -> str:
    """Return the regular expression of lines; its group with the name ``value`` holds the value."""
    texts, marks = _MARK.split(line)[::2], _MARK.findall(line)
    places = [at for at, mark in enumerate(marks) if mark == _VALUE]
    places += [at for at, mark in enumerate(marks) if mark == "*"][-1:]
    # A word of the line may end a longer one: ms=* is the form of neither max_ms=3 nor gc-ms=3.
    # Before a colon may be the name of a logger, as in INFO:root:ms=3.
    begin = r"(?:^|[^\w.\/-])" if re.match(r"\w", texts[0]) else ""
    pattern = f"{begin}{_plain(texts[0])}"
    for at, (mark, text) in enumerate(zip(marks, texts[1:], strict=True)):
        few = "?" if text or at + 1 < len(marks) else ""
        if at == places[0]:
            pattern += rf"(?<{value}>\S+{few})"
        else:
            pattern += f".*{few}" if mark == "*" else f"(?<{mark[1:-1]}>.+{few})"
        pattern += _plain(text)
    return pattern


def _plain(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text)
