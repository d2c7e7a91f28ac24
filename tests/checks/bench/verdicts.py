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

from tests.checks.bench.histories import NOISES as RUN_NOISES
from tests.checks.bench.histories import (
    alarms,
    autoregressive,
    machine_slower,
    spike,
    unchanged,
    version_slower,
)
from tests.checks.bench.noises import CORRELATED, NOISES, UNLIKE, WITH_BAD_PAIR, normal
from tests.checks.bench.profiled_functions import NOISES as FUNCTION_NOISES
from tests.checks.bench.profiled_functions import any_told
from tests.checks.bench.verdict_runs import Ended, Metric, fixed, searched, until_decided
from tests.checks.docs import write_part
from tidemark.figures.verdicts.bisection import MISLED
from tidemark.figures.verdicts.rule import ALARMS, UNCONFIRMED, Judgement
from tidemark.model.search import Search
from tidemark.model.suite_files import read_suites

RUNS, FEW_RUNS = 4_000, 1_000
SCATTERS, UNLIKE_SCATTERS = (0.03, 0.07, 0.12), (0.07, 0.15)
PLANNED, PROFILED = (5, 10, 20, 30), (3, 5, 10)
MOST_COMPARISONS = 5
MOST_SEARCHED = {0.03: 35, 0.07: 45, 0.12: 75}
"""The limits of the mean pairs of a search, by scatter."""
MOST_WITH_BAD_PAIR = {0.03: 40, 0.07: 55, 0.12: 95}
"""The same if one pair is bad, which widens the scatter."""
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
            yield from _false_alarms(name, Metric(noise, scatter, metrics=2), runs, 1.5)


def unlike_false_alarms(runs: int) -> Iterator[Figure]:
    """Yield the same of noises that are not alike, of which a plan keeps no limit of 1 %."""
    for name, noise in UNLIKE.items():
        for scatter in UNLIKE_SCATTERS:
            metric = Metric(noise, scatter, metrics=2)
            yield from _false_alarms(name, metric, runs, 100 * UNCONFIRMED)


def _false_alarms(name: str, metric: Metric, runs: int, of_plan: float) -> Iterator[Figure]:
    share = _alarms(partial(until_decided, metric), runs)
    yield Figure(f"{name}, {metric.scatter:g}, until decided", share, 1)
    for count in PLANNED:
        share = _alarms(partial(fixed, metric, count=count), runs)
        yield Figure(f"{name}, {metric.scatter:g}, {count} pairs", share, of_plan)


def _alarms(run: Callable[[random.Random], Judgement | Ended], runs: int) -> float:
    """Return how often either of two metrics alarms [%]."""
    ends = simulated(run, 2 * runs)
    wrong = [end.word in ALARMS for end in ends]
    return percentage([one or other for one, other in zip(wrong[::2], wrong[1::2], strict=True)])


MOST_PAIRS = {
    (0.03, 0.0): 10, (0.03, 0.05): 20, (0.03, 0.1): 14, (0.03, 0.2): 12,
    (0.07, 0.0): 30, (0.07, 0.05): 50, (0.07, 0.1): 21, (0.07, 0.2): 14,
    (0.12, 0.1): 40, (0.12, 0.2): 18,
}  # fmt: skip
"""The limits of the mean number of pairs, by scatter and loss."""
LEAST_FOUND = {(0.07, 0.1, 60): 98, (0.12, 0.1, 60): 96, (0.07, 0.05, 100): 90}
"""The limits of slowdowns found [%], by scatter, loss and cap."""
MOST_UNLIKE_SAME = 15
"""The limit of changes of 5 % that are called the same if noise is not alike [%]."""
CONFIRMED = {"10% slower": 0.1, "10% faster": -0.1}


def pairs_needed(runs: int) -> Iterator[Figure]:
    """Yield the pairs that a run takes on average, with 100 as its cap before a confirmation."""
    for (scatter, loss), limit in MOST_PAIRS.items():
        ends = simulated(partial(until_decided, Metric(normal, scatter, loss)), runs)
        yield Figure(f"{loss:.0%} slower, {scatter:g}", _pairs(ends), limit, "pairs")
    ends = simulated(partial(until_decided, Metric(normal, 0.12, most=30)), runs)
    yield Figure("0% slower, 0.12, with 30 as the cap", _pairs(ends), 15, "pairs")
    for name, loss in CONFIRMED.items():
        ends = simulated(partial(until_decided, Metric(normal, 0.07, loss)), runs)
        extra = sum(end.extra for end in ends) / runs
        yield Figure(f"{name}, 0.07: pairs to confirm", extra, 10, "pairs")


def _pairs(ends: list[Ended]) -> float:
    return sum(end.pairs for end in ends) / len(ends)


def found(runs: int) -> Iterator[Figure]:
    """Yield how often a change is found and confirmed."""
    for (scatter, loss, most), limit in {**LEAST_FOUND, (0.12, 0.05, 100): 0}.items():
        ends = simulated(partial(until_decided, Metric(normal, scatter, loss, most=most)), runs)
        share = percentage([end.word == "slower" for end in ends])
        name = f"{loss:.0%} slower, {scatter:g}, cap {most}: slower"
        yield Figure(name, share, limit, least=True)
    ends = simulated(partial(until_decided, Metric(normal, 0.07, -0.1, most=60)), runs)
    share = percentage([end.word == "faster" for end in ends])
    yield Figure("10% faster, 0.07, cap 60: faster", share, 98, least=True)


