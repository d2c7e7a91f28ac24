"""The rates of a test, from the rows of its log queries, and why there are none."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from tidemark.figures.query_rows import Answered, Group, MetricRows
from tidemark.figures.trial_statistics import (
    QUANTILES,
    histogram_mean,
    histogram_quantile,
    histogram_text,
    merged,
    of_samples,
    of_streams,
)
from tidemark.model.labels import canonical, figure_name
from tidemark.model.metric import MOST_SAMPLES, Basis, Metric, Statistic, basis
from tidemark.model.results import Rate, Sample, TaskResult
from tidemark.model.sentences import plural, shown

# One per picosecond: a greater rate of anything is an error of units or of counting.
_FASTEST = 1e12
# The largest accepted difference between the clocks of a task and of ECS.
_CLOCK_SECONDS = 1.0
# Sums of floating-point numbers differ by less, in whatever order they are added.
_ROUNDING = 1e-9


def missing(
    rows: Sequence[MetricRows], tasks: Sequence[TaskResult], streams: Mapping[str, str], jobs: int
) -> list[str]:
    """Return a sentence for each task that ended well without logging all its values.

    Each job that the tasks began without logging its value has a sentence, too.
    """
    return [*_missing_of_tasks(rows, tasks, streams, jobs), *_missing_of_jobs(rows)]


def _missing_of_jobs(rows: Sequence[MetricRows]) -> Iterator[str]:
    for metric in (each for each in rows if each.metric.began):
        name, lines = metric.metric.name, sum(row.n for row in metric.answered)
        if not metric.began:
            yield f"the tasks began no job of {name}"
        elif metric.names_jobs:
            logged = {sample.job for sample in metric.samples}
            for job in (job for job in metric.began if job not in logged):
                yield f"job {job} began and logged no {name}"
        elif lines < len(metric.began):
            began = plural(len(metric.began), "job")
            yield f"the tasks began {began} and logged {plural(lines, 'line')} of {name}"


def _missing_of_tasks(
    rows: Sequence[MetricRows], tasks: Sequence[TaskResult], streams: Mapping[str, str], jobs: int
) -> list[str]:
    return [
        f"task {task.index} ({task.task_id}) logged {why}"
        for task in tasks
        if task.status == "ok" and task.task_id is not None
        for metric in rows
        if metric.metric.began is None
        and metric.has(streams[task.task_id])
        and (why := _why_missing(metric, streams[task.task_id], jobs))
    ]


def _why_missing(rows: MetricRows, stream: str, jobs: int) -> str:
    fewest, most = rows.lines(stream)
    if rows.metric.values != "any":
        wanted = rows.metric.values_of(jobs)
        return f"{fewest} of {wanted} lines of {rows.metric.name}" if fewest < wanted else ""
    if fewest == most:
        form = f" in the form of {shown(rows.metric.log)}" if rows.metric.log else ""
        return "" if fewest else f"no line of {rows.metric.name}{form}"
    return f"lines of {rows.metric.name} that one query counts as {fewest}, the other as {most}"


def surplus(
    rows: Sequence[MetricRows], tasks: Sequence[TaskResult], streams: Mapping[str, str], jobs: int
) -> list[str]:
    """Return a sentence for each surplus of values that a task logged."""
    sentences = [*_surplus_of_jobs(rows), *_above_bounds(rows, tasks, streams)]
    counted = [metric for metric in rows if metric.metric.values != "any"]
    for task in (task for task in tasks if task.task_id is not None):
        for metric in counted:
            stream, name = streams[task.task_id or ""], metric.metric.name
            subject = f"task {task.index} ({task.task_id}) logged"
            _, most = metric.lines(stream)
            wanted = metric.metric.values_of(jobs)
            if metric.metric.is_of_jobs and most > wanted:
                sentences.append(f"{subject} {most} lines of {name}, not {wanted}")
            repeated = metric.repeated_jobs(stream)
            sentences += [f"{subject} job {job} twice in {name}" for job in repeated]
    return sentences


def _above_bounds(
    rows: Sequence[MetricRows], tasks: Sequence[TaskResult], streams: Mapping[str, str]
) -> Iterator[str]:
    """Yield a sentence for each task that logged more values of any number than a run has room for.

    Only values that are listed one by one take room.
    """
    bounded = [each for each in rows if each.metric.values == "any" and each.metric.samples]
    for task in (task for task in tasks if task.task_id is not None):
        for metric in bounded:
            name, bound = metric.metric.name, metric.metric.values_at_most
            _, most = metric.lines(streams[task.task_id or ""])
            if most > bound:
                yield (
                    f"task {task.index} ({task.task_id}) logged {most:,} lines of {name}, above "
                    f"its values_at_most, {bound:,}; raise it, up to {MOST_SAMPLES:,}"
                )


def _surplus_of_jobs(rows: Sequence[MetricRows]) -> Iterator[str]:
    for metric in (each for each in rows if each.metric.began):
        name, counted = metric.metric.name, sum(row.n for row in metric.answered)
        if counted > len(metric.began):
            began = plural(len(metric.began), "job")
            yield f"the tasks logged {plural(counted, 'line')} of {name}, and began {began}"


def differing(rows: MetricRows) -> list[str]:
    """Return a sentence for each figure of the query that differs from the figure of its values.

    The values are samples, or lie in the buckets of histograms.

    The precision in which Logs Insights prints a figure is not documented: a difference counts if
    it is greater than the last printed digit.
    """
    metric = rows.metric
    if metric.samples is None and metric.histograms is None:
        return []
    source = "histograms" if metric.histograms else "samples"
    return [
        f"{_name(metric, group, kind)}: {answer} by its query, {own} by its {source}"
        for kind in [basis(metric.statistics[0])]
        for group in rows.groups()
        for answer, own in _differences(kind, group)
    ]


def _differences(kind: Basis, group: Group) -> Iterator[tuple[str, str]]:
    """Yield the query's figure and the values' own, if all values are numbers and they differ."""
    answered = [row for row in group.answered if row.n]
    printed = [row.value for row in answered if row.value is not None]
    values, n = _finite(group.samples), sum(row.n for row in answered)
    if len(values) < len(group.samples):
        return  # another sentence says that some are not numbers
    count = len(values) + sum(group.histogram.values())
    if n != count:
        yield f"{n} values", f"{count}"
        return
    own, error = _own(kind, group, values) if count else (0.0, 0.0)
    if len(printed) < len(answered):
        yield "no number", f"{own:.12g}"
    elif n:
        answer = merged(kind, _figures(answered))
        if abs(answer - own) > max(_last_digit(kind, printed), _ROUNDING * abs(own)) + error:
            yield f"{answer:.12g}", f"{own:.12g}"


def _own(kind: Basis, group: Group, values: Sequence[float]) -> tuple[float, float]:
    """Return the figure of the values, and the most by which it may be wrong."""
    return (
        histogram_mean(group.histogram)
        if group.histogram
        else (of_samples(kind, values, None), 0.0)
    )


def _last_digit(kind: Basis, printed: Sequence[Decimal]) -> float:
    """Return the last digit of a figure of printed figures, as a number."""
    digits = [10.0 ** int(value.as_tuple().exponent) for value in printed]
    return sum(digits) if kind == "total" else max(digits)


def _figures(answered: Sequence[Answered]) -> list[tuple[float, int]]:
    return [(float(row.value), row.n) for row in answered if row.value is not None and row.n]


def impossible(
    rows: MetricRows, tasks: Sequence[TaskResult], streams: Mapping[str, str]
) -> list[str]:
    """Return a sentence for each impossible rate per second, with its task and the reason.

    The sentences are in the order of the tasks, without repeats. Values of other units may be any
    number.
    """
    if not rows.metric.unit.endswith("/s"):
        return []
    by_stream = {streams[task.task_id]: task for task in tasks if task.task_id}
    logged = [(by_stream[sample.log_stream], sample) for sample in rows.samples]
    sentences = [
        f"task {task.index} ({task.task_id}) logged {sample.value:g} {rows.metric.unit} of "
        f"{sample.metric}, {why}"
        for task, sample in sorted(logged, key=lambda pair: pair[0].index)
        if (why := _why_impossible(sample, task, rows.metric.direction))
    ]
    return list(dict.fromkeys(sentences))


def _why_impossible(sample: Sample, task: TaskResult, direction: str) -> str | None:
    if sample.value is None:
        return None
    if sample.value <= 0:
        # Work takes time, so its rate is above zero; a rate of errors may be zero.
        return None if direction == "lower" else "which is not a rate"
    if sample.value > _FASTEST:
        return "which no machine does"
    longest = task.seconds + _CLOCK_SECONDS
    if task.started_at and sample.records and sample.records / sample.value > longest:
        return f"at which {sample.records} records take longer than the task ran"
    return None


def rates(
    rows: MetricRows,
    *,
    expected: int,
    whole: bool,
    seconds: float | None = None,
    in_round: bool = False,
) -> list[Rate]:
    """Return the rates of a metric: each statistic, under each combination of labels.

    ``expected`` is the number of jobs of all tasks. ``whole`` tells whether every task did all its
    work: a partial test has samples and no rate. ``seconds`` is the time that the test took [s].
    A mean of ``in_round`` has its slices.
    """
    known = rows.metric.values != "any" and not rows.metric.labels
    return [
        _rate(rows.metric, statistic, group, expected if known else None, whole, seconds, in_round)
        for statistic in rows.metric.statistics
        for group in rows.groups()
    ]


def _rate(
    metric: Metric,
    statistic: Statistic,
    group: Group,
    expected: int | None,
    whole: bool,
    seconds: float | None,
    in_round: bool,
) -> Rate:
    values = _finite(group.samples)
    first = next((each for each in metric.statistics if each in QUANTILES), None)
    records = [sample.records for sample in group.samples if sample.value is not None]
    n = sum(row.n for row in group.answered)
    not_finite = len(group.samples) - len(values)
    figure = math.nan
    if whole and n and not not_finite and expected in {None, n}:
        figure = _figure(metric, statistic, group, seconds)
    return Rate(
        metric=metric.name,
        unit=metric.unit,
        direction=metric.direction,
        statistic=statistic,
        labels=dict(group.labels),
        value=figure if math.isfinite(figure) else None,
        samples=n,
        expected=expected,
        not_finite=not_finite,
        stddev=statistics.stdev(values) if len(values) > 1 else None,
        min=min(values, default=None),
        max=max(values, default=None),
        records=sum(filter(None, records)) if records and None not in records else None,
        slices=_slices(group) if in_round and statistic == "mean" and figure > 0 else (),
        histogram=histogram_text(group.histogram) if statistic == first else "",
    )


def _slices(group: Group) -> tuple[float, ...]:
    """Return the values in the order in which the tasks, one after the other, logged them."""
    in_order = sorted(group.samples, key=lambda sample: (sample.log_stream, sample.logged_at))
    return tuple(_finite(in_order))


def _figure(metric: Metric, statistic: Statistic, group: Group, seconds: float | None) -> float:
    if metric.samples is not None:
        return of_samples(statistic, _finite(group.samples), seconds)
    if metric.histograms is not None and statistic in QUANTILES:
        return histogram_quantile(group.histogram, QUANTILES[statistic]).value
    return of_streams(statistic, _figures(group.answered), seconds)


def _finite(samples: Sequence[Sample]) -> list[float]:
    return [sample.value for sample in samples if sample.value is not None]


def _name(metric: Metric, group: Group, kind: Basis) -> str:
    return figure_name(metric.name, kind, canonical(group.labels))
