"""CloudWatch alarms on one machine: moto keeps them; here they are raised and taken back.

Each new value of a metric sets the alarms of that metric: to ALARM if the largest of its period
reaches the threshold, else to OK. Until then, and between values, an alarm stays as it is. Alarms
that are to be evaluated otherwise are refused when they are created (``messaging_types.py``).

Sources: AWS documentation, "Using Amazon CloudWatch alarms"; "Available CloudWatch metrics for
Amazon SQS".
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from moto.cloudwatch.models import Alarm, CloudWatchBackend, MetricDatum, cloudwatch_backends
from moto.sns.models import sns_backends
from moto.sqs.models import Queue

from local.account import ACCOUNT, REGION
from local.cloud.replacements import Replacements


def replace_methods(replaced: Replacements) -> None:
    """Let values of metrics set alarms, and let queues report how many messages they hold."""
    put = replaced.set(CloudWatchBackend, "put_metric_data", None)
    add = replaced.set(Queue, "add_message", None)
    delete = replaced.set(Queue, "delete_message", None)

    def put_metric_data(
        backend: CloudWatchBackend, namespace: str, metric_data: Sequence[Mapping[str, Any]]
    ) -> None:
        before = len(backend.metric_data)
        put(backend, namespace, metric_data)
        for datum in _single(backend.metric_data[before:]):
            for alarm in list(backend.alarms.values()):
                if _watches(alarm, datum):
                    _evaluate(backend, alarm, datum)

    def add_message(queue: Queue, *message: object) -> None:
        add(queue, *message)
        _report_length(queue)

    def delete_message(queue: Queue, *receipt: object) -> None:
        delete(queue, *receipt)
        _report_length(queue)

    replaced.set(CloudWatchBackend, "put_metric_data", put_metric_data)
    replaced.set(Queue, "add_message", add_message)
    replaced.set(Queue, "delete_message", delete_message)


def _report_length(queue: Queue) -> None:
    datum = {
        "MetricName": "ApproximateNumberOfMessagesVisible",
        "Dimensions": [{"Name": "QueueName", "Value": queue.name}],
        "Value": len(queue.messages),
    }
    cloudwatch_backends[ACCOUNT][REGION].put_metric_data("AWS/SQS", [datum])


def _single(data: Iterable[object]) -> Iterator[MetricDatum]:
    """Yield the single values; nothing here puts statistic sets."""
    return (datum for datum in data if isinstance(datum, MetricDatum))


def _named(dimensions: Sequence[Any]) -> dict[str, str]:
    return {dimension.name: dimension.value for dimension in dimensions}


def _watches(alarm: Alarm, datum: MetricDatum) -> bool:
    watched = alarm.namespace, alarm.metric_name, _named(alarm.dimensions)
    return watched == (datum.namespace, datum.name, _named(datum.dimensions))


def _evaluate(backend: CloudWatchBackend, alarm: Alarm, newest: MetricDatum) -> None:
    period = _period(alarm, newest)
    values = [
        datum.value
        for datum in _single(backend.metric_data)
        if _watches(alarm, datum) and _period(alarm, datum) == period
    ]
    state = "ALARM" if max(values) >= alarm.threshold else "OK"
    if state != alarm.state_value:
        told = _change(alarm, state, f"The largest value is {max(values):g}.")
        alarm.update_state(told["NewStateReason"], "{}", state)
        for topic in alarm.alarm_actions if state == "ALARM" else alarm.ok_actions:
            subject = f'{state}: "{alarm.name}" in {REGION}'
            sns_backends[ACCOUNT][REGION].publish(json.dumps(told), topic, subject=subject)


def _period(alarm: Alarm, datum: MetricDatum) -> int:
    return int(datum.timestamp.timestamp() // alarm.period)


def _change(alarm: Alarm, state: str, reason: str) -> dict[str, str]:
    """Return what the topic is told of a change, as far as it is the same for every metric."""
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
