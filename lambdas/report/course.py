"""How each test went on: its progress, and what its tasks used meanwhile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lambdas.report.blocks import Block, Section
from lambdas.report.lines import MOST_GROUPS, Group
from lambdas.report.measured import MeasuredRun
from lambdas.report.progress import progress
from lambdas.report.usage import usage


def course(test: str, groups: Sequence[Group]) -> Iterator[Block]:
    """Yield the charts of a test over its time; a sentence of more groups than they can show."""
    if len(groups) > MOST_GROUPS:
        yield (
            f"{len(groups)} versions are too many for one chart of the progress of {test}; "
            "tidemark compare draws it for two of them."
        )
        return
    yield progress(test, groups)
    yield from usage(test, groups)


def sections(run: MeasuredRun) -> Iterator[Section]:
    """Yield a section for each test of a run, its versions side by side."""
    for test in run.plan.suite.tests:
        groups = [
            Group(version, [pair for pair in run.results(test.name) if pair[0].version == version])
            for version in dict.fromkeys(rate.version for rate in run.rates)
        ]
        yield Section(f"{test.name} over time", tuple(course(test.name, groups)))
