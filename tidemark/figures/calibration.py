"""The slowdowns that runs of a suite find, from rounds of one version beside itself, slowed.

The true change of each slowed version is known, so that what is left of each d is the noise of this
machine. Runs are drawn from that noise and decided by the rule of a run until decided.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tidemark.figures.verdicts.pairs import differences
from tidemark.figures.verdicts.sequential_metric import SequentialMetric
from tidemark.figures.verdicts.sequential_run import criteria
from tidemark.figures.verdicts.version_verdicts import rates_beside
from tidemark.figures.version_rates import Quantity
from tidemark.model.plan import Plan
from tidemark.model.results import Exclusions, TrialResult
from tidemark.model.suite import MOST_REPETITIONS

DRAWS = 200
SHARE = 0.8
"""The share of runs that find a change if it counts as found."""
CHANGES = (0.01, 0.02, 0.03, 0.04, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5)
"""The losses that are looked for, as shares of the rate."""


class Found(NamedTuple):
    """The slowdowns of one quantity that runs of some length find."""

    rounds: int
    """The rounds of two versions that such a run has time for."""
    smallest: float | None
    """The smallest loss that 80 % of the runs call slower, as a share; None above 50 %."""
    false_alarms: float
    """The share of runs of equal versions that are called slower or faster."""


def noise(
    plan: Plan, trials: Sequence[TrialResult], exclusions: Exclusions, quantity: Quantity
) -> list[float]:
    """Return what is left of each d of each slowed version beside its true change.

    The sign is right for a rate; for a time, where less is better, it is turned.
    """
    base = plan.request.baseline or ""
    sign = 1 if quantity.metric.direction == "higher" else -1
    left = []
    for version, loss in plan.request.slowed.items():
        before, beside = rates_beside(trials, exclusions, quantity.key, base, version)
        true = math.log1p(-loss / 100)
        left += [sign * d - true for d in differences(before, beside).values()]
    return left


def found(plan: Plan, quantity: Quantity, left: Sequence[float], rounds: int) -> Found:
    """Return what runs of at most some rounds find, drawn from what is ``left`` of d."""
    run = _Runs(plan, quantity, left, rounds)
    smallest = next((loss for loss in CHANGES if run.share(loss, {"slower"}) >= SHARE), None)
    return Found(rounds, smallest, run.share(0.0, {"slower", "faster"}))


def of_two(plan: Plan) -> Plan:
    """Return the plan of a run until decided of two versions, which share fewer alarms."""
    changes = {"versions": plan.request.versions[:2], "repetitions": MOST_REPETITIONS}
    return plan.model_copy(update={"request": plan.request.model_copy(update=changes)})


class _Runs(NamedTuple):
    """Drawn runs of one length."""

    plan: Plan
    quantity: Quantity
    left: Sequence[float]
    rounds: int

    def share(self, loss: float, words: set[str]) -> float:
        """Return the share of runs that call a loss one of some words."""
        return sum(word in words for word in self._words(loss)) / DRAWS

    def _words(self, loss: float) -> Iterator[str]:
        rule = criteria(of_two(self.plan), self.quantity)
        sign = 1 if self.quantity.metric.direction == "higher" else -1
        # The same draws for each loss: a greater one is then found at least as often.
        chance = random.Random(1)  # noqa: S311 (repeatable draws, no secret)
        for _ in range(DRAWS):
            course = SequentialMetric()
            for _ in range(self.rounds):
                d = sign * (chance.choice(self.left) + math.log1p(-loss))
                course = course.after(d, rule)
                if course.is_decided:
                    break
            yield course.judgement(rule).word


def seconds_of_pair(plan: Plan, trials: Sequence[TrialResult]) -> float:
    """Return the time of a round of two versions [s], from rounds of more of them.

    The time beside the tasks is the same in any round; the tasks' own time grows with the versions.
    """
    tests = [test for trial in trials for test in trial.tests]
    last = max((test.ended_at for test in tests if test.ended_at), default=plan.started_at)
    rounds = max(1, len({trial.repetition for trial in trials}))
    whole = (last - plan.started_at).total_seconds() / rounds
    tasks = sum(task.seconds / task.shared for test in tests for task in test.tasks) / rounds
    return max(0.0, whole - tasks) + tasks * 2 / len(plan.request.measured_versions)
