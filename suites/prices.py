"""What AWS asks for a run's tasks and log queries: public list prices, and the cost by them."""

from __future__ import annotations

from datetime import date

from suites.model import Frozen, Task

_HOUR_SECONDS = 3600
_FREE_STORAGE = 20  # GB of a Fargate task
# AWS does not say whether a GB of log events is this or 2**30: this one is dearer.
_GB = 10**9


class Prices(Frozen):
    """On-demand list prices [USD] of a region on a day: no free tier, no discount, no tax."""

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
    """An hour of a public IPv4 address, of which each task has one."""
    scanned_gb: float
    """1 GB of log events scanned by Logs Insights."""

    def of_tasks(self, task: Task, seconds: float) -> float:
        """Return what tasks of one size cost [USD] that are billed ``seconds`` together."""
        hourly = (
            task.cpu / 1024 * self.vcpu_hour
            + task.memory / 1024 * self.memory_hour
            + (task.storage - _FREE_STORAGE) * self.storage_hour
            + self.address_hour
        )
        return hourly * seconds / _HOUR_SECONDS

    def of_queries(self, scanned: int) -> float:
        """Return what log queries cost [USD] that scanned so many bytes."""
        return scanned / _GB * self.scanned_gb


# What a run is planned with; its plan keeps them, so that its cost stays what it was.
LIST_PRICES = Prices(
    region="us-east-1",
    as_of=date(2026, 6, 17),
    architecture="X86_64",
    # aws.amazon.com/fargate/pricing: Linux/X86.
    vcpu_hour=0.04048,
    memory_hour=0.004445,
    storage_hour=0.000111,
    # aws.amazon.com/vpc/pricing: in-use public IPv4 address.
    address_hour=0.005,
    # aws.amazon.com/cloudwatch/pricing: Logs, Analyze (Logs Insights queries).
    scanned_gb=0.005,
)
