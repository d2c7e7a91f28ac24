"""The charts of each test over time: its progress, its series, and the usage of its tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tidemark.report.blocks import Block, Section
from tidemark.report.line_chart import MOST_GROUPS, Group
from tidemark.report.run_report.measured import MeasuredRun
from tidemark.report.run_report.progress import progress
from tidemark.report.run_report.series_charts import series_charts
from tidemark.report.run_report.usage import usage


def course(test: str, groups: Sequence[Group]) -> Iterator[Block]:
    """Yield the charts of a test over time, or a sentence if there are too many groups."""
    if len(groups) > MOST_GROUPS:
        yield (
            f"{len(groups)} versions are too many for one chart of the progress of {test}; "
            "tidemark compare draws it for two of them."
        )
        return
    yield progress(test, groups)
    yield from series_charts(test, groups)
    yield from usage(test, groups)


def sections(run: MeasuredRun) -> Iterator[Section]:
    """Yield a section for each test of a run, its versions side by side."""
    for test in run.plan.suite.tests:
        groups = [
            Group(version, [pair for pair in run.results(test.name) if pair[0].version == version])
            for version in dict.fromkeys(rate.version for rate in run.rates)
        ]
        yield Section(f"{test.name} over time", tuple(course(test.name, groups)))
