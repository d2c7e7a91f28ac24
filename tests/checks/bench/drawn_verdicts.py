"""Verdicts on runs that are drawn from the repetitions of a real run."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import expm1, log
from statistics import median

from tests.checks.bench.slowed_rocksdb import BASE, LOSSES, slowed
from tidemark.figures.verdicts.course import Course
from tidemark.figures.verdicts.methods import MIXTURE_T, PAIRED_T
from tidemark.figures.verdicts.pairs import Pairs
from tidemark.figures.verdicts.rule import Criteria, Margins, Word, judge
from tidemark.model.results import TrialResult
from tidemark.money.run_cost import task_seconds

RUNS, CAP, FIXED = 1_000, 100, 30
THRESHOLD = 0.1
"""A change of the means that a rule without statistics calls slower."""
METRIC = "compaction_rate"
"""The clock of its test covers the engine alone, so that the rate has the whole slowdown."""
RIGHT: dict[int, Word] = {0: "same", 5: "slower", 10: "slower", 20: "slower"}


@dataclass(frozen=True)
class Row:
    """The figures of one slowdown."""

    loss: int
    right: float
    """The share of runs until decided with the right verdict."""
    wrong: float
    """The share with a wrong verdict; the rest cannot tell."""
    repetitions: float
    """The repetitions of a run until decided, those of confirmations among them."""
    fixed: float
    """The share of runs of 30 repetitions with the right verdict."""
    threshold: float
    """The share of single repetitions that a threshold of 10 % calls rightly."""

    @property
    def text(self) -> str:
        """The row of the table."""
        shares = [f"{100 * share:.1f} %" for share in (self.right, self.wrong)]
        others = [f"{100 * share:.1f} %" for share in (self.fixed, self.threshold)]
        cells = [f"{self.loss} % slower", *shares, f"{self.repetitions:.1f}", *others]
        return f"| {' | '.join(cells)} |\n"


def row(loss: int, pairs: Sequence[float], chance: random.Random, runs: int = RUNS) -> Row:
    """Return the figures of runs whose pairs are drawn from those of a slowed version."""
    until = [_until_decided(pairs, chance) for _ in range(runs)]
    criteria = Criteria("higher", PAIRED_T, Margins())
    fixed = [judge(Pairs.of(chance.choices(pairs, k=FIXED)), criteria).word for _ in range(runs)]
    words = [word for word, _ in until]
    right = RIGHT[loss]
    return Row(
        loss,
        right=words.count(right) / runs,
        wrong=sum(word not in {right, "cannot tell"} for word in words) / runs,
        repetitions=sum(count for _, count in until) / runs,
        fixed=fixed.count(right) / runs,
        threshold=sum((expm1(d) <= -THRESHOLD) == (loss >= 100 * THRESHOLD) for d in pairs)
        / len(pairs),
    )


def _until_decided(pairs: Sequence[float], chance: random.Random) -> tuple[Word, int]:
    """Return the verdict of a run until decided, and its repetitions."""
    criteria, course, count = Criteria("higher", MIXTURE_T, Margins()), Course(), 0
    while not course.is_decided:
        course, count = course.after(chance.choice(pairs), criteria, CAP), count + 1
    return course.judgement(criteria).word, count


def pairs_of(trials: Sequence[TrialResult], version: str) -> list[float]:
    """Return ln(new / base) of each repetition that has both rates."""
    rates: dict[str, dict[int, float]] = {BASE: {}, version: {}}
    for trial in trials:
        for rate in (rate for test in trial.tests for rate in test.rates):
            if rate.metric == METRIC and rate.value and trial.version in rates:
                rates[trial.version][trial.repetition] = rate.value
    both = sorted(rates[BASE].keys() & rates[version].keys())
    return [log(rates[version][each]) - log(rates[BASE][each]) for each in both]


def tables(trials: Sequence[TrialResult], runs: int = RUNS) -> Iterator[str]:
    """Yield the lines of the table, and a sentence on the machine time."""
    chance = random.Random(20261122)
    yield "| RocksDB | right until decided | wrong | repetitions | right after 30 | ± 10 % once |\n"
    yield "|---|--:|--:|--:|--:|--:|\n"
    for loss in LOSSES:
        yield row(loss, pairs_of(trials, slowed(loss)), chance, runs).text
    seconds = median(task_seconds([trial]) for trial in trials)
    yield f"\nA repetition of two versions takes {2 * seconds:.1f} s of task time.\n"
