"""The charts of each test over time: its progress, its series, and the usage of its tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from tidemark.model.axes import combinations, labelled_name
from tidemark.report.blocks import Block, Chart, Section
from tidemark.report.line_chart import MOST_GROUPS, Group
from tidemark.report.run_report.load_table import load_blocks
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
    work = progress(test, groups)
    others = [*load_blocks(test, groups), *series_charts(test, groups)]
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
        yield Section(f"{name} over time", tuple(course(name, groups)), details=True)
