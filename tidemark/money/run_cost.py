"""The cost, at AWS's prices, of the tasks and log queries that a run recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple

from tidemark.model.plan import Plan
from tidemark.model.results import TestResult, TrialResult


class Cost(NamedTuple):
    """The cost of the tasks and log queries of a run [USD]."""

    tasks: float
    queries: float

    @property
    def total(self) -> float:
        """The whole cost [USD]."""
        return self.tasks + self.queries


def run_cost(plan: Plan, trials: Sequence[TrialResult]) -> Cost | None:
    """Return the cost of trials at their plan's prices, None if prices or bytes are missing."""
    scanned = insights_bytes(trials)
    if plan.prices is None or scanned is None:
        return None
    return Cost(
        tasks=sum(
            plan.prices.of_tasks(plan.suite.task_of(service, trial.axes), seconds)
            for trial in trials
            for service, seconds in _billed([trial]).items()
        ),
        queries=plan.prices.of_queries(scanned),
    )


def billed_seconds(trials: Sequence[TrialResult]) -> int:
    """Return the time that Fargate bills for all tasks of trials [s]."""
    return sum(_billed(trials).values())


def _billed(trials: Sequence[TrialResult]) -> Counter[str]:
    """Return the billed time of the tasks of each service, and with '' of the tests' own [s].

    Tasks of an instance have a size of their own, and are the cost of their instance.
    """
    billed: Counter[str] = Counter({"": 0})
    for test in _launched(trials):
        for task in test.tasks:
            billed[task.service] += 0 if task.definition else task.billed_seconds
    return billed


def task_seconds(trials: Sequence[TrialResult]) -> float:
    """Return the run time of all tasks of trials [s], of shared tasks the trials' share of it."""
    # Durations are whole microseconds: a sum of floats would have rounding errors.
    tasks = (task for trial in trials for test in trial.tests for task in test.tasks)
    return sum((task.duration / task.shared for task in tasks), timedelta()).total_seconds()


def insights_bytes(trials: Sequence[TrialResult]) -> int | None:
    """Return the bytes that trials' log queries scanned, None if a test has not recorded them."""
    scanned = [test.insights_bytes for test in _launched(trials)]
    counts = [count for count in scanned if count is not None]
    return sum(counts) if len(counts) == len(scanned) else None


def _launched(trials: Sequence[TrialResult]) -> list[TestResult]:
    return [test for trial in trials for test in trial.tests if test.tasks]
