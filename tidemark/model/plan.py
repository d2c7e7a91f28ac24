"""The plan of a run: its trials in their order, its expected time and cost, and its resumes.

Prices, and the origin of figures that were imported, are parts of a plan.
"""

import operator
import random
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Literal

from pydantic import Field

from tidemark.model.base import Frozen
from tidemark.model.instance import KnownInstance
from tidemark.model.labels import labelled_name
from tidemark.model.parameters import Combination, combinations
from tidemark.model.run_id import is_profiled
from tidemark.model.run_spec import RunSpec, requirement
from tidemark.model.sentences import listed
from tidemark.model.suite import TRIALS, Suite
from tidemark.model.task import Task
from tidemark.model.version_order import typed_order

_HOUR_SECONDS = 3600
_FREE_STORAGE = 20  # GB of a Fargate task
# AWS does not say whether a GB of log events is 10**9 or 2**30 bytes: 10**9 is dearer.
GB = 10**9


class Prices(Frozen):
    """On-demand list prices [USD] of a region on a day: no free tier, no discount, no tax.

    The prices cover what a run records: its tasks and log queries.
    """

    region: str
    as_of: date
    architecture: str
    """The CPU architecture of the tasks, as a task definition names it."""
    vcpu_hour: float
    """An hour of one vCPU of a Fargate task on Linux."""
    memory_hour: float
    """An hour of 1 GB of memory of a Fargate task on Linux."""
    storage_hour: float
    """An hour of 1 GB of a Fargate task's storage beyond the first 20 GB."""
    address_hour: float
    """An hour of a public IPv4 address; each task has one."""
    scanned_gb: float
    """1 GB of log events scanned by Logs Insights."""

    def of_tasks(self, task: Task, seconds: float) -> float:
        """Return the cost of tasks of one size that are billed ``seconds`` in all [USD]."""
        hourly = (
            task.cpu / 1024 * self.vcpu_hour
            + task.memory / 1024 * self.memory_hour
            + (task.storage - _FREE_STORAGE) * self.storage_hour
            + self.address_hour
        )
        return hourly * seconds / _HOUR_SECONDS

    def of_queries(self, scanned: int) -> float:
        """Return the cost of log queries that scanned this many bytes [USD]."""
        return scanned / GB * self.scanned_gb


Basis = Literal["declared times", "time limits", "most repetitions"]


class Estimate(Frozen):
    """The expected time and cost of a whole run on AWS, at the prices of its plan."""

    basis: Basis
    """The source of the times; from time limits, times and costs are upper bounds."""
    seconds: float
    """The duration of the run [s]: of its batches of rounds, or its trials, one after the other."""
    task_seconds: int
    """The time that Fargate bills for all tasks [s]."""
    tasks_usd: float
    insights_bytes: int
    """The bytes that the log queries scan [B]."""
    queries_usd: float
    transitions: int
    """The state transitions of both state machines, without retries."""
    services_usd: float
    """The cost of state transitions, functions, ingested log lines and custom metrics [USD]."""
    athena_bytes: int
    """The bytes billed if each saved query runs once [B]; a run itself sends no query."""
    athena_usd: float

    @property
    def measuring_usd(self) -> float:
        """The cost of the tasks and log queries [USD], which a run records afterwards."""
        return self.tasks_usd + self.queries_usd

    @property
    def usd(self) -> float:
        """The cost of the run and of one look at its tables [USD]."""
        return self.measuring_usd + self.services_usd + self.athena_usd


class Import(Frozen):
    """The place of published figures, and the day of their import."""

    file: str
    """The name of the file without its folder."""
    line: int
    source: str
    """The place where the file is published, as the user names it, '' without a name."""
    imported_on: date
    as_typed: bool = Field(default=False, exclude_if=operator.not_)
    """Whether the versions have the order of the file, whatever their names say."""
    setup: str = Field(default="", exclude_if=operator.not_)
    """The words of the page on its machines, from its section of the setup."""
    links: tuple[str, ...] = Field(default=(), exclude_if=operator.not_)
    """The addresses that the page links to."""
    settings: Mapping[str, str] = Field(default={}, exclude_if=operator.not_)
    """The settings in tables of its setup, and the addresses of its lists of links, by name."""

    @property
    def text(self) -> str:
        """The origin for a table: ``system-tests.md line 48, imported 2026-11-23``."""
        published = f" of {self.source}" if self.source else ""
        return f"{self.file}{published}, line {self.line}, imported {self.imported_on}"


class PlannedTrial(Frozen):
    """A trial to measure: every test, once, for one version and one combination of axes."""

    trial: int
    version: str
    package: str
    repetition: int
    axes: Combination = Field(default={}, exclude_if=operator.not_)
    """The values of the suite's axes."""

    @property
    def name(self) -> str:
        """The version with its axes, such as ``9.8.4 {database: mariadb}``."""
        return labelled_name(self.version, self.axes)

    @property
    def turn(self) -> tuple[int, Combination]:
        """The repetition and the axes, which the trials of a round share."""
        return self.repetition, self.axes


