"""Simulated runs whose verdicts the benchmark counts: the shipped rule on pairs of random noise."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from tests.checks.bench.noises import Noise
from tidemark.figures.verdicts.bisection import Bisection, Ends, Finding, Nearer
from tidemark.figures.verdicts.intervals import MIXTURE_T, PAIRED_T
from tidemark.figures.verdicts.pairs import Pairs
from tidemark.figures.verdicts.rule import Criteria, Judgement, Margins, Word, judge
from tidemark.figures.verdicts.sequential_metric import SequentialMetric

CAP = 100
"""The most pairs of a comparison before its confirmation."""


@dataclass(frozen=True)
class Metric:
    """One metric of a simulated run."""

    noise: Noise
    scatter: float
    """The standard deviation of d of one pair."""
    loss: float = 0.0
    """The true change downwards: 0.1 is 10 % slower."""
    metrics: int = 1
    """The metrics that share the alarms of the run."""
    margins: Margins = field(default_factory=Margins)
    most: int = CAP
    """The most pairs of a run until decided, before its confirmation."""
    time_for: int | None = None
    """The pairs that it has time for, with the pairs of its confirmation; None without a limit."""

    def pairs(self, chance: random.Random) -> Iterator[float]:
        """Yield the pairs of a run."""
        shift = math.log1p(-self.loss)
        return (pair + shift for pair in self.noise(chance, self.scatter))

    @property
    def planned(self) -> Criteria:
        """The criteria of a fixed plan."""
        return Criteria("higher", PAIRED_T, self.margins, 1 / self.metrics)

    @property
    def adaptive(self) -> Criteria:
        """The criteria of a run until decided."""
        share = 1 / self.metrics
        return Criteria("higher", MIXTURE_T, self.margins, share, self.most, self.time_for)


def fixed(metric: Metric, chance: random.Random, count: int) -> Judgement:
    """Return the verdict after a number of pairs that was planned."""
    return judge(Pairs.of(list(islice(metric.pairs(chance), count))), metric.planned)


@dataclass(frozen=True)
class Ended:
    """The end of a run until decided."""

    judgement: Judgement
    pairs: int
    """The pairs of both stages."""
    extra: int
    """The pairs of the confirmation."""

    @property
    def word(self) -> Word:
        """The word of the verdict."""
        return self.judgement.word


def until_decided(metric: Metric, chance: random.Random) -> Ended:
    """Return the end of a run that looks after each pair, whose alarms new pairs confirm."""
    course = _decided(metric, chance)
    extra = course.again.count if course.again else 0
    criteria = metric.adaptive._replace(is_over=not course.is_decided)
    return Ended(course.judgement(criteria), course.first.count + extra, extra)


def _decided(metric: Metric, chance: random.Random) -> SequentialMetric:
    course, criteria = SequentialMetric(), metric.adaptive
    for pair in islice(metric.pairs(chance), metric.time_for):
        course = course.after(pair, criteria)
        if course.is_decided:
            break
    return course


@dataclass(frozen=True)
class Searched:
    """The end of a search for the first slower version."""

    is_found: bool
    is_wrong: bool
    """Whether it names another version; else it cannot tell."""
    comparisons: int
    pairs: int


def searched(metric: Metric, chance: random.Random, versions: Sequence[str]) -> Searched:
    """Return the end of a search in which a version drawn by chance is the first slower one."""
    first = chance.randrange(1, len(versions))
    alike = replace(metric, loss=0.0)
    newest = _decided(metric, chance)
    findings: dict[str, Finding] = {versions[-1]: newest.judgement(metric.adaptive).word}
    known = newest.first + newest.pairs if newest.again else newest.first
    ends, pairs = Ends(known.estimate, metric.adaptive.alpha), known.count
    while (version := Bisection(versions, findings).following) is not None:
        of_version = metric if versions.index(version) >= first else alike
        findings[version], count = _nearer(of_version, chance, ends)
        pairs += count
    suspects = list(Bisection(versions, findings).suspects)
    is_found = suspects == [versions[first]]
    return Searched(is_found, len(suspects) == 1 and not is_found, len(findings), pairs)


def _nearer(metric: Metric, chance: random.Random, ends: Ends) -> tuple[Nearer, int]:
    """Return the end that a version is nearer to, and the pairs that tell it."""
    pairs = Pairs()
    for pair in islice(metric.pairs(chance), CAP):
        pairs += Pairs.of([pair])
        if ends.nearer(pairs) != "cannot tell":
            break
    return ends.nearer(pairs), pairs.count
