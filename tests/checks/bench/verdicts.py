"""``python -m tests.checks.bench.verdicts``: how often verdicts are right, by simulation.

The tables go into docs/verdicts.md. Seeds are fixed: the same code gives the same tables. The exit
code is 1 if a figure misses its limit.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from tests.checks.bench.histories import (
    alarms,
    autoregressive,
    machine_slower,
    spike,
    version_slower,
)
from tests.checks.bench.noises import NOISES, normal
from tests.checks.bench.verdict_runs import (
    ALARMS,
    Metric,
    confirmed,
    first_stage,
    fixed,
    searched,
)
from tests.checks.docs import write_part
from tidemark.figures.verdicts.rule import Judgement
from tidemark.model.search import Search
from tidemark.model.suite_files import read_suites

RUNS, MANY_RUNS = 4_000, 50_000
SCATTERS = (0.03, 0.07, 0.12)
PLANNED = (5, 10, 20, 30)
MOST_COMPARISONS = 5
MOST_SEARCHED = {0.03: 35, 0.07: 45, 0.12: 75}
"""The limits of the mean pairs of a search, by scatter."""
_Run = TypeVar("_Run")


@dataclass(frozen=True)
class Figure:
    """A measured figure and its limit."""

    name: str
    value: float
    limit: float
    unit: str = "%"
    least: bool = False
    """Whether the figure has to reach the limit; otherwise it may not exceed it."""

    @property
    def holds(self) -> bool:
        """Whether the figure keeps its limit."""
        return self.value >= self.limit if self.least else self.value <= self.limit

    @property
    def row(self) -> str:
        """The figure as a row of a Markdown table."""
        missed = "" if self.holds else " **missed**"
        return f"| {self.name} | {self.value:.2f} {self.unit} | {self._bound}{missed} |\n"

    @property
    def _bound(self) -> str:
        if self.limit == 0:
            return "no limit" if self.least else f"0 {self.unit}"
        return f"{'≥' if self.least else '≤'} {self.limit:g} {self.unit}"


def simulated(run: Callable[[random.Random], _Run], runs: int) -> list[_Run]:
    """Return the results of some runs, always with the same chance."""
    chance = random.Random(20261122)
    return [run(chance) for _ in range(runs)]


def percentage(results: list[bool]) -> float:
    """Return the share of true results [%]."""
    return 100 * sum(results) / len(results)


def false_alarms(runs: int) -> Iterator[Figure]:
    """Yield how often a run of two metrics alarms although nothing changed."""
    for name, noise in NOISES.items():
        for scatter in SCATTERS:
            metric = Metric(noise, scatter, metrics=2)
            share = _alarms(partial(first_stage, metric, most=100), runs)
            yield Figure(f"{name}, {scatter:g}, until decided", share, 1)
            for count in PLANNED:
                share = _alarms(partial(fixed, metric, count=count), runs)
                yield Figure(f"{name}, {scatter:g}, {count} pairs", share, 1.5)


def _alarms(run: Callable[[random.Random], Judgement], runs: int) -> float:
    """Return how often either of two metrics alarms [%]."""
    ends = simulated(run, 2 * runs)
    wrong = [end.word in ALARMS for end in ends]
    return percentage([one or other for one, other in zip(wrong[::2], wrong[1::2], strict=True)])


MOST_PAIRS = {
    (0.03, 0.0): 10, (0.03, 0.05): 11, (0.03, 0.1): 8, (0.03, 0.2): 7,
    (0.07, 0.0): 30, (0.07, 0.05): 33, (0.07, 0.1): 13, (0.07, 0.2): 8,
    (0.12, 0.1): 26, (0.12, 0.2): 11,
}  # fmt: skip
"""The limits of the mean number of pairs, by scatter and loss."""
LEAST_FOUND = {(0.07, 0.1, 60): 98, (0.12, 0.1, 60): 96, (0.07, 0.05, 100): 90}
"""The limits of slowdowns found [%], by scatter, loss and cap."""


def pairs_needed(runs: int) -> Iterator[Figure]:
    """Yield the pairs that a run takes on average, with 100 as its cap."""
    for (scatter, loss), limit in MOST_PAIRS.items():
        metric = Metric(normal, scatter, loss)
        ends = simulated(partial(first_stage, metric, most=100), runs)
        mean = sum(end.pairs for end in ends) / runs
        yield Figure(f"{loss:.0%} slower, {scatter:g}", mean, limit, "pairs")
    alike = Metric(normal, 0.12)
    ends = simulated(partial(first_stage, alike, most=30), runs)
    mean = sum(end.pairs for end in ends) / runs
    yield Figure("0% slower, 0.12, with 30 as the cap", mean, 15, "pairs")


def found(runs: int) -> Iterator[Figure]:
    """Yield how often a slowdown is found, and how often it is called the same."""
    for (scatter, loss, most), limit in {**LEAST_FOUND, (0.12, 0.05, 100): 0}.items():
        metric = Metric(normal, scatter, loss)
        ends = simulated(partial(first_stage, metric, most=most), runs)
        share = percentage([end.word == "slower" for end in ends])
        name = f"{loss:.0%} slower, {scatter:g}, cap {most}: slower"
        yield Figure(name, share, limit, least=True)
    for loss, bound in ((0.05, 5.0), (0.1, 0.1)):
        for scatter in SCATTERS:
            metric = Metric(normal, scatter, loss)
            ends = simulated(partial(first_stage, metric, most=100), runs)
            share = percentage([end.word == "same" for end in ends])
            yield Figure(f"{loss:.0%} slower, {scatter:g}: same", share, bound)


def covered(runs: int) -> Iterator[Figure]:
    """Yield how often the interval at the stop contains the true change."""
    for scatter in SCATTERS:
        for loss in (0.0, 0.05, 0.1, 0.2):
            metric = Metric(normal, scatter, loss)
            ends = simulated(partial(first_stage, metric, most=100), runs)
            inside = [
                end.low is None or end.high is None or end.low <= -loss <= end.high for end in ends
            ]
            name = f"{loss:.0%} slower, {scatter:g}"
            yield Figure(name, percentage(inside), 98, least=True)


def confirmations(runs: int, found_runs: int) -> Iterator[Figure]:
    """Yield how often a confirmed alarm is false, and what a true one costs."""
    for name, noise in NOISES.items():
        for scatter in SCATTERS:
            metric = Metric(noise, scatter)
            ends = simulated(partial(confirmed, metric, most=100), runs)
            share = percentage([end.word == "slower" for end in ends])
            yield Figure(f"{name}, {scatter:g}: false alarms", share, 0.1)
    metric = Metric(normal, 0.07, 0.1)
    ends = simulated(partial(confirmed, metric, most=100), found_runs)
    share = percentage([end.word == "slower" for end in ends])
    yield Figure("10% slower, 0.07: confirmed", share, 97, least=True)
    extra = sum(end.extra for end in ends) / found_runs
    yield Figure("10% slower, 0.07: pairs to confirm", extra, 13, "pairs")


def searches(runs: int) -> Iterator[Figure]:
    """Yield how often searches among RocksDB's versions find a slowdown of 15 %, and their pairs.

    Both metrics of a run share its alarms, and a search follows one of them.
    """
    subject = read_suites()["rocksdb"].subject
    versions = sorted(subject.versions, key=subject.version_order)
    search = Search(metric="ingest_rate", versions=tuple(versions))
    for name, noise in NOISES.items():
        for scatter, most in MOST_SEARCHED.items():
            metric = Metric(noise, scatter, 0.15, metrics=2 * search.most_comparisons)
            ends = simulated(partial(searched, metric, versions=versions), runs)
            found = [end.is_found and end.comparisons <= MOST_COMPARISONS for end in ends]
            yield Figure(f"{name}, {scatter:g}: found", percentage(found), 95, least=True)
            wrong = percentage([end.is_wrong for end in ends])
            yield Figure(f"{name}, {scatter:g}: another version named", wrong, 1)
            pairs = sum(end.pairs for end in ends) / runs
            yield Figure(f"{name}, {scatter:g}: pairs", pairs, most, "pairs")


def histories(runs: int) -> Iterator[Figure]:
    """Yield how often histories alarm, with and without a canary."""
    for name, history, canary, limit, least in (
        ("all 10% slower, canary", machine_slower, True, 1.0, False),
        ("all 10% slower, no canary", machine_slower, False, 95.0, True),
        ("one version 10% slower, canary", version_slower, True, 95.0, True),
    ):
        ends = simulated(partial(history, canary=canary), runs)
        yield Figure(name, percentage([alarms(end) for end in ends]), limit, least=least)
    for count in (30, 100, 300):
        ends = simulated(partial(autoregressive, count=count), runs)
        share = percentage([alarms(end) for end in ends])
        yield Figure(f"AR(1), no change, {count} runs", share, 3)
    ends = simulated(spike, runs)
    yield Figure("one spike of six deviations", percentage([alarms(end) for end in ends]), 0)


def main() -> int:
    """Simulate, write the page's tables and return the exit code."""
    tables = {
        "Wrong alarms, nothing changed, two metrics": false_alarms(RUNS),
        "Pairs until a verdict": pairs_needed(RUNS),
        "Slowdowns found": found(RUNS),
        "Intervals that contain the true change": covered(RUNS),
        "Searches for a slowdown of 15 %": searches(RUNS),
        "Histories that alarm": histories(RUNS),
        "Confirmed alarms": confirmations(MANY_RUNS, MANY_RUNS),
    }
    missed, text = False, ""
    for heading, figures in tables.items():
        rows = list(figures)
        missed |= not all(figure.holds for figure in rows)
        part = f"### {heading}\n\n| case | measured | limit |\n|---|--:|--:|\n"
        part += "".join(figure.row for figure in rows) + "\n"
        print(part, flush=True)
        text += part
    write_part("verdicts.md", "figures", f"\n{text}")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
