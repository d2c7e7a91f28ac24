"""The models of the stored results, from one task to one trial, and of the trials left out."""

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from tidemark.model.base import Frozen
from tidemark.model.labels import canonical, figure_name, labelled_name
from tidemark.model.load import LoadCourse
from tidemark.model.metric import Metric
from tidemark.model.parameters import Combination
from tidemark.model.task import LEAST_BILLED_SECONDS, KeptFile

Status = Literal["ok", "incomplete", "failed", "skipped"]
# A run may have a million tasks, samples, usages and points. A model of each would take a function
# four times the memory of a class with slots.
_CONFIG = ConfigDict(extra="forbid", defer_build=True)


@dataclass(frozen=True, slots=True, kw_only=True, config=_CONFIG)
class TaskResult:
    """The result of one ECS task of a test."""

    index: int
    status: Literal["ok", "failed"]
    task_arn: str | None = None
    exit_code: int | None = None
    stop_category: str | None = None
    reason: str = ""
    started_at: datetime | None = None
    """None if the task never started. Step Functions has times of tasks as epoch milliseconds."""
    stopped_at: datetime | None = None
    pull_started_at: datetime | None = None
    """The start of the image's pull; None without a pull."""
    image_digest: str | None = None
    """The ``sha256:…`` of the container's image, as ECS returns it."""
    zone: str | None = None
    """The availability zone; None on one machine."""
    log_stream: str | None = None
    host: str | None = None
    """The machine's name, as the task logged it."""
    cpu_model: str | None = None
    """The processor's name, as the task logged it."""
    step: str = Field(default="", exclude_if=operator.not_)
    """The step of the test; '' if the test has no steps, and for a service."""
    service: str = Field(default="", exclude_if=operator.not_)
    """The service that the task ran during the test; '' for a task of the test itself."""
    definition: str = Field(default="", exclude_if=operator.not_)
    """The word of the instance's definition that the task was run from; '' for the suite's own."""
    shared: int = Field(default=1, exclude_if=lambda versions: versions == 1)
    """The number of versions that took turns in the task, each in a trial of its own."""
    container: str = Field(default="", exclude_if=operator.not_)
    """The container that failed, if the task has several; '' otherwise."""

    @property
    def task_id(self) -> str | None:
        """The last part of the ARN, by which log streams are named."""
        return self.task_arn.rsplit("/", 1)[-1] if self.task_arn else None

    @property
    def duration(self) -> timedelta:
        """The run time; zero if start or end is not known, or a clock went back between them."""
        if self.started_at is None or self.stopped_at is None:
            return timedelta()
        return max(timedelta(), self.stopped_at - self.started_at)

    @property
    def seconds(self) -> float:
        """The run time [s]."""
        return self.duration.total_seconds()

    @property
    def billed_seconds(self) -> int:
        """The time that Fargate bills [s], of a shared task the version's share of it.

        It is zero if the start or the end is not known.
        """
        begun = self.pull_started_at or self.started_at
        if begun is None or self.stopped_at is None:
            return 0
        seconds = (self.stopped_at - begun).total_seconds()
        return math.ceil(max(LEAST_BILLED_SECONDS, math.ceil(seconds)) / self.shared)


def span_seconds(tasks: Sequence[TaskResult]) -> float | None:
    """Return the time from the first start to the last stop of tasks [s]."""
    starts = [task.started_at for task in tasks if task.started_at]
    stops = [task.stopped_at for task in tasks if task.stopped_at]
    return (max(stops) - min(starts)).total_seconds() if starts and stops else None


@dataclass(frozen=True, slots=True, kw_only=True, config=_CONFIG)
class Sample:
    """One value of a metric in one task's log."""

    metric: str
    log_stream: str
    logged_at: str
    job: str | None
    value_text: str
    value: float | None
    """The value in the metric's unit; None if the logged text is not a finite number."""
    records: int | None
    seconds: float | None = None
    """The duration of the piece of work [s]; None if the line does not have it."""
    labels: dict[str, str] = Field(default_factory=dict)

    @property
    def task_id(self) -> str:
        """The last part of the log stream's name."""
        return self.log_stream.rsplit("/", 1)[-1]

    @property
    def recomputed(self) -> float | None:
        """Records over seconds [1/s]: less exact than the value if the line rounds its seconds."""
        return self.records / self.seconds if self.records is not None and self.seconds else None


CLOUD = "local-cloud"
"""The task id in usages of the cloud of one machine itself."""


@dataclass(frozen=True, slots=True, kw_only=True, config=_CONFIG)
class Usage:
    """The usage of one task, from one event of Container Insights; None for a missing value."""

    task_id: str
    logged_at: str
    cpu: float | None
    """[vCPU]."""
    memory: float | None
    """[MiB]."""
    network_in: float | None
    network_out: float | None
    """[B/s]."""
    disk_read: float | None
    disk_written: float | None
    """The bytes since the last logged usage [B]."""


@dataclass(frozen=True, slots=True, kw_only=True, config=_CONFIG)
class Point:
    """A value of a series at a time."""

    at: str
    """As Logs Insights prints it, in UTC."""
    value: float


class MeasuredSeries(Frozen):
    """The values of a series of one test."""

    name: str
    unit: str
    points: tuple[Point, ...] = ()
    """In order of time."""
    unknown: str = ""
    """The reason why the points could not be read, '' if they could."""


