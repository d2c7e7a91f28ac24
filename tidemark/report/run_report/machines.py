"""The machines of a run and their differences, tasks at two levels, and jobs with too little work.

The packages, images and data sets that the tasks logged are here, too.

A changed machine looks like a changed version, and the mean of two levels describes neither.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence, Sized
from itertools import islice
from typing import NamedTuple

from tidemark.figures.task_logs import (
    DATA_SET_FIELD,
    HOST,
    OF_VERSION,
    Environment,
    environments,
    fact_names,
    fact_text,
    facts,
    other_names,
)
from tidemark.figures.two_levels import Levels, two_levels
from tidemark.figures.version_rates import Quantity, mean
from tidemark.model.numerals import MISSING, figure, percent, ranges
from tidemark.model.results import TaskResult, TrialResult
from tidemark.model.sentences import listed
from tidemark.report.blocks import Bullets, Row, Section, Table
from tidemark.report.run_report.measured import MeasuredRun, Measurement

DATA_SET = "Data set"
"""The start of the setting of the digest of such data, before the name of the data."""
_IMAGE = "image_digest"
NOT_LOGGED = "not logged"
# Each task of a hostile system may log another machine, with fields of other names.
_MOST = 20
_MOST_FIELDS = 100


def machines(trials: Iterable[TrialResult]) -> Table | str:
    """Return a table with a column for each machine, or a sentence if no task logged one."""
    hosts: dict[tuple[tuple[str, str], ...], set[str]] = {}
    trials_of: dict[tuple[tuple[str, str], ...], set[int]] = {}
    for trial, environment in environments(trials):
        machine = tuple((key, fact_text(key, environment[key])) for key in fact_names(environment))
        trials_of.setdefault(machine, set()).add(trial.trial)
        hosts.setdefault(machine, set()).add(str(environment.get(HOST, "")))
    if not trials_of:
        return "No task logged its machine."
    first = list(trials_of)[:_MOST]
    columns = [dict(machine) for machine in first]
    keys = sorted({key for machine in columns for key in machine})
    return Table(
        caption=f"Machines, as the tasks logged them{_more(trials_of)}",
        columns=("Fact", *(f"Machine {number}" for number in range(1, len(columns) + 1))),
        rows=(
            *(Row((key, *(machine.get(key, NOT_LOGGED) for machine in columns))) for key in keys),
            Row(("hosts", *(str(len(hosts[machine])) for machine in first))),
            Row(("trials", *(ranges(trials_of[machine]) for machine in first))),
        ),
    )


def values(trials: Iterable[TrialResult]) -> dict[str, list[str]]:
    """Return the different values of each field that the tasks logged of their machines.

    The names of hosts are left out: each task may have its own host.
    """
    by_field = facts(trials)
    return {key: _first(by_field[key]) for key in sorted(by_field)[:_MOST_FIELDS]}


def others(trials: Sequence[TrialResult]) -> dict[str, list[str]]:
    """Return the different values of each field of neither a machine nor a version."""
    names = {name for _, environment in environments(trials) for name in other_names(environment)}
    return {name: _logged_values(trials, name) for name in sorted(names)[:_MOST_FIELDS]}


def _logged_values(trials: Iterable[TrialResult], key: str) -> list[str]:
    """Return the different values of a field that tasks logged."""
    logged = {fact_text(key, each[key]) for _, each in environments(trials) if key in each}
    return _first(logged)


def data_sets(trials: Iterable[TrialResult], version: str) -> dict[str, str]:
    """Return the digests of the data sets that a version made, by their names."""
    of_version = list(environments(trial for trial in trials if trial.version == version))
    return {
        f"{DATA_SET}{key.removeprefix(DATA_SET_FIELD).replace('_', ' ')}": listed(
            _first({str(each[key]) for _, each in of_version if key in each})
        )
        for key in _data_sets(of_version)
    }


def digests(trials: Iterable[TrialResult], version: str) -> str:
    """Return the digests of a version's package, as its tasks logged them."""
    of_version = (trial for trial in trials if trial.version == version)
    return " and ".join(_logged_values(of_version, "package_digest")) or NOT_LOGGED


