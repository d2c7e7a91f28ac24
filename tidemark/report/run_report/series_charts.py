"""The charts of the series of a test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tidemark.model.results import MeasuredSeries, TestResult
from tidemark.report.blocks import Block
from tidemark.report.line_chart import Group, Line, Points, lines, means_and_largest


def series_charts(test: str, groups: Sequence[Group]) -> Iterator[Block]:
    """Yield a chart for each series of a test, and sentences on series that are not known."""
    results = [(group.name, trial.trial, result) for group in groups
               for trial, result in group.results]  # fmt: skip
    logged = {series.name: series.unit for _, _, result in results for series in result.series}
    for name, unit in logged.items():
        found = [(version, trial, result, series) for version, trial, result in results
                 for series in result.series if series.name == name]  # fmt: skip
        drawn = [
            Line(version, trial, _points(result, series))
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


def _points(result: TestResult, series: MeasuredSeries) -> Points:
    seconds = result.seconds(point.at for point in series.points)
    # The time of a value may be the start of its period, before the first task.
    return [
        (max(0.0, second or 0.0), point.value)
        for second, point in zip(seconds, series.points, strict=True)
    ]