class Rate(Frozen):
    """One figure of one metric of one test: a statistic of its samples under some labels."""

    metric: str
    unit: str
    direction: str
    statistic: str = "mean"
    labels: dict[str, str] = Field(default_factory=dict)
    value: float | None
    """The figure; None unless every task of the test did all its work and logged its values."""
    samples: int
    expected: int | None
    """The number of values that all tasks log; None if it is not known beforehand."""
    not_finite: int
    stddev: float | None
    min: float | None
    max: float | None
    records: int | None
    value_text: str | None = Field(default=None, exclude_if=operator.not_)
    """The text of an imported figure, digit for digit."""
    slices: tuple[float, ...] = Field(default=(), exclude_if=operator.not_)
    """The values of a round in the order of its blocks, none of them warming up; () in trials."""
    histogram: str = Field(default="", exclude_if=operator.not_)
    """The values in [buckets](suites/metrics.md#histograms), of the first quantile of a metric that
    has histograms; '' otherwise."""

    @property
    def name(self) -> str:
        """The name of the figure."""
        return figure_name(self.metric, self.statistic, canonical(self.labels))


def no_rate(metric: Metric, statistic: str, labels: Combination) -> Rate:
    """Return the rate of a metric that was not measured; the labels are the trial's."""
    return Rate(
        metric=metric.name,
        unit=metric.unit,
        direction=metric.direction,
        statistic=statistic,
        labels=labels,
        value=None,
        samples=0,
        expected=None,
        not_finite=0,
        stddev=None,
        min=None,
        max=None,
        records=None,
    )


_MOST_NAMES = 20  # each task of a test may log another machine


def joined(names: Iterable[object]) -> str | None:
    """Return the first different names joined, None if no name is known."""
    known = sorted({str(name) for name in names if name is not None})
    return " + ".join(known[:_MOST_NAMES]) or None


class TestResult(Frozen):
    """The result of one test of a trial."""

    test: str
    status: Status
    reason: str = ""
    started_at: datetime | None = None
    ended_at: datetime | None = None
    tasks: tuple[TaskResult, ...] = ()
    rates: tuple[Rate, ...] = ()
    samples: tuple[Sample, ...] = ()
    usages: tuple[Usage, ...] = ()
    """The usages in order of time; empty if they are not logged."""
    usages_unknown: str = ""
    """The reason why logged usages could not be read, '' if they could."""
    series: tuple[MeasuredSeries, ...] = ()
    """The series, in the order of the suite."""
    artefacts: tuple[KeptFile, ...] = ()
    """The files that the tasks left and the run keeps, by task."""
    artefact_notes: tuple[str, ...] = ()
    """A sentence for each file that is not kept, and for each that a task did not leave."""
    load: LoadCourse | None = Field(default=None, exclude_if=operator.not_)
    """The levels of the test's load; None without a load."""
    environments: tuple[dict[str, Any], ...] = ()
    """The machines and packages that the tasks ran on, as they logged them."""
    log_group: str | None = None
    """The log groups of the tasks, with commas between; None in old results, like the log streams
    of the tasks."""
    insights_bytes: int | None = None
    """The bytes that the log queries scanned [B]."""

    @property
    def own_tasks(self) -> Sequence[TaskResult]:
        """The tasks of the test itself, without the tasks of services."""
        return [task for task in self.tasks if not task.service]

    @property
    def image_digest(self) -> str | None:
        """The images of the test's own tasks joined, None if no task ran one."""
        return joined(task.image_digest for task in self.own_tasks)

    @property
    def begun_at(self) -> datetime | None:
        """The start of the first task of the test itself, or of its load; None without a start."""
        starts = [task.started_at for task in self.own_tasks if task.started_at]
        return min([*starts, self.load.started_at] if self.load else starts, default=None)

    @property
    def start_spread_seconds(self) -> float:
        """The longest time from the first start of a task of one step to the last [s]."""
        starts: dict[str, list[datetime]] = {}
        for task in self.own_tasks:
            if task.started_at:
                starts.setdefault(task.step, []).append(task.started_at)
        spreads = (max(times) - min(times) for times in starts.values())
        return max(spreads, default=timedelta()).total_seconds()

    def seconds(self, printed: Iterable[str]) -> list[float | None]:
        """Return the seconds from the first task's start to times, None without a start.

        The times are as Logs Insights prints them.
        """
        begun = self.begun_at
        times = (datetime.fromisoformat(text).replace(tzinfo=UTC) for text in printed)
        return [(time - begun).total_seconds() if begun else None for time in times]


class TrialResult(Frozen):
    """The result of one trial of one version: ``runs/<run_id>/trials/<nnn>.json``.

    The values of its axes are among the labels of all its rates and samples.
    """

    run_id: str
    trial: int
    version: str
    package: str
    repetition: int
    axes: Combination = Field(default={}, exclude_if=operator.not_)
    status: Status
    reason: str
    tests: tuple[TestResult, ...]

    @property
    def name(self) -> str:
        """The version with its axes, such as ``9.8.4 {database: mariadb}``."""
        return labelled_name(self.version, self.axes)


WHOLE_RUN = "run"


class Exclusion(Frozen):
    """The last decision on a trial or a whole run: excluded from every figure, or included."""

    excluded: bool
    reason: str
    at: datetime


class Exclusions:
    """The exclusions of one run, by trial (``001``) or ``run`` for the whole run."""

    def __init__(self, decisions: Mapping[str, Exclusion]) -> None:
        self._decisions = decisions

    def reason(self, trial: int) -> str | None:
        """Return why a trial is excluded from every figure, None if the trial counts."""
        for name in (WHOLE_RUN, f"{trial:03d}"):
            last = self._decisions.get(name)
            if last is not None and last.excluded:
                return last.reason
        return None


NO_EXCLUSIONS = Exclusions({})
