"""The charts of each test over time: its progress, its series and the usage of tasks."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, product
from statistics import fmean, median
from typing import NamedTuple

from tidemark.model.labels import labelled_name
from tidemark.model.numerals import percent, ranges
from tidemark.model.parameters import combinations
from tidemark.model.results import MeasuredSeries, Sample, TestResult, Usage
from tidemark.report.blocks import Block, Chart, Section, Table
from tidemark.report.charts import (
    MOST_GROUPS,
    Group,
    Line,
    Points,
    by_trial,
    lines,
    means_and_largest,
)
from tidemark.report.run_report.load import Limits, limits_of, load_blocks, series_limits
from tidemark.report.run_report.measured import MeasuredRun

_SHARES = (0.25, 0.5, 0.75, 1.0)


def progress(test: str, groups: Sequence[Group]) -> Chart | str:
    """Return the chart of a test's progress, or a sentence if there is none.

    The steps are the samples: each is a piece of work, finished when it was logged.
    """
    results = [
        (group.name, trial.trial, result)
        for group in groups
        for trial, result in group.results
        if _work_samples(result) and result.begun_at
    ]
    if not results:
        return f"There is no progress of {test} to draw."
    by_records = all(
        sample.records is not None for _, _, result in results for sample in _work_samples(result)
    )
    work = "records" if by_records else "jobs"
    series = [
        Line(name, trial, _work_done(result, by_records=by_records))
        for name, trial, result in results
    ]
    return lines(
        f"Progress of {test}: {work} that the tasks of a trial had finished, by the time since the "
        "first task started. The time axis is as long as the longest trial.",
        groups,
        series,
        f"{work} finished",
        _progress_table(test, work, series),
        steps=True,
    )


def _work_done(result: TestResult, *, by_records: bool) -> Points:
    """Return the seconds since the start of a test's first task, with the work done by then.

    Work is counted in records, or in jobs.
    """
    done = 0.0
    points = [(0.0, 0.0)]
    logged = sorted(_work_samples(result), key=lambda sample: sample.logged_at)
    seconds = result.seconds(sample.logged_at for sample in logged)
    for sample, second in zip(logged, seconds, strict=True):
        done += (sample.records or 0) if by_records else 1
        points.append((max(0.0, second or 0.0), done))
    return points


def _work_samples(result: TestResult) -> list[Sample]:
    """Return the samples of a test's first metric, one for each piece of work."""
    first = next((sample.metric for sample in result.samples), None)
    return [sample for sample in result.samples if sample.metric == first]


def _progress_table(test: str, work: str, series: Sequence[Line]) -> Table:
    times = tuple(f"{percent(share, places=0)} done [s]" for share in _SHARES)
    total = f"{work.capitalize()} finished"
    return by_trial(
        f"Time at which a trial of {test} had finished a share of its work",
        (*times, total),
        series,
        lambda points: (
            *(f"{_when(points, share):,.1f}" for share in _SHARES),
            f"{points[-1][1]:,.0f}",
        ),
    )


def _when(points: Points, share: float) -> float:
    """Return the first second at which a share of all work was done."""
    wanted = share * points[-1][1]
    return next(second for second, done in points if done >= wanted)


def _series_charts(test: str, groups: Sequence[Group], limits: Limits) -> Iterator[Block]:
    """Yield a chart for each series of a test, and sentences on series that are not known.

    ``limits`` are the series' limits, by name.
    """
    results = [(group.name, trial.trial, result) for group in groups
               for trial, result in group.results]  # fmt: skip
    logged = {series.name: series.unit for _, _, result in results for series in result.series}
    for name, unit in logged.items():
        found = [(version, trial, result, series) for version, trial, result in results
                 for series in result.series if series.name == name]  # fmt: skip
        drawn = [
            Line(version, trial, _series_points(result, series))
            for version, trial, result, series in found
            if series.points and result.begun_at
        ]
        title = f"{name} of {test} [{unit}]"
        if drawn:
            table = means_and_largest(f"{title}, by trial", drawn)
            caption, limit = f"{title} over time.", limits.get(name)
            yield lines(caption, groups, drawn, f"{name} [{unit}]", table, limit=limit)
        else:
            yield f"There is no value of {name} to draw."
        for _, trial, _, series in found:
            if series.unknown:
                yield f"{name} is not known for trial {trial}: {series.unknown}."


def _series_points(result: TestResult, series: MeasuredSeries) -> Points:
    seconds = result.seconds(point.at for point in series.points)
    # The time of a value may be the start of its period, before the first task.
    return [
        (max(0.0, second or 0.0), point.value)
        for second, point in zip(seconds, series.points, strict=True)
    ]


def course(
    test: str, groups: Sequence[Group], limits: Limits, of_series: Limits
) -> Iterator[Block]:
    """Yield the charts of a test over time, or a sentence if there are too many groups.

    ``limits`` are the limits of the test's load, and ``of_series`` of its series.
    """
    if len(groups) > MOST_GROUPS:
        yield (
            f"{len(groups)} versions are too many for one chart of the progress of {test}; "
            "tidemark compare draws it for two of them."
        )
        return
    work = progress(test, groups)
    others = [*load_blocks(test, groups, limits), *_series_charts(test, groups, of_series)]
    if isinstance(work, Chart) or not others:
        yield work
    yield from others
    yield from usage(test, groups)


