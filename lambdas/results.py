"""What is measured, from one task to one trial: the models of the stored results."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from suites.model import Frozen
from suites.prices import LEAST_BILLED_SECONDS

Status = Literal["ok", "incomplete", "failed", "skipped"]


class TaskResult(Frozen):
    """How one ECS task of a test ended."""

    index: int
    status: Literal["ok", "failed"]
    task_arn: str | None = None
    exit_code: int | None = None
    stop_category: str | None = None
    reason: str = ""
    started_at: datetime | None = None
    """None if it never started. Step Functions gives times of tasks as epoch milliseconds."""
    stopped_at: datetime | None = None
    pull_started_at: datetime | None = None
    """None where no image is pulled."""
    image_digest: str | None = None
    """``sha256:…`` of what its container ran, as ECS gives it."""
    zone: str | None = None
    """Its availability zone; None where there are none."""
    log_stream: str | None = None
    host: str | None = None
    """The machine's name, as the task logged it."""
    cpu_model: str | None = None
    """As the task logged it."""

    @property
    def task_id(self) -> str | None:
        """The last part of the ARN, by which log streams are named."""
        return self.task_arn.rsplit("/", 1)[-1] if self.task_arn else None

    @property
    def duration(self) -> timedelta:
        """How long it ran; nothing if it never started or its end is not known."""
        if self.started_at is None or self.stopped_at is None:
            return timedelta()
        return self.stopped_at - self.started_at

    @property
    def seconds(self) -> float:
        """How long it ran [s]."""
        return self.duration.total_seconds()

    @property
    def billed_seconds(self) -> int:
        """What Fargate bills for it [s]; nothing if it never began."""
        begun = self.pull_started_at or self.started_at
        if begun is None or self.stopped_at is None:
            return 0
        seconds = (self.stopped_at - begun).total_seconds()
        return max(LEAST_BILLED_SECONDS, math.ceil(seconds))


class Sample(Frozen):
    """One rate line of one task's log."""

    metric: str
    log_stream: str
    logged_at: str
    job: str | None
    value_text: str
    value: float | None
    """In the metric's unit; None if what was logged is no finite number."""
    records: int | None
    seconds: float | None = None
    """How long the piece of work took [s], if its line says so."""

    @property
    def task_id(self) -> str:
        """The last part of its log stream's name."""
        return self.log_stream.rsplit("/", 1)[-1]

    @property
    def recomputed(self) -> float | None:
        """Records over seconds [1/s]: less exact than the value if the line rounds its seconds."""
        return self.records / self.seconds if self.records is not None and self.seconds else None


class Usage(Frozen):
    """What one task used, at one time that Container Insights logged it; None if it did not."""

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
    """Since it was logged before [B]."""


class Rate(Frozen):
    """One metric of one test: the mean of its samples."""

    metric: str
    unit: str
    direction: str
    value: float | None
    """None unless every task of the test did all its jobs and logged their rates."""
    samples: int
    expected: int
    not_finite: int
    stddev: float | None
    min: float | None
    max: float | None
    records: int | None


class TestResult(Frozen):
    """What one test of a trial gave."""

    test: str
    status: Status
    reason: str = ""
    started_at: datetime | None = None
    ended_at: datetime | None = None
    tasks: tuple[TaskResult, ...] = ()
    rates: tuple[Rate, ...] = ()
    samples: tuple[Sample, ...] = ()
    usages: tuple[Usage, ...] = ()
    """In order of time; none where nobody logs them."""
    usages_unknown: str = ""
    """Why there are none although somebody logs them."""
    environments: tuple[dict[str, Any], ...] = ()
    """What the tasks said of the machine and packages they ran on, as they logged it."""
    log_group: str | None = None
    """Where the tasks logged; with their streams None if it was stored before these were kept."""
    insights_bytes: int | None = None
    """What the log queries scanned [B]."""

    @property
    def begun_at(self) -> datetime | None:
        """When its first task started; None if none did."""
        return min((task.started_at for task in self.tasks if task.started_at), default=None)

    def seconds(self, logged: Iterable[Sample | Usage]) -> list[float | None]:
        """Return the time of each as seconds since its first task started; None if none did."""
        begun = self.begun_at
        return [
            (datetime.fromisoformat(one.logged_at).replace(tzinfo=UTC) - begun).total_seconds()
            if begun
            else None
            for one in logged
        ]


class TrialResult(Frozen):
    """Every test of the suite, once, for one version: ``runs/<run_id>/trials/<nnn>.json``."""

    run_id: str
    trial: int
    version: str
    package: str
    repetition: int
    status: Status
    reason: str
    tests: tuple[TestResult, ...]
