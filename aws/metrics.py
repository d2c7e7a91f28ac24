"""CloudWatch metrics, which functions send through their logs (embedded metric format)."""

from __future__ import annotations

from aws_lambda_powertools.metrics import MetricUnit, single_metric

from tidemark.model.telemetry import NAMESPACE

_UNITS = {unit.value for unit in MetricUnit}


class EmbeddedMetrics:
    """Metrics of one stack."""

    def __init__(self, stack: str) -> None:
        self._stack = stack

    def send(self, name: str, value: float, unit: str = "Count", /, **dimensions: str) -> None:
        """Send a value of a metric, with ``dimensions`` besides the stack."""
        with single_metric(
            name=name,
            unit=MetricUnit(unit) if unit in _UNITS else MetricUnit.NoUnit,
            value=value,
            namespace=NAMESPACE,
            default_dimensions={"stack": self._stack, **dimensions},
        ):
            pass
