"""CloudWatch alarms on one machine: moto stores them, this module sets their state.

Each new value of a metric sets the alarms of that metric: to ALARM if the largest value of its
period reaches the threshold, else to OK. Without a new value an alarm keeps its state. An alarm
with any other evaluation is refused when it is created.

Sources: AWS documentation, "Using Amazon CloudWatch alarms"; "Available CloudWatch metrics for
Amazon SQS".
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from threading import Lock
from typing import Any

from moto.cloudwatch.models import Alarm, CloudWatchBackend, MetricDatum, cloudwatch_backends
from moto.sns.models import sns_backends
from moto.sqs.models import Queue

from onebox.app import ACCOUNT, REGION
from onebox.cloud.replacements import Replacements, not_honoured
from onebox.cloud.resource_types import invalid, resource_type

_ALARM = "AWS::CloudWatch::Alarm"
# CloudWatch keeps values for months; alarms look at the values of one period.
_MOST_VALUES = 10_000
# The one evaluation that alarms have here.
_EVALUATED = {
    "ComparisonOperator": "GreaterThanOrEqualToThreshold",
    "DatapointsToAlarm": "1",
    "EvaluationPeriods": "1",
    "Statistic": "Maximum",
    "TreatMissingData": "ignore",
}


@resource_type(
    _ALARM,
    {
        "AlarmActions", "AlarmDescription", "AlarmName", "Dimensions", "MetricName", "Namespace",
        "OKActions", "Period", "Tags", "Threshold", *_EVALUATED,
    },
    {"Arn"},
)  # fmt: skip
def alarm(name: str, properties: Mapping[str, Any]) -> tuple[str, Mapping[str, str]]:
    """Create an alarm with the one evaluation that is supported here; its Ref is its name."""
    for field, accepted in _EVALUATED.items():
        if str(properties.get(field)) != accepted:
            raise invalid(not_honoured(_ALARM, field, properties.get(field), accepted))
    new_alarm = cloudwatch_backends[ACCOUNT][REGION].put_metric_alarm(
        name=properties.get("AlarmName", name),
        namespace=properties["Namespace"],
        metric_name=properties["MetricName"],
        comparison_operator=properties["ComparisonOperator"],
        evaluation_periods=int(properties["EvaluationPeriods"]),
        datapoints_to_alarm=int(properties["DatapointsToAlarm"]),
        period=int(properties["Period"]),
        threshold=float(properties["Threshold"]),
        statistic=properties["Statistic"],
        description=properties.get("AlarmDescription", ""),
        dimensions=properties.get("Dimensions", []),
        alarm_actions=properties.get("AlarmActions", []),
        ok_actions=properties.get("OKActions", []),
        treat_missing_data=properties["TreatMissingData"],
        tags=properties.get("Tags"),
    )
    # In moto a new alarm is OK before its first value.
    new_alarm.state_value = "INSUFFICIENT_DATA"
    return new_alarm.name, {"Arn": new_alarm.alarm_arn}


def replace_methods(replacements: Replacements) -> None:
    """Make new metric values set alarms, and make queues report their number of messages."""
    put = replacements.set(CloudWatchBackend, "put_metric_data", None)
    add = replacements.set(Queue, "add_message", None)
    delete = replacements.set(Queue, "delete_message", None)
    putting = Lock()

    def put_metric_data(
        backend: CloudWatchBackend, namespace: str, metric_data: Sequence[Mapping[str, Any]]
    ) -> None:
        with putting:
            del backend.metric_data[:-_MOST_VALUES]
            before = len(backend.metric_data)
            put(backend, namespace, metric_data)
            new = backend.metric_data[before:]
        for datum in _single(new):
            for alarm in list(backend.alarms.values()):
                if _watches(alarm, datum):
                    _evaluate(backend, alarm, datum)

    def add_message(queue: Queue, *message: object) -> None:
        add(queue, *message)
        _report_length(queue)

    def delete_message(queue: Queue, *receipt: object) -> None:
        delete(queue, *receipt)
        _report_length(queue)

    replacements.set(CloudWatchBackend, "put_metric_data", put_metric_data)
    replacements.set(Queue, "add_message", add_message)
    replacements.set(Queue, "delete_message", delete_message)


def _report_length(queue: Queue) -> None:
    datum = {
        "MetricName": "ApproximateNumberOfMessagesVisible",
        "Dimensions": [{"Name": "QueueName", "Value": queue.name}],
        "Value": len(queue.messages),
    }
    cloudwatch_backends[ACCOUNT][REGION].put_metric_data("AWS/SQS", [datum])


def _single(data: Iterable[object]) -> Iterator[MetricDatum]:
    """Yield the single values; no program here puts statistic sets."""
    return (datum for datum in data if isinstance(datum, MetricDatum))


def _by_name(dimensions: Sequence[Any]) -> dict[str, str]:
    return {dimension.name: dimension.value for dimension in dimensions}


def _watches(alarm: Alarm, datum: MetricDatum) -> bool:
    metric = alarm.namespace, alarm.metric_name, _by_name(alarm.dimensions)
    return metric == (datum.namespace, datum.name, _by_name(datum.dimensions))


def _evaluate(backend: CloudWatchBackend, alarm: Alarm, newest: MetricDatum) -> None:
    period = _period(alarm, newest)
    values = [
        datum.value
        for datum in _single(backend.metric_data)
        if _watches(alarm, datum) and _period(alarm, datum) == period
    ]
    state = "ALARM" if max(values) >= alarm.threshold else "OK"
    if state != alarm.state_value:
        message = _change(alarm, state, f"The largest value is {max(values):g}.")
        alarm.update_state(message["NewStateReason"], "{}", state)
        for topic in alarm.alarm_actions if state == "ALARM" else alarm.ok_actions:
            subject = f'{state}: "{alarm.name}" in {REGION}'
            sns_backends[ACCOUNT][REGION].publish(json.dumps(message), topic, subject=subject)


def _period(alarm: Alarm, datum: MetricDatum) -> int:
    return int(datum.timestamp.timestamp() // alarm.period)


def _change(alarm: Alarm, state: str, reason: str) -> dict[str, str]:
    """Return the message to the topics about a change, without the fields of single metrics."""
    return {
        "AlarmName": alarm.name,
        "AlarmDescription": alarm.description,
        "AlarmArn": alarm.alarm_arn,
        "AWSAccountId": ACCOUNT,
        "Region": REGION,
        "OldStateValue": alarm.state_value,
        "NewStateValue": state,
        "NewStateReason": reason,
        "StateChangeTime": datetime.now(UTC).isoformat(timespec="milliseconds"),
    }