def stricter_plans(runs: int) -> Iterator[Figure]:
    """Yield what a plan of two metrics finds, and how often it alarms, by the p-value it needs."""
    for words, metrics in (("0.5 %", 2), ("0.02 %", 50)):
        metric = Metric(normal, 0.07, 0.1, metrics=metrics)
        ends = simulated(partial(fixed, metric, count=12), runs)
        share = percentage([end.word == "slower" for end in ends])
        yield Figure(f"p ≤ {words}: 10% slower, 0.07, 12 pairs: slower", share, 0, least=True)
        metric = Metric(UNLIKE[CORRELATED], 0.15, metrics=metrics)
        share = _alarms(partial(fixed, metric, count=30), runs)
        yield Figure(f"p ≤ {words}: {CORRELATED}, 0.15, 30 pairs: wrong", share, 0, least=True)


def called_the_same(runs: int) -> Iterator[Figure]:
    """Yield how often a change of 5 % or more is called the same."""
    for loss, bound in ((0.05, 5.0), (0.1, 0.1)):
        for scatter in SCATTERS:
            run = partial(until_decided, Metric(normal, scatter, loss))
            yield _same(f"{loss:.0%} slower, {scatter:g}", run, runs, bound)
    for name, noise in UNLIKE.items():
        for words, loss in (("5% slower", 0.05), ("5% faster", -0.05)):
            metric = Metric(noise, 0.07, loss)
            run = partial(until_decided, metric)
            yield _same(f"{name}, {words}, 0.07", run, runs, MOST_UNLIKE_SAME)
            of_plan = partial(fixed, metric, count=12)
            yield _same(f"{name}, {words}, 0.07, 12 pairs", of_plan, runs, MOST_UNLIKE_SAME)


def _same(
    name: str, run: Callable[[random.Random], Judgement | Ended], runs: int, bound: float
) -> Figure:
    share = percentage([end.word == "same" for end in simulated(run, runs)])
    return Figure(f"{name}: same", share, bound)


def covered(runs: int) -> Iterator[Figure]:
    """Yield how often the interval that people read contains the true change."""
    for scatter in SCATTERS:
        for loss in (0.0, 0.05, 0.1, 0.2):
            run = partial(until_decided, Metric(normal, scatter, loss))
            share = _covered([end.judgement for end in simulated(run, runs)], loss)
            yield Figure(f"{loss:.0%} slower, {scatter:g}", share, 98, least=True)
    for name, noise in {"normal": normal, **UNLIKE}.items():
        for loss in (0.0, 0.1):
            run = partial(until_decided, Metric(noise, 0.07, loss))
            share = _covered([end.judgement for end in simulated(run, runs)], loss)
            yield Figure(f"{name}, {loss:.0%} slower, 0.07, until decided", share, 90, least=True)
        plan = partial(fixed, Metric(noise, 0.07), count=12)
        share = _covered(simulated(plan, runs), 0)
        yield Figure(f"{name}, 0% slower, 0.07, 12 pairs", share, 80, least=True)


def _covered(judgements: list[Judgement], loss: float) -> float:
    return percentage(
        [
            each.low is None or each.high is None or each.low <= -loss <= each.high
            for each in judgements
        ]
    )


def searches(runs: int) -> Iterator[Figure]:
    """Yield how often searches among RocksDB's versions find a slowdown of 15 %, and their pairs.

    Both metrics of a run share its alarms, and a search follows one of them.
    """
    subject = read_suites()["rocksdb"].subject
    versions = sorted(subject.versions, key=subject.version_order)
    search = Search(metric="ingest_rate", versions=tuple(versions))
    for name, noise in {**NOISES, **UNLIKE}.items():
        limits = MOST_WITH_BAD_PAIR if name == WITH_BAD_PAIR else MOST_SEARCHED
        for scatter, most in limits.items():
            metric = Metric(noise, scatter, 0.15, metrics=2 * search.most_comparisons)
            ends = simulated(partial(searched, metric, versions=versions), runs)
            found = [end.is_found and end.comparisons <= MOST_COMPARISONS for end in ends]
            least = 90 if name == CORRELATED else 95
            yield Figure(f"{name}, {scatter:g}: found", percentage(found), least, least=True)
            wrong = percentage([end.is_wrong for end in ends])
            bound = 100 * MISLED if name == CORRELATED else 1
            yield Figure(f"{name}, {scatter:g}: another version named", wrong, bound)
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
    for name, noise in RUN_NOISES.items():
        ends = simulated(partial(unchanged, noise), runs)
        yield Figure(
            f"{name}, three times the scatter from the 51st of 100 runs on",
            percentage([alarms(end) for end in ends]),
            3,
        )
    ends = simulated(spike, runs)
    yield Figure("one spike of six deviations", percentage([alarms(end) for end in ends]), 0)


def functions(runs: int) -> Iterator[Figure]:
    """Yield how often any of forty functions is said to have grown or shrunk without a change."""
    for count in PROFILED:
        for name, (noise, limit) in FUNCTION_NOISES.items():
            ends = simulated(partial(any_told, noise, count), runs)
            share = percentage(ends)
            yield Figure(f"{name}, {count} profiles a side", share, limit, least=not limit)


def main() -> int:
    """Simulate, write the page's tables and return the exit code."""
    tables = {
        "Wrong alarms, nothing changed, two metrics": false_alarms(RUNS),
        "Wrong alarms, nothing changed, two metrics, noise not alike": unlike_false_alarms(RUNS),
        "Pairs until a verdict": pairs_needed(RUNS),
        "Changes found": found(RUNS),
        "Plans with a smaller p-value": stricter_plans(RUNS),
        "Changes called the same": called_the_same(RUNS),
        "Intervals that contain the true change": covered(RUNS),
        "Searches for a slowdown of 15 %": searches(RUNS),
        "Histories that alarm": histories(RUNS),
        "Functions told without a change": functions(FEW_RUNS),
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
