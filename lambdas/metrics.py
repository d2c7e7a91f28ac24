"""CloudWatch metrics, which functions send by what they log (embedded metric format)."""

from __future__ import annotations

import os

from aws_lambda_powertools.metrics import MetricUnit, single_metric

from suites.telemetry import NAMESPACE


def send(name: str, value: float, unit: MetricUnit = MetricUnit.Count, **dimensions: str) -> None:
    """Send a value of a metric of this stack; ``dimensions`` are those beside the stack."""
    with single_metric(
        name=name,
        unit=unit,
        value=value,
        namespace=NAMESPACE,
        default_dimensions={"stack": os.environ["STACK"], **dimensions},
    ):
        pass
