"""The public list prices of the AWS services that Tidemark uses, and costs at these prices."""

from __future__ import annotations

from datetime import date
from functools import cache
from typing import NamedTuple

from tidemark.model.plan import GB, Prices

HOURS_OF_MONTH = 730  # as in AWS's own calculator
_TB = 10**12
# Memory of a function [MiB], by which Lambda bills; new accounts have at most 3,008 MB.
FUNCTION_MEMORY = 512
# Memory of a function that holds every trial of a run, and of one that also draws them: none needs
# more than 70 % over the largest accepted run (`make bench`).
TRIALS_MEMORY = 1152
REPORT_MEMORY = 2304


@cache
def list_prices() -> Prices:
    """Return the prices of new plans; a plan keeps its prices, so that a cost never changes."""
    return Prices(
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


class ServicePrices(NamedTuple):
    """On-demand list prices [USD] of the items of runs and idle stacks that ``Prices`` lacks."""

    transition: float
    """A state transition of a standard workflow."""
    invocation: float
    """A request to a Lambda function."""
    function_second: float
    """A second of 1 GB of memory of a Lambda function on Arm."""
    trace: float
    """A trace that X-Ray records."""
    ingested_gb: float
    """1 GB of ingested log events."""
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
    reading: float
    """A GET request to S3."""
    stored_image_gb: float
    """A month of 1 GB of images in ECR."""
    endpoint_hour: float
    """An hour of an interface endpoint in one zone."""
    queried_tb: float
    """1 TB that a query of Athena reads."""

    def of_functions(self, invocations: float, seconds: float, memory: int) -> float:
        """Return the cost of invocations that take ``seconds`` with ``memory`` MiB each [USD]."""
        billed = seconds * memory / 1024
        return invocations * (self.invocation + billed * self.function_second)

    def of_logs(self, count: float) -> float:
        """Return the cost of ingesting this many bytes of log events [USD]."""
        return count / GB * self.ingested_gb

    def of_athena(self, read: float) -> float:
        """Return the cost of queries in Athena that read this many bytes [USD]."""
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
    reading=0.0000004,
    # aws.amazon.com/ecr/pricing: a private repository.
    stored_image_gb=0.10,
    # aws.amazon.com/privatelink/pricing: interface endpoints.
    endpoint_hour=0.01,
    # aws.amazon.com/athena/pricing: SQL queries.
    queried_tb=5.00,
)
