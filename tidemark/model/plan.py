"""The plan of a run: its trials in their order, its expected time and cost, and its resumes."""

import operator
import random
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime

from pydantic import Field

from tidemark.model.axes import Combination, combinations
from tidemark.model.base import Frozen
from tidemark.model.cost import Estimate, Prices
from tidemark.model.instance import KnownInstance
from tidemark.model.labels import labelled_name
from tidemark.model.run_id import is_profiled
from tidemark.model.run_spec import RunSpec, requirement
from tidemark.model.sentences import listed
from tidemark.model.suite import TRIALS, Suite
from tidemark.model.version_order import typed_order


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
        """The trials that count in rates, and behind them the profiled ones."""
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
