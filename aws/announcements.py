"""Announcements of outcomes on Amazon SNS and EventBridge, and metrics of CloudWatch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.metrics import MetricUnit, single_metric

from aws import CLIENT_ERRORS
from tidemark.model.telemetry import NAMESPACE
from tidemark.run.ports import NotTold

if TYPE_CHECKING:
    from mypy_boto3_events import EventBridgeClient
    from mypy_boto3_sns import SNSClient


class SnsTopic:
    """The topic of outcomes, whose subscribers want to know how runs end."""

    def __init__(self, client: SNSClient, arn: str) -> None:
        self._client = client
        self._arn = arn

    def publish(self, subject: str, message: str) -> None:
        """Publish a message; raise NotTold if the topic does not take it."""
        try:
            self._client.publish(TopicArn=self._arn, Subject=subject, Message=message)
        except CLIENT_ERRORS as error:
            raise NotTold(f"the topic did not take the message: {error}") from error


class DefaultEventBus:
    """The account's default event bus."""

    def __init__(self, client: EventBridgeClient) -> None:
        self._client = client

    def put(self, source: str, kind: str, detail: str) -> None:
        """Put an event with a detail in JSON; raise NotTold if the bus does not take it."""
        entry: Any = {"Source": source, "DetailType": kind, "Detail": detail}
        try:
            answer = self._client.put_events(Entries=[entry])
        except CLIENT_ERRORS as error:
            raise NotTold(f"the event bus did not take the event: {error}") from error
        # A refused entry is part of the answer, not an error.
        if answer["FailedEntryCount"]:
            (entry,) = answer["Entries"]
            reason = f"{entry.get('ErrorCode')}: {entry.get('ErrorMessage')}"
            raise NotTold(f"the event bus did not take the event: {reason}")


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
