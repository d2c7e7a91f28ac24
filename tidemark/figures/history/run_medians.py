"""The medians of a run: one point of each series in the history of a suite."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from tidemark.figures.history.change_points import median
from tidemark.figures.trial_statistics import quantile
from tidemark.figures.version_rates import Key, Quantity, measured_rates, quantities
from tidemark.model.base import Frozen
from tidemark.model.labels import figure_name
from tidemark.model.parameters import Value
from tidemark.model.plan import Plan
from tidemark.model.results import Exclusions, TrialResult

_Rates = Mapping[Key, Sequence[float]]
_FEWEST_TRIALS = 3
"""The fewest trials that have quartiles."""
# The fields of a task's environment that name its machine.
_MACHINE = ("arch", "cores", "cpu_model")


class Series(NamedTuple):
    """The names that tell a figure of a suite from any other."""

    test: str
    metric: str
    statistic: str
    labels: str
    """The canonical labels, '' without labels."""
    unit: str
    direction: str
    """The better direction."""

    @property
    def name(self) -> str:
        """The name of the figure, such as ``latency p99 {operation: create}``."""
        return figure_name(self.metric, self.statistic, self.labels)


class Median(NamedTuple):
    """One figure of a run."""

    series: Series
    margin: float
    """The least change of the metric that matters, 0.03 being 3 %."""
    value: float
    """The median of the trials that count [unit]."""
    canary: float | None
    """The same of the canary in the same run; None without its trials."""
    quartiles: tuple[float, float] | None = None
    """The quartiles of the trials that count [unit]; None for fewer than three."""


class RunMedians(Frozen):
    """The medians of the newest version of a run, for each metric that decides."""

    run_id: str
    started_at: datetime
    version: str
    """The newest version of the run that is not the canary; the canary if there is no other."""
    version_order: str
    """The text that sorts as that version does."""
    canary: str | None
    """The version that every repetition measures; None without a canary."""
    parameters: dict[str, Value]
    environment: str | None
    """A digest of machine type, processor, image and Tidemark's version; None if unknown."""
    medians: tuple[Median, ...]
    """Empty if no trial of the version counts."""


def run_medians(plan: Plan, trials: Sequence[TrialResult], exclusions: Exclusions) -> RunMedians:
    """Return the medians of a run."""
    canary = plan.request.canary
    others = {canary, *plan.request.slowed}
    under_test = [version for version in plan.ascending if version not in others]
    version = (under_test or plan.ascending)[-1]
    counting = [trial for trial in trials if exclusions.reason(trial.trial) is None]
    rates, of_canary = (_rates(trials, exclusions, each) for each in (version, canary))
    return RunMedians(
        run_id=plan.run_id,
        started_at=plan.started_at,
        version=version,
        version_order=_version_order(plan, version),
        canary=canary,
        parameters=plan.request.parameters,
        environment=_environment(plan, counting),
        medians=tuple(_medians(quantities(plan, trials), rates, of_canary)),
    )


def _version_order(plan: Plan, version: str) -> str:
    if plan.imported and plan.imported.as_typed:
        return plan.version_order(version)
    return plan.suite.subject.version_order(version)


def _medians(measured: Iterable[Quantity], rates: _Rates, of_canary: _Rates) -> Iterator[Median]:
    for quantity in measured:
        metric, values = quantity.metric, rates.get(quantity.key)
        canary = of_canary.get(quantity.key)
        if metric.decides and values:
            yield Median(
                series=Series(*quantity.key, metric.unit, metric.direction),
                margin=metric.margin,
                value=median(values),
                canary=median(canary) if canary else None,
                quartiles=_quartiles(values),
            )


def _quartiles(values: Sequence[float]) -> tuple[float, float] | None:
    if len(values) < _FEWEST_TRIALS:
        return None
    return quantile(values, 0.25), quantile(values, 0.75)


def _rates(trials: Iterable[TrialResult], exclusions: Exclusions, version: str | None) -> _Rates:
    rates: defaultdict[Key, list[float]] = defaultdict(list)
    of_version = (trial for trial in trials if trial.version == version)
    for each in measured_rates(of_version, exclusions):
        rates[each.key].append(each.value)
    return rates


def _environment(plan: Plan, trials: Sequence[TrialResult]) -> str | None:
    results = [result for trial in trials for result in trial.tests]
    machines = {
        json.dumps(
            [environment.get(field) for field in _MACHINE]
            # An import may know no more of its machine.
            + [environment[field] for field in ("instance_type",) if field in environment]
        )
        for result in results
        for environment in result.environments
    }
    if not machines:
        return None
    images = {task.image_digest or "" for result in results for task in result.tasks}
    if plan.suite.subject.image:
        images = set()  # each version has its own: a new one is not a change of the environment
    size = [plan.suite.task.cpu, plan.suite.task.memory]
    for service in plan.suite.services.values():
        size += [service.task.cpu, service.task.memory]
    own = None if plan.imported else plan.tidemark_version
    text = json.dumps([size, sorted(machines), sorted(images), own])
    return hashlib.sha256(text.encode()).hexdigest()
