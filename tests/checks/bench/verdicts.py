"""``python -m tests.checks.bench.verdicts [TABLE]``: how often verdicts are right, by simulation.

The tables go into docs/verdicts.md, all of them or one. Seeds are fixed: the same code gives the
same tables. The exit code is 1 if a figure misses its limit.
"""

from __future__ import annotations

import math
import random
import sys
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import NormalDist
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
from tests.checks.bench.noises import (
    CLOSELY,
    CORRELATED,
    NOISES,
    UNLIKE,
    normal,
    of_p99,
    off_by_two,
)
from tests.checks.bench.profiled_functions import NOISES as FUNCTION_NOISES
from tests.checks.bench.profiled_functions import any_told
from tests.checks.bench.verdict_runs import Ended, Metric, fixed, searched, until_decided
from tests.checks.docs import write_part
from tidemark.figures.trial_statistics import Pooled, pooled_quantile
from tidemark.figures.verdicts.bisection import MISLED
from tidemark.figures.verdicts.rule import ALARMS, UNCONFIRMED, Judgement, Word
from tidemark.model.run_spec import FEWEST, Search
from tidemark.model.suite_files import read_suites

RUNS, FEW_RUNS, _FEWEST_RUNS = 4_000, 1_000, 300
"""The runs of a cell of wrong alarms where noise is not alike, of any other cell, and of a cell
that draws each request."""
SCATTERS, UNLIKE_SCATTERS = (0.03, 0.07, 0.12), (0.07, 0.15)
PLANNED, PROFILED = (5, 12, 30), (3, 5, 10)
TIMES, FIRST_RUN = (12, 26), 4
"""The pairs that a run has time for, and the metrics that share the alarms of the first run."""
MOST_COMPARISONS = 5
MOST_SAME, MOST_UNLIKE_SAME, MOST_CLOSELY = 5, 20, 1.5
"""The limits of changes of 5 % that are called the same, of noise that is alike, and of slow
outliers of one version alone; of wrong alarms of timed runs whose pairs are alike by 0.5 [%]."""
_Run = TypeVar("_Run")


@dataclass(frozen=True)
class Figure:
    """A measured figure and its limit."""

    value: float
    limit: float | None = None
    """None for a figure without a limit."""
    least: bool = False
    """Whether the figure has to reach the limit; otherwise it may not exceed it."""

    @property
    def holds(self) -> bool:
        """Whether the figure keeps its limit."""
        if self.limit is None:
            return True
        return self.value >= self.limit if self.least else self.value <= self.limit

    @property
    def cell(self) -> str:
        """The figure with its limit as a cell of a Markdown table."""
        missed = "" if self.holds else " **missed**"
        bound = "" if self.limit is None else f" ({'≥' if self.least else '≤'} {self.limit:g})"
        return f"{self.value:.2f}{bound}{missed}"


Row = tuple[str, Sequence[Figure]]
"""The name of a case and its figures."""


@dataclass(frozen=True)
class Table:
    """A table of the page."""

    heading: str
    columns: Sequence[str]
    rows: Callable[[], Iterator[Row]]

    def written(self) -> bool:
        """Write the table into the page; return whether each figure keeps its limit."""
        rows = list(self.rows())
        text = f"\n| case | {' | '.join(self.columns)} |\n|---|{'--:|' * len(self.columns)}\n"
        for name, figures in rows:
            text += f"| {name} | {' | '.join(figure.cell for figure in figures)} |\n"
        print(f"### {self.heading}\n{text}", flush=True)
        write_part("verdicts.md", self.heading, f"{text}\n")
        return all(figure.holds for _, figures in rows for figure in figures)


def simulated(run: Callable[[random.Random], _Run], runs: int) -> list[_Run]:
    """Return the results of some runs, always with the same chance."""
    chance = random.Random(20261122)
    return [run(chance) for _ in range(runs)]


def percentage(results: list[bool]) -> float:
    """Return the share of true results [%]."""
    return 100 * sum(results) / len(results)


def _said(word: Word, run: Callable[[random.Random], Judgement | Ended], runs: int) -> float:
    """Return how often a run ends with a word [%]."""
    return percentage([end.word == word for end in simulated(run, runs)])


def false_alarms() -> Iterator[Row]:
    """Yield how often a run of two metrics alarms although nothing changed."""
    for name, noise in {**NOISES, **UNLIKE}.items():
        runs, of_plan = (RUNS, 100 * UNCONFIRMED) if name in UNLIKE else (FEW_RUNS, 1.5)
        for scatter in UNLIKE_SCATTERS:
            metric = Metric(noise, scatter, metrics=2)
            plans = [_alarms(partial(fixed, metric, count=count), runs) for count in PLANNED]
            decided = Figure(_alarms(partial(until_decided, metric), runs), 1)
            yield f"{name}, {scatter:g}", (decided, *(Figure(plan, of_plan) for plan in plans))


