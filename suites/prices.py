"""What AWS asks for what Tidemark uses: public list prices, and the cost by them."""

from __future__ import annotations

from datetime import date

from suites.model import Frozen, Task

# AWS Fargate pricing: billed by the second, from the image's pull to the task's end, and for a
# minute at least.
LEAST_BILLED_SECONDS = 60
HOURS_OF_MONTH = 730  # as AWS's own calculator has it
_HOUR_SECONDS = 3600
_FREE_STORAGE = 20  # GB of a Fargate task
# AWS does not say whether a GB of log events is this or 2**30: this one is dearer.
_GB = 10**9
_TB = 10**12
# Memory of every function [MiB], by which Lambda bills.
FUNCTION_MEMORY = 512


class Prices(Frozen):
    """On-demand list prices [USD] of a region on a day: no free tier, no discount, no tax.

    Those of what is recorded of a run: its tasks and log queries.
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


class ServicePrices(Frozen):
    """On-demand list prices [USD] of what else a run and an idle stack take, as ``Prices``."""

    transition: float
    """A state transition of a standard workflow."""
    invocation: float
    """A request to a Lambda function."""
    function_second: float
    """A second of 1 GB of memory of a Lambda function on Arm."""
    trace: float
    """A trace that X-Ray records."""
    ingested_gb: float
    """1 GB of log events taken in."""
    kept_log_gb: float
    """A month of 1 GB of stored log events."""
    metric: float
    """A month of a custom metric; billed by the hours in which it was sent."""
    alarm: float
    """A month of an alarm on one metric."""
    dashboard: float
    """A month of a dashboard."""
    stored_gb: float
    """A month of 1 GB in S3 Standard."""
    listing: float
    """A PUT, COPY, POST or LIST request to S3."""
    queried_tb: float
    """1 TB that a query of Athena reads."""

    def of_functions(self, invocations: float, seconds: float) -> float:
        """Return what invocations cost [USD] that take ``seconds`` each."""
        billed = seconds * FUNCTION_MEMORY / 1024
        return invocations * (self.invocation + billed * self.function_second)

    def of_logs(self, count: float) -> float:
        """Return what it costs to take in so many bytes of log events [USD]."""
        return count / _GB * self.ingested_gb

    def of_athena(self, read: float) -> float:
        """Return what Athena asks for so many bytes [USD]."""
        return read / _TB * self.queried_tb


SERVICE_PRICES = ServicePrices(
    # aws.amazon.com/step-functions/pricing: standard workflows.
    transition=0.000025,
    # aws.amazon.com/lambda/pricing: Arm, first tier.
    invocation=0.0000002,
    function_second=0.0000133334,
    # aws.amazon.com/xray/pricing.
    trace=0.000005,
    # aws.amazon.com/cloudwatch/pricing: Logs, Metrics, Dashboards and Alarms, first tier.
    ingested_gb=0.50,
    kept_log_gb=0.03,
    metric=0.30,
    alarm=0.10,
    dashboard=3.00,
    # aws.amazon.com/s3/pricing: S3 Standard, first tier.
    stored_gb=0.023,
    listing=0.000005,
    # aws.amazon.com/athena/pricing: SQL queries.
    queried_tb=5.00,
)
