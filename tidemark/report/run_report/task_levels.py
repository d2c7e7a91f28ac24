"""The tasks of a version at two levels: their mean describes neither."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from tidemark.figures.two_levels import Levels, two_levels
from tidemark.figures.version_rates import Quantity, mean
from tidemark.model.numerals import MISSING, figure
from tidemark.model.results import TaskResult
from tidemark.model.sentences import listed
from tidemark.report.blocks import Bullets, Row, Section, Table
from tidemark.report.run_report.measured import MeasuredRun, Measurement

_MOST_TABLES, _MOST_ROWS = 20, 100


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
        """Return both levels in words, ``name`` being that of the version."""
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
            f"describes neither: {both}."
        )


def sentences(run: MeasuredRun, version: str, name: str) -> Iterator[str]:
    """Yield a sentence for each metric whose tasks are at two levels in a version."""
    yield from (split.sentence(name) for split in islice(_splits(run, [version]), _MOST_TABLES))


def sections(run: MeasuredRun) -> Iterator[Section]:
    """Yield a section with the samples by task if the tasks of a version are at two levels."""
    versions = {rate.version: None for rate in run.rates}
    if found := list(islice(_splits(run, versions), _MOST_TABLES)):
        words = Bullets(tuple(split.sentence(split.version) for split in found))
        yield Section("Tasks at two levels", (words, *map(_table, found)))


def _splits(run: MeasuredRun, versions: Iterable[str]) -> Iterator[_Split]:
    # All statistics of a metric have the same samples.
    quantities = {
        (each.test, each.metric.name, each.labels): each for each in reversed(run.quantities)
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
    more = len(split.tasks) - _MOST_ROWS
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
            for each in split.tasks[:_MOST_ROWS]
        ),
        numbers=frozenset({"Samples", unit}),
    )
