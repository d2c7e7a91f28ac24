"""What a run cost on AWS, or would have cost there, as far as it is recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from lambdas.results import TestResult, TrialResult
from suites.plan import Plan


@dataclass(frozen=True)
class Cost:
    """The cost of the tasks and log queries of a run [USD]."""

    tasks: float
    queries: float

    @property
    def total(self) -> float:
        """All together [USD]."""
        return self.tasks + self.queries


def run_cost(plan: Plan, trials: Sequence[TrialResult]) -> Cost | None:
    """Return the cost of trials at their plan's prices; None if either is not recorded."""
    scanned = insights_bytes(trials)
    if plan.prices is None or scanned is None:
        return None
    return Cost(
        tasks=plan.prices.of_tasks(plan.suite.task, billed_seconds(trials)),
        queries=plan.prices.of_queries(scanned),
    )


def billed_seconds(trials: Sequence[TrialResult]) -> int:
    """Return what Fargate bills for the tasks of trials together [s]."""
    return sum(task.billed_seconds for test in _launched(trials) for task in test.tasks)


def task_seconds(trials: Sequence[TrialResult]) -> float:
    """Return how long the tasks of trials ran together [s]."""
    # As durations, which are whole microseconds: a sum of seconds shows what binary fractions add.
    tasks = (task for trial in trials for test in trial.tests for task in test.tasks)
    return sum((task.duration for task in tasks), timedelta()).total_seconds()


def insights_bytes(trials: Sequence[TrialResult]) -> int | None:
    """Return what the log queries of trials scanned [B]; None if a test has not recorded it."""
    scanned = [test.insights_bytes for test in _launched(trials)]
    known = [count for count in scanned if count is not None]
    return sum(known) if len(known) == len(scanned) else None


def _launched(trials: Sequence[TrialResult]) -> list[TestResult]:
    return [test for trial in trials for test in trial.tests if test.tasks]
