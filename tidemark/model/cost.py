"""Prices and estimates, as a plan keeps them."""

from datetime import date
from typing import Literal

from tidemark.model.base import Frozen
from tidemark.model.task import Task

# AWS Fargate pricing: billed by the second, from the image's pull to the task's end, for at least
# a minute.
LEAST_BILLED_SECONDS = 60
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