def sections(run: MeasuredRun) -> Iterator[Section]:
    """Yield a section for each test of a run and combination of axes, versions side by side."""
    versions = dict.fromkeys(rate.version for rate in run.rates)
    tests, under = run.plan.suite.tests, combinations(run.plan.request.axes)
    for test, axes in product(tests, under):
        results = list(run.results(test.name, axes))
        groups = [
            Group(version, [pair for pair in results if pair[0].version == version])
            for version in versions
        ]
        name = labelled_name(test.name, axes)
        blocks = course(name, groups, limits_of(test), series_limits(test))
        yield Section(f"{name} over time", tuple(blocks), details=True)


_MB = 10**6
_Value = Callable[[Usage], float | None]


def _sum(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else (first + second) / _MB


# The charts, by name with unit.
_CHARTS: Mapping[str, _Value] = {
    "CPU [vCPU]": lambda usage: usage.cpu,
    "memory [MiB]": lambda usage: usage.memory,
    "network, in and out [MB/s]": lambda usage: _sum(usage.network_in, usage.network_out),
    "disk, read and written since the point before [MB]": lambda usage: _sum(
        usage.disk_read, usage.disk_written
    ),
}


def usage(test: str, groups: Sequence[Group]) -> list[Block]:
    """Return the charts of a test's usage, and sentences on usage that is not known.

    The tasks of each service have charts of their own, before the charts of the test.
    """
    timed = [
        _Timed(
            group.name,
            trial.trial,
            result,
            result.seconds(each.logged_at for each in result.usages),
        )
        for group in groups
        for trial, result in group.results
    ]
    services = {task.service for each in timed for task in each.result.tasks if task.service}
    charts = [
        _chart(f"{service or 'the tasks'} of {test}", name, drawn, groups)
        for service, name in product([*sorted(services), ""], _CHARTS)
        if (drawn := list(_lines(timed, service, _CHARTS[name])))
    ]
    return [*charts, *_unknown(test, groups)] or [
        f"There is no resource usage of the tasks of {test} to draw."
    ]


def _chart(owner: str, name: str, drawn: Sequence[Line], groups: Sequence[Group]) -> Block:
    title = _capitalised(f"{name} of {owner}")
    table = means_and_largest(f"{title}, by trial", drawn)
    caption = f"{title}: the mean over the tasks of a trial."
    return lines(caption, groups, drawn, name, table)


class _Timed(NamedTuple):
    """The usages of a test in a trial, with the time of each, which four charts have."""

    group: str
    trial: int
    result: TestResult
    seconds: Sequence[float | None]


def _lines(timed: Iterable[_Timed], service: str, value: _Value) -> Iterator[Line]:
    for each in timed:
        if points := _points(each.result, each.seconds, service, value):
            yield Line(each.group, each.trial, points)


def _unknown(test: str, groups: Sequence[Group]) -> Iterator[str]:
    """Yield the reasons why logged usage could not be read, with the trials of each reason."""
    for group in groups:
        trials: defaultdict[str, list[int]] = defaultdict(list)
        for trial, result in group.results:
            if result.usages_unknown:
                trials[result.usages_unknown].append(trial.trial)
        for why, numbers in trials.items():
            yield (
                f"The resource usage of the tasks of {test} is not known for {group.name}, trials "
                f"{ranges(numbers)}: {why}."
            )


def _points(
    result: TestResult, seconds: Sequence[float | None], service: str, value: _Value
) -> Points:
    """Return a point for each logging period: the mean usage over the tasks of a service.

    The service '' has the tasks of the test itself.

    The usages of different tasks are logged at different moments, so that only a period has all of
    them.
    """
    by_task: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    own = {task.task_id for task in result.tasks if task.service == service}
    for entry, second in zip(result.usages, seconds, strict=True):
        amount = value(entry)
        if entry.task_id in own and second is not None and second >= 0 and amount is not None:
            by_task[entry.task_id].append((second, amount))
    period = _period(by_task.values())
    start = min((points[0][0] for points in by_task.values()), default=0.0)
    of_period: defaultdict[int, list[tuple[float, float]]] = defaultdict(list)
    for points in by_task.values():
        for place, in_period in _by_period(points, start, period).items():
            of_period[place].append(_mean(in_period))
    return [_mean(of_period[place]) for place in sorted(of_period)]


def _period(tasks: Iterable[Points]) -> float:
    """Return the time between two log events of a task [s]; infinite if no task has two.

    Container Insights logs once a minute, one machine once a second.
    """
    gaps = [
        later - before
        for points in tasks
        for (before, _), (later, _) in pairwise(points)
        if later > before
    ]
    return median(gaps) if gaps else math.inf


def _by_period(points: Points, start: float, period: float) -> dict[int, list[tuple[float, float]]]:
    """Return the points of a task by the number of their period since ``start``."""
    first = points[0][0]
    places: defaultdict[int, list[tuple[float, float]]] = defaultdict(list)
    for second, amount in points:
        # The points of a task are whole periods after its first point, but for some jitter.
        place = math.floor((first - start) / period) + round((second - first) / period)
        places[place].append((second, amount))
    return places


def _mean(points: Points) -> tuple[float, float]:
    if len(points) == 1:
        return points[0]
    return fmean(second for second, _ in points), fmean(value for _, value in points)


def _capitalised(text: str) -> str:
    return text[0].upper() + text[1:]