def _alarms(run: Callable[[random.Random], Judgement | Ended], runs: int) -> float:
    """Return how often either of two metrics alarms [%]."""
    ends = simulated(run, 2 * runs)
    wrong = [end.word in ALARMS for end in ends]
    return percentage([one or other for one, other in zip(wrong[::2], wrong[1::2], strict=True)])


MOST_RATIO = 1.35
"""The limit of the pairs of a run until decided, as a multiple of a plan's pairs.

Both stages need five pairs, so a plan of so few is beyond its reach.
"""
_MOST_FOUND, _MOST_PLANNED = 99.0, 128
_CAPPED = (0.12, 0.05)
"""The scatter and loss of the case whose runs often end at their last pair."""


def pairs_needed(runs: int) -> Iterator[Row]:
    """Yield the pairs of a run until decided, beside a plan that finds as many changes."""
    for scatter in SCATTERS:
        for loss in (0.0, 0.05, 0.1, 0.2):
            metric, word = Metric(normal, scatter, loss), _right(loss)
            ends = simulated(partial(until_decided, metric), runs)
            found = percentage([end.word == word for end in ends])
            pairs, extra = (
                sum(each) / runs for each in ([e.pairs for e in ends], [e.extra for e in ends])
            )
            plan = _plan(metric, word, min(found, _MOST_FOUND), runs)
            is_small = plan <= 2 * FEWEST or (scatter, loss) == _CAPPED
            limit = None if is_small else MOST_RATIO
            ratio = Figure(pairs / plan, limit)
            cells = (Figure(found), Figure(pairs), Figure(extra), Figure(plan), ratio)
            yield f"{loss:.0%} slower, {scatter:g}", cells


def _right(loss: float) -> Word:
    return "slower" if loss else "same"


def _plan(metric: Metric, word: Word, share: float, runs: int) -> int:
    """Return the pairs of the smallest plan that says a word in a share of runs [%]."""
    counts = range(5, _MOST_PLANNED)
    found = bisect_left(
        counts, share, key=lambda count: _said(word, partial(fixed, metric, count=count), runs)
    )
    return counts[min(found, len(counts) - 1)]


def last_looks(runs: int) -> Iterator[Row]:
    """Yield how often a run with few repetitions has the right verdict."""
    for most in (12, 30, 100):
        for scatter in (0.07, 0.12):
            shares = [
                _said(_right(loss), partial(until_decided, each), runs)
                for loss in (0.0, 0.05, 0.1)
                for each in (Metric(normal, scatter, loss, most=most),)
            ]
            yield f"{most} repetitions, {scatter:g}", [Figure(share) for share in shares]


def timed_alarms(runs: int) -> Iterator[Row]:
    """Yield how often a run alarms although nothing changed if it has time for few pairs."""
    scatter = UNLIKE_SCATTERS[-1]
    for name, noise in {"normal": normal, **UNLIKE}.items():
        metrics = [Metric(noise, scatter, metrics=2, time_for=time) for time in TIMES]
        shares = [_alarms(partial(until_decided, metric), runs) for metric in metrics]
        most = MOST_CLOSELY if name == CLOSELY else 1
        yield f"{name}, {scatter:g}", [Figure(share, most) for share in shares]


def timed_verdicts(runs: int) -> Iterator[Row]:
    """Yield how often a run that has time for few pairs is right, and how many it measures."""
    for time in TIMES:
        for scatter in SCATTERS:
            cells = []
            for loss in (0.0, 0.05, 0.1, 0.2):
                metric = Metric(normal, scatter, loss, metrics=FIRST_RUN, time_for=time)
                ends = simulated(partial(until_decided, metric), runs)
                cells.append(Figure(percentage([end.word == _right(loss) for end in ends])))
                cells.append(Figure(sum(end.pairs for end in ends) / runs))
            yield f"time for {time} pairs, {scatter:g}", cells


def bad_pairs(runs: int) -> Iterator[Row]:
    """Yield how often a verdict is right with one pair of twelve off by a factor of two."""
    for scatter, loss, least in ((0.05, 0.2, 95), (0.05, 0.1, 85), (0.05, 0.0, 60)):
        clean, bad = (Metric(noise, scatter, loss) for noise in (normal, off_by_two))
        word = _right(loss)
        without, planned = (
            _said(word, partial(fixed, metric, count=12), runs) for metric in (clean, bad)
        )
        decided = _said(word, partial(until_decided, bad), runs)
        cells = (
            Figure(without), Figure(planned, least, least=True), Figure(decided, 95, least=True),
        )  # fmt: skip
        yield f"{loss:.0%} slower, {scatter:g}", cells