class Plan(Frozen):
    """The plan of one run: ``runs/<run_id>/plan.json``."""

    run_id: str
    execution_arn: str
    started_at: datetime
    request: RunSpec
    suite: Suite
    suite_digest: str
    seed: int
    trials: tuple[PlannedTrial, ...]
    profiled: tuple[PlannedTrial, ...] = Field(default=(), exclude_if=operator.not_)
    """The profiled trials, which follow all others and count in no rate."""
    tidemark_version: str | None = None
    """The version of Tidemark that made the plan."""
    prices: Prices | None = None
    """The list prices when the plan was made; None of imported figures."""
    estimate: Estimate | None = None
    """The expected time and cost; None of imported figures."""
    imported: Import | None = Field(default=None, exclude_if=operator.not_)
    """The origin of the figures if nothing was measured."""
    queries_digest: str = Field(default="", exclude_if=operator.not_)
    """The digest of the log queries that give the figures; '' of imported figures."""
    known: KnownInstance | None = Field(default=None, exclude_if=operator.not_)
    """The names of the run's instance; None without an instance."""

    @property
    def words(self) -> dict[str, str]:
        """The values of the words in the steps of a suite of instances; none without one."""
        if self.request.instance is None:
            return {}
        names = self.known.names if self.known else {}
        account = self.execution_arn.split(":")[4]
        return {**names, "instance": self.request.instance, "account": account}

    @property
    def all_trials(self) -> tuple[PlannedTrial, ...]:
        """The trials that count in rates, and behind them the profiled trials."""
        return (*self.trials, *self.profiled)

    def first_together(self, trials: Sequence[PlannedTrial]) -> Sequence[PlannedTrial]:
        """Return the first of some trials, in rounds with the others that share its tasks."""
        if self.request.layout == TRIALS or not trials or is_profiled(trials[0].trial):
            return trials[:1]
        first = trials[0]
        return [each for each in trials if each.turn == first.turn and not is_profiled(each.trial)]

    @property
    def ascending(self) -> tuple[str, ...]:
        """The versions in their order, the oldest first; as named if their order is not known."""
        versions = self.request.versions
        return versions if len(versions) == 1 else tuple(sorted(versions, key=self.version_order))

    @property
    def knows_order(self) -> bool:
        """Whether it is known which of the versions are older than others."""
        return self.suite.subject.knows_order(self.request.versions)

    def version_order(self, version: str) -> str:
        """Return a text that sorts as the run's versions do: as named if none is known."""
        if self.knows_order and not (self.imported and self.imported.as_typed):
            return self.suite.subject.version_order(version)
        return typed_order(self.request.measured_versions.index(version) + 1)

    @property
    def of_unknown_order(self) -> str:
        """A sentence about versions that are compared as they are named; '' for none."""
        if self.knows_order or self.request.baseline:
            return ""
        return (
            f"The order of {listed(self.request.versions)} is not known: each is compared with the "
            "one named before it."
        )

    @property
    def compared(self) -> tuple[str, ...]:
        """The versions that are compared with the baseline, in order; empty without a baseline."""
        baseline = self.request.baseline
        return tuple(each for each in self.ascending if each != baseline) if baseline else ()

    @property
    def bases(self) -> dict[str, str]:
        """The base of each version that has one: the baseline, or else the version before it."""
        if self.request.baseline:
            return dict.fromkeys(self.compared, self.request.baseline)
        return dict(zip(self.ascending[1:], self.ascending, strict=False))

    @property
    def comparable(self) -> tuple[str, ...]:
        """The versions that are compared with the baseline; of a search, all that may be."""
        search = self.request.bisect
        return search.versions[1:] if search else self.compared

    @property
    def most_comparisons(self) -> int:
        """The most versions that are compared with one of them; one without another version."""
        search = self.request.bisect
        return search.most_comparisons if search else max(1, len(self.request.versions) - 1)


class Resume(Frozen):
    """An execution that resumed a run after an early end, with the fields of its request."""

    execution_arn: str
    started_at: datetime
    trigger: str
    note: str
    budget_usd: float | None = None
    """The new budget of the run [USD]; None keeps the last budget."""


def latest_budget(plan: Plan, resumes: Sequence[Resume]) -> float | None:
    """Return the last budget of a run [USD], None if it never had one.

    ``resumes`` are in the order of time; a resume without a budget keeps the last one.
    """
    budgets = [plan.request.budget_usd, *(resume.budget_usd for resume in resumes)]
    return next((budget for budget in reversed(budgets) if budget is not None), None)


def in_turns(
    request: RunSpec,
    suite: Suite,
    versions: Sequence[str],
    repetitions: Iterable[int],
    *,
    seed: int,
    first: int = 1,
) -> tuple[PlannedTrial, ...]:
    """Return the trials of versions in some repetitions, numbered from ``first`` on.

    The versions take turns, in an order that is shuffled for each repetition of each combination of
    axes: a change of the machine during a run then affects all versions alike (randomised complete
    block design). The same arguments give the same order.
    """
    shuffle = random.Random(seed)  # noqa: S311 (order, no secret)
    order = [
        (repetition, axes, version)
        for repetition in repetitions
        for axes in combinations(request.axes)
        for version in shuffle.sample(versions, len(versions))
    ]
    return tuple(
        PlannedTrial(
            trial=number,
            version=version,
            package=requirement(request, suite, version),
            repetition=repetition,
            axes=axes,
        )
        for number, (repetition, axes, version) in enumerate(order, start=first)
    )
