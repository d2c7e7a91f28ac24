"""Verdicts on runs of two versions that are drawn from the repetitions of a real run.

A drawn run measures both metrics, as the shipped suite does, and ends when both are decided.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from tests.checks.bench.slowed_rocksdb import BASE, LOSSES, slowed
from tests.checks.bench.slowed_runs import StoredRun
from tidemark.figures.verdicts.intervals import MIXTURE_T, PAIRED_T
from tidemark.figures.verdicts.pairs import Pairs
from tidemark.figures.verdicts.rule import Criteria, Margins, Word, judge
from tidemark.figures.verdicts.sequential_metric import SequentialMetric
from tidemark.model.results import TrialResult
from tidemark.model.suite_files import read_suites

RUNS, CAP = 1_000, 100
DEFAULT = read_suites()["rocksdb"].defaults.repetitions
"""The repetitions of the suite as it is shipped."""
THRESHOLD = 0.1
"""A change of the rates of one repetition that a rule without statistics calls slower or faster."""
METRICS = ("ingest_rate", "compaction_rate")
ADAPTIVE, PLANNED = (
    Criteria("higher", method, Margins(), 1 / len(METRICS), CAP) for method in (MIXTURE_T, PAIRED_T)
)
RIGHT: dict[int, Word] = {0: "same", 5: "slower", 10: "slower", 20: "slower"}

Rates = Mapping[str, Sequence[float]]
"""The rates of a whole repetition by version, in the order of ``METRICS``."""
Differences = Sequence[float]
"""d = ln(new / base) of a repetition, in the order of ``METRICS``."""


class Verdicts(NamedTuple):
    """The verdicts of one drawn run, in the order of ``METRICS``, and its repetitions."""

    words: Sequence[Word]
    repetitions: int


Rule = Callable[[Sequence[Differences], random.Random], Verdicts]
"""A function that draws the repetitions of a run from those given and judges them."""


def until_decided(measured: Sequence[Differences], chance: random.Random) -> Verdicts:
    """Draw repetitions until both metrics are decided."""
    count = 0
    courses = [SequentialMetric() for _ in METRICS]
    while not all(course.is_decided for course in courses):
        drawn, count = chance.choice(measured), count + 1
        courses = [
            course if course.is_decided else course.after(d, ADAPTIVE)
            for course, d in zip(courses, drawn, strict=True)
        ]
    return Verdicts([course.judgement(ADAPTIVE).word for course in courses], count)


def planned(count: int, measured: Sequence[Differences], chance: random.Random) -> Verdicts:
    """Draw a fixed number of repetitions."""
    drawn = chance.choices(measured, k=count)
    words = [judge(Pairs.of(list(each)), PLANNED).word for each in zip(*drawn, strict=True)]
    return Verdicts(words, count)


def by_threshold(measured: Sequence[Differences], chance: random.Random) -> Verdicts:
    """Draw one repetition and judge it by a threshold."""
    return Verdicts([_by_threshold(math.expm1(d)) for d in chance.choice(measured)], 1)


def _by_threshold(change: float) -> Word:
    if abs(change) < THRESHOLD:
        return "same"
    return "faster" if change > 0 else "slower"


RULES: Mapping[str, Rule] = {
    "until decided": until_decided,
    f"{DEFAULT} repetitions": partial(planned, DEFAULT),
    "30 repetitions": partial(planned, 30),
    "± 10 % once": by_threshold,
}


class Shares(NamedTuple):
    """The shares of the verdicts of drawn runs, and the mean of their repetitions."""

    right: float
    wrong: float
    """The share of wrong verdicts; the rest cannot tell."""
    repetitions: float

    @property
    def untold(self) -> float:
        """The share that cannot tell."""
        return 1 - self.right - self.wrong


def shares(rule: Rule, loss: int, measured: Sequence[Differences], runs: int = RUNS) -> Shares:
    """Return the shares of a rule on runs of a version that is slower by ``loss`` [%]."""
    chance, source = random.Random(20261122), around(loss, measured)
    drawn = [rule(source, chance) for _ in range(runs)]
    words = [word for run in drawn for word in run.words]
    right, untold = words.count(RIGHT[loss]), words.count("cannot tell")
    return Shares(
        right=right / len(words),
        wrong=(len(words) - right - untold) / len(words),
        repetitions=sum(run.repetitions for run in drawn) / runs,
    )


def around(loss: int, measured: Sequence[Differences]) -> list[Differences]:
    """Return d of two repetitions or more, moved so that their mean is the slowdown [%].

    The truth of a drawn run is the mean of what it is drawn from, and the mean of a few
    repetitions is off by chance. The scatter is stretched to their sample standard deviation.
    """
    count, truth = len(measured), math.log1p(-loss / 100)
    means = [sum(each) / count for each in zip(*measured, strict=True)]
    stretch = math.sqrt(count / (count - 1))
    return [
        [truth + stretch * (d - mean) for d, mean in zip(one, means, strict=True)]
        for one in measured
    ]


def repetitions(runs: Iterable[StoredRun]) -> list[Rates]:
    """Return the repetitions in which every version has both rates."""
    return [rates for run in runs for rates in _whole(run.trials)]


def _whole(trials: Iterable[TrialResult]) -> Iterator[Rates]:
    versions = {BASE, *map(slowed, LOSSES)}
    found: defaultdict[int, dict[str, Sequence[float]]] = defaultdict(dict)
    for trial in trials:
        values = {rate.metric: rate.value for test in trial.tests for rate in test.rates}
        rates = [value for metric in METRICS if (value := values.get(metric))]
        if len(rates) == len(METRICS):
            found[trial.repetition][trial.version] = rates
    return (rates for rates in found.values() if rates.keys() == versions)


def differences(measured: Iterable[Rates], version: str) -> list[Differences]:
    """Return d of each metric in each repetition."""
    return [
        [math.log(new) - math.log(base) for base, new in zip(one[BASE], one[version], strict=True)]
        for one in measured
    ]