def called_the_same(runs: int) -> Iterator[Row]:
    """Yield how often a change of 5 % is called the same."""
    outlying = {name: noise for name, noise in UNLIKE.items() if "lognormal" in name}
    for name, noise in {"normal": normal, **outlying}.items():
        limit = MOST_SAME if name == "normal" else MOST_UNLIKE_SAME
        for scatter in UNLIKE_SCATTERS:
            for words, loss in (("slower", 0.05), ("faster", -0.05)):
                metric = Metric(noise, scatter, loss)
                runs_of = (partial(until_decided, metric), partial(fixed, metric, count=12))
                cells = [Figure(_said("same", run, runs), limit) for run in runs_of]
                yield f"{name}, 5% {words}, {scatter:g}", cells


def covered(runs: int) -> Iterator[Row]:
    """Yield how often the interval that people read contains the true change."""
    for name, noise in {**NOISES, **UNLIKE}.items():
        cells = []
        for loss in (0.0, 0.1):
            ends = simulated(partial(until_decided, Metric(noise, 0.07, loss)), runs)
            share = _covered([end.judgement for end in ends], loss)
            cells.append(Figure(share, 95, least=True))
        planned = _covered(simulated(partial(fixed, Metric(noise, 0.07), count=12), runs), 0)
        least = 94 if name in NOISES else 84
        yield f"{name}, 0.07", (*cells, Figure(planned, least, least=True))


def _covered(judgements: list[Judgement], loss: float) -> float:
    return percentage(
        [
            each.low is None or each.high is None or each.low <= -loss <= each.high
            for each in judgements
        ]
    )


def searches(runs: int) -> Iterator[Row]:
    """Yield how often searches among RocksDB's versions find a slowdown of 15 %, and their pairs.

    Both metrics of a run share its alarms, and a search follows one of them.
    """
    subject = read_suites()["rocksdb"].subject
    versions = sorted(subject.versions, key=subject.version_order)
    search = Search(metric="ingest_rate", versions=tuple(versions))
    for name, noise in {**NOISES, **UNLIKE}.items():
        for scatter in SCATTERS[1:]:
            metric = Metric(noise, scatter, 0.15, metrics=2 * search.most_comparisons)
            ends = simulated(partial(searched, metric, versions=versions), runs)
            found = [end.is_found and end.comparisons <= MOST_COMPARISONS for end in ends]
            is_correlated = name in {CORRELATED, CLOSELY}
            cells = (
                Figure(percentage(found), 85 if is_correlated else 95, least=True),
                Figure(
                    percentage([end.is_wrong for end in ends]),
                    100 * MISLED if is_correlated else 1,
                ),
                Figure(sum(end.pairs for end in ends) / runs),
            )
            yield f"{name}, {scatter:g}", cells


def histories(runs: int) -> Iterator[Row]:
    """Yield how often histories alarm, with and without a canary."""
    for name, history, canary, limit, least in (
        ("all 10% slower, canary", machine_slower, True, 1.0, False),
        ("all 10% slower, no canary", machine_slower, False, 95.0, True),
        ("one version 10% slower, canary", version_slower, True, 95.0, True),
    ):
        ends = simulated(partial(history, canary=canary), runs)
        yield name, [Figure(percentage([alarms(end) for end in ends]), limit, least=least)]
    for count in (30, 100, 300):
        ends = simulated(partial(autoregressive, count=count), runs)
        share = percentage([alarms(end) for end in ends])
        yield f"AR(1), no change, {count} runs", [Figure(share, 3)]
    for name, noise in RUN_NOISES.items():
        ends = simulated(partial(unchanged, noise), runs)
        share = percentage([alarms(end) for end in ends])
        yield f"{name}, three times the scatter from the 51st of 100 runs on", [Figure(share, 3)]
    ends = simulated(spike, runs)
    yield "one spike of six deviations", [Figure(percentage([alarms(end) for end in ends]), 0)]


def functions(runs: int) -> Iterator[Row]:
    """Yield how often any of forty functions is said to have grown or shrunk without a change."""
    for count in PROFILED:
        for name, (noise, limit) in FUNCTION_NOISES.items():
            ends = simulated(partial(any_told, noise, count), runs)
            share = percentage(ends)
            yield f"{name}, {count} profiles a side", [Figure(share, limit or None)]


_REQUESTS, _BESIDE, _MEAN_SECONDS, _LIMIT = (500, 1_000, 2_000, 5_000), 2.0, 0.002, 300
"""The requests of a version in a round; the time of a round beside them, the mean time of a
request, and the limit of a run [s]."""
_TAIL = 1 - 1 / 1.2
"""The loss of a p99 that takes a fifth longer, as a rate has it."""


