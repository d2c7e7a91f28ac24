"""The metrics that CloudWatch Logs reads from log lines.

Source: AWS documentation, "Specification: Embedded metric format".
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_pascal

_MARK = '"_aws"'


class _Member(BaseModel):
    model_config = ConfigDict(alias_generator=to_pascal, frozen=True)


class _Metric(_Member):
    name: str
    unit: str = "None"
    storage_resolution: int = 60


class _Directive(_Member):
    namespace: str
    dimensions: list[list[str]] = [[]]
    metrics: list[_Metric] = []


class _Metadata(_Member):
    timestamp: int
    cloud_watch_metrics: list[_Directive]


def metrics_of(message: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (namespace, datum) for each value in a log line, as PutMetricData takes it.

    A line that is not in the format, and a metric or dimension set that refers to a missing
    member, yield nothing: the specification ignores them, and the line stays a log line.
    """
    if _MARK not in message:
        return
    try:
        document = json.loads(message)
        metadata = _Metadata.model_validate(document["_aws"])
    except (ValueError, TypeError, KeyError, ValidationError):
        return
    when = datetime.fromtimestamp(metadata.timestamp / 1000, UTC)
    for directive in metadata.cloud_watch_metrics:
        for datum in _data(directive, document):
            yield directive.namespace, {**datum, "Timestamp": when}


def _data(directive: _Directive, document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for names in directive.dimensions:
        if not all(name in document for name in names):
            continue
        dimensions = [{"Name": name, "Value": str(document[name])} for name in names]
        for metric in directive.metrics:
            for value in _numbers(document.get(metric.name)):
                yield {
                    "MetricName": metric.name,
                    "Dimensions": dimensions,
                    "Unit": metric.unit,
                    "StorageResolution": metric.storage_resolution,
                    "Value": value,
                }


def _numbers(target: object) -> list[float]:
    values = target if isinstance(target, list) else [target]
    return [
        float(value)
        for value in values
        if isinstance(value, int | float) and not isinstance(value, bool)
    ]