def images(trials: Iterable[TrialResult], version: str) -> str:
    """Return the digests of the images that the tasks of a version ran."""
    pulled = {image[_IMAGE] for trial, image in _pulled(trials) if trial.version == version}
    return " and ".join(sorted(pulled)) or MISSING


def differences(trials: Sequence[TrialResult]) -> list[str]:
    """Return a sentence for each field that was not the same for all trials.

    Fields that may be of a version, such as the digest of its package or image, are compared
    between trials of one version only. The names of hosts are left out: each task may have its
    own host.
    """
    logged = list(environments(trials))
    versions = sorted({trial.version for trial in trials})
    keys = sorted({key for _, environment in logged for key in fact_names(environment)})
    sentences = [_difference(key, "trials", logged) for key in keys[:_MOST_FIELDS]]
    for version in versions:
        of_version = [
            (trial, environment) for trial, environment in logged if trial.version == version
        ]
        beside = {name for _, environment in of_version for name in other_names(environment)}
        names = (*OF_VERSION, *_data_sets(of_version), *sorted(beside)[:_MOST_FIELDS])
        sentences += [_difference(key, f"trials of {version}", of_version) for key in names]
        images = [(trial, image) for trial, image in _pulled(trials) if trial.version == version]
        sentences.append(_difference(_IMAGE, f"trials of {version}", images))
    return [sentence for sentence in sentences if sentence]


def _difference(key: str, among: str, logged: Iterable[tuple[TrialResult, Environment]]) -> str:
    trials: dict[str, set[int]] = {}
    for trial, environment in logged:
        if key in environment:
            trials.setdefault(fact_text(key, environment[key]), set()).add(trial.trial)
    if len(trials) < 2:
        return ""
    each = [f"{value} in trial {ranges(numbers)}" for value, numbers in trials.items()]
    return f"{key} was not the same for all {among}: {'; '.join(each[:_MOST])}{_more(each)}."


def _first(texts: Collection[str]) -> list[str]:
    """Return the first texts in order, and the number of the others as the last."""
    more = len(texts) - _MOST
    return [*sorted(texts)[:_MOST], *([f"{more} more"] if more > 0 else [])]


def _more(everything: Sized) -> str:
    more = len(everything) - _MOST
    return f", and {more} more" if more > 0 else ""


def _pulled(trials: Iterable[TrialResult]) -> Iterator[tuple[TrialResult, Environment]]:
    for trial in trials:
        for result in trial.tests:
            for task in result.own_tasks:
                if task.image_digest:
                    yield trial, {_IMAGE: task.image_digest}


def _data_sets(logged: Iterable[tuple[TrialResult, Environment]]) -> list[str]:
    keys = {key for _, environment in logged for key in environment}
    return sorted(key for key in keys if key.startswith(DATA_SET_FIELD))


_MOST_SPLITS, _MOST_TASKS = 20, 100


class _Task(NamedTuple):
    """The samples of one task of a trial."""

    trial: int
    task: TaskResult
    values: Sequence[float]

    @property
    def value(self) -> float:
        """The mean of the samples."""
        return mean(self.values)


class _Split(NamedTuple):
    """A quantity of a version whose tasks are at two levels."""

    version: str
    quantity: Quantity
    tasks: Sequence[_Task]
    levels: Levels

    def sentence(self, name: str) -> str:
        """Return both levels in words; ``name`` is the version's."""
        unit = self.quantity.metric.unit
        sides = (
            [task for task in self.tasks if self.levels.is_high(task.value) == is_high]
            for is_high in (False, True)
        )
        both = " and ".join(
            f"{len(side)} at about {figure(mean([task.value for task in side]))} {unit} "
            f"({_processors(side)})"
            for side in sides
        )
        return (
            f"The tasks of {name} have two levels in {self.quantity.name}, so that their mean "
            f"describes neither: {both}. Unlike hosts, other programs or the version itself make "
            "such levels."
        )


