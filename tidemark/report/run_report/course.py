"""The charts of each test over time: its progress, its series and the usage of tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from tidemark.model.axes import combinations
from tidemark.model.labels import labelled_name
from tidemark.model.numerals import percent
from tidemark.model.results import MeasuredSeries, Sample, TestResult
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
from tidemark.report.run_report.load import Limits, limits_of, load_blocks
from tidemark.report.run_report.measured import MeasuredRun
from tidemark.report.run_report.usage import usage

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
        Line(name, trial, work_done(result, by_records=by_records))
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


def work_done(result: TestResult, *, by_records: bool) -> Points:
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


def series_charts(test: str, groups: Sequence[Group]) -> Iterator[Block]:
    """Yield a chart for each series of a test, and sentences on series that are not known."""
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
            yield lines(f"{title} over time.", groups, drawn, f"{name} [{unit}]", table)
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


def course(test: str, groups: Sequence[Group], limits: Limits) -> Iterator[Block]:
    """Yield the charts of a test over time, or a sentence if there are too many groups.

    ``limits`` are those of the test's load.
    """
    if len(groups) > MOST_GROUPS:
        yield (
            f"{len(groups)} versions are too many for one chart of the progress of {test}; "
            "tidemark compare draws it for two of them."
        )
        return
    work = progress(test, groups)
    others = [*load_blocks(test, groups, limits), *series_charts(test, groups)]
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
        yield Section(
            f"{name} over time", tuple(course(name, groups, limits_of(test))), details=True
        )