def tails(runs: int) -> Iterator[Row]:
    """Yield how often a run of five minutes finds a p99 that is a fifth longer, and is wrong.

    The mean of the requests decides, too.
    """
    for requests in _REQUESTS:
        pairs = int(_LIMIT / (_BESIDE + 2 * requests * _MEAN_SECONDS))
        noise = partial(of_p99, requests)
        found, alike = (
            simulated(
                partial(until_decided, Metric(noise, 0.03, loss, metrics=2, time_for=pairs)), each
            )
            for loss, each in ((_TAIL, runs), (0.0, 4 * runs))
        )
        least = 80 if requests in _REQUESTS[1:-1] else None
        yield (
            f"{requests:,} requests",
            (
                Figure(pairs),
                Figure(percentage([end.word == "slower" for end in found]), least, least=True),
                Figure(percentage([end.word in ALARMS for end in alike]), 1),
            ),
        )


def pooled(runs: int) -> Iterator[Row]:
    """Yield how often the interval of a p99 over all trials has the true one."""
    truth = math.exp(NormalDist().inv_cdf(0.99))
    for trials in (5, 12, 30):
        cells = []
        for scatter in (0.0, 0.05):
            chance = random.Random(20261128)
            found = [_of_all(chance, trials, scatter) for _ in range(runs)]
            inside = [(each.low or 0) <= truth <= (each.high or math.inf) for each in found]
            cells.append(Figure(percentage(inside), 92, least=True))
        yield f"{trials} trials of 1,000 requests", cells


def _of_all(chance: random.Random, trials: int, scatter: float) -> Pooled:
    """Return the p99 of the requests of trials, each slowed or sped up by the machine."""
    levels = [math.exp(chance.gauss(0, scatter)) for _ in range(trials)]
    values = [Counter(each * chance.lognormvariate(0, 1) for _ in range(1_000)) for each in levels]
    return pooled_quantile(values, 0.99, exact=True)


_MEASURED = ("measured [%]",)
TABLES = {
    "wrong": Table(
        "Wrong alarms, nothing changed, two metrics",
        ("until decided [%]", *(f"{count} pairs [%]" for count in PLANNED)),
        false_alarms,
    ),
    "pairs": Table(
        "Pairs until a verdict",
        ("right [%]", "pairs", "new pairs", "pairs of a plan", "ratio"),
        partial(pairs_needed, FEW_RUNS),
    ),
    "last": Table(
        "Right verdicts of a run until decided with few repetitions",
        ("no change [%]", "5 % slower [%]", "10 % slower [%]"),
        partial(last_looks, FEW_RUNS),
    ),
    "timed": Table(
        "Wrong alarms of runs with a limit of time, nothing changed, two metrics",
        tuple(f"time for {time} pairs [%]" for time in TIMES),
        partial(timed_alarms, RUNS),
    ),
    "time": Table(
        "Right verdicts of runs with a limit of time, four metrics",
        tuple(
            column
            for change in ("no change", "5 % slower", "10 % slower", "20 % slower")
            for column in (f"{change} [%]", "pairs")
        ),
        partial(timed_verdicts, RUNS),
    ),
    "bad": Table(
        "Right verdicts with one pair of twelve off by a factor of two",
        ("12 pairs without it [%]", "12 pairs with it [%]", "until decided with it [%]"),
        partial(bad_pairs, FEW_RUNS),
    ),
    "same": Table(
        "Changes called the same",
        ("until decided [%]", "12 pairs [%]"),
        partial(called_the_same, FEW_RUNS),
    ),
    "intervals": Table(
        "Intervals that contain the true change",
        ("until decided, 0 % [%]", "until decided, 10 % [%]", "12 pairs, 0 % [%]"),
        partial(covered, FEW_RUNS),
    ),
    "searches": Table(
        "Searches for a slowdown of 15 %",
        ("found [%]", "another named [%]", "pairs"),
        partial(searches, FEW_RUNS),
    ),
    "tails": Table(
        "Runs of five minutes and a p99 that is a fifth longer",
        ("pairs in five minutes", "found [%]", "wrong without a change [%]"),
        partial(tails, FEW_RUNS),
    ),
    "pooled": Table(
        "Intervals of a p99 over all trials that contain the true one",
        ("trials alike [%]", "trials that scatter by 0.05 [%]"),
        partial(pooled, _FEWEST_RUNS),
    ),
    "histories": Table("Histories that alarm", _MEASURED, partial(histories, RUNS)),
    "functions": Table("Functions told without a change", _MEASURED, partial(functions, FEW_RUNS)),
}


def main() -> int:
    """Simulate, write the tables of the page and return the exit code."""
    wanted = sys.argv[1:] or list(TABLES)
    kept = [TABLES[name].written() for name in wanted]
    return int(not all(kept))


if __name__ == "__main__":
    sys.exit(main())