def work_sentences(run: MeasuredRun, version: str, name: str) -> Iterator[str]:
    """Yield a sentence for each test whose jobs are less work than its suite asks for."""
    for quantity in run.quantities:
        metric = quantity.metric
        shares = [rate.value for rate in run.rates_of(quantity) if rate.version == version]
        for share in shares:
            if metric.work_from and share is not None and share < metric.work_from:
                yield (
                    f"Only {percent(share)} of the time of the jobs of {quantity.test} is work in "
                    f"{name} ({quantity.name}), and the rest hides changes: measure larger jobs."
                )


def work_sections(run: MeasuredRun) -> Iterator[Section]:
    """Yield a section with the tests whose jobs are too little work."""
    versions = dict.fromkeys(rate.version for rate in run.rates)
    if found := [text for version in versions for text in work_sentences(run, version, version)]:
        yield Section("Little work", (Bullets(tuple(found)),))


def level_sentences(run: MeasuredRun, version: str, name: str) -> Iterator[str]:
    """Yield a sentence for each metric whose tasks are at two levels in a version."""
    yield from (split.sentence(name) for split in islice(_splits(run, [version]), _MOST_SPLITS))


def level_sections(run: MeasuredRun) -> Iterator[Section]:
    """Yield a section with the samples by task if the tasks of a version are at two levels."""
    versions = {rate.version: None for rate in run.rates}
    if found := list(islice(_splits(run, versions), _MOST_SPLITS)):
        words = Bullets(tuple(split.sentence(split.version) for split in found))
        yield Section("Tasks at two levels", (words, *map(_table, found)))


def _splits(run: MeasuredRun, versions: Iterable[str]) -> Iterator[_Split]:
    # All statistics of a metric have the same samples. A rate that only jumps, since a system
    # divides by whole seconds, decides nothing.
    quantities = {
        (each.test, each.metric.name, each.labels): each
        for each in reversed(run.quantities)
        if each.metric.decides
    }
    for version in versions:
        for quantity in reversed(quantities.values()):
            tasks = list(_tasks(run.measurements(quantity), version))
            levels = two_levels([task.value for task in tasks], quantity.metric.margin)
            if levels:
                yield _Split(version, quantity, tasks, levels)


def _tasks(measurements: Iterable[Measurement], version: str) -> Iterator[_Task]:
    for measurement in measurements:
        if measurement.trial.version == version and measurement.counts:
            tasks = {task.index: task for task in measurement.result.tasks}
            for index, samples in measurement.by_task():
                values = [sample.value for sample in samples if sample.value is not None]
                if values:
                    yield _Task(measurement.trial.trial, tasks[index], values)


def _processors(tasks: Iterable[_Task]) -> str:
    return listed(sorted({each.task.cpu_model or "unknown CPU" for each in tasks}))


def _table(split: _Split) -> Table:
    more = len(split.tasks) - _MOST_TASKS
    unit = f"Mean [{split.quantity.metric.unit}]"
    return Table(
        caption=f"Samples of {split.quantity.name} by task of {split.version}"
        f"{f'; {more} more tasks are left out' if more > 0 else ''}",
        columns=("Trial", "Task", "Host", "CPU", "Samples", unit, "Level"),
        rows=tuple(
            Row(
                (
                    str(each.trial),
                    str(each.task.index),
                    each.task.host or MISSING,
                    each.task.cpu_model or MISSING,
                    str(len(each.values)),
                    figure(each.value),
                    "high" if split.levels.is_high(each.value) else "low",
                )
            )
            for each in split.tasks[:_MOST_TASKS]
        ),
        numbers=frozenset({"Samples", unit}),
    )
