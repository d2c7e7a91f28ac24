"""The usage of tasks, from the log events of Container Insights.

Source: Amazon CloudWatch user guide, "Container Insights performance log events for Amazon ECS".
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

from tidemark.model.results import Usage

_UNITS_OF_VCPU = 1024


def usages(rows: Iterable[Mapping[str, str]], task_ids: Container[str]) -> tuple[Usage, ...]:
    """Return the usage of these tasks, from the rows of ``task_usage.cwli``."""
    return tuple(_usage(row) for row in rows if row.get("TaskId") in task_ids)


def _usage(row: Mapping[str, str]) -> Usage:
    def number(field: str) -> float | None:
        return float(row[field]) if field in row else None

    units = number("CpuUtilized")
    return Usage(
        task_id=row["TaskId"],
        logged_at=row["@timestamp"],
        cpu=None if units is None else units / _UNITS_OF_VCPU,
        memory=number("MemoryUtilized"),
        network_in=number("NetworkRxBytes"),
        network_out=number("NetworkTxBytes"),
        disk_read=number("StorageReadBytes"),
        disk_written=number("StorageWriteBytes"),
    )
