"""The usage of tasks, from the log events of Container Insights.

Source: Amazon CloudWatch user guide, "Container Insights performance log events for Amazon ECS".
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

from tidemark.model.results import Usage

_UNITS_OF_VCPU = 1024


def usages(rows: Iterable[Mapping[str, str]], task_ids: Container[str]) -> tuple[Usage, ...]:
    """Return the usage of these tasks, from the rows of ``task_usage.cwli`` in order of time."""
    read, written = _Counter("StorageReadBytes"), _Counter("StorageWriteBytes")
    return tuple(_usage(row, read, written) for row in rows if row.get("TaskId") in task_ids)


class _Counter:
    """A field that counts from the start of its task, as Container Insights' storage fields do."""

    def __init__(self, field: str) -> None:
        self._field = field
        self._last: dict[str, float] = {}

    def since_last(self, row: Mapping[str, str]) -> float | None:
        """Return the increase since the task's last row; None if it is missing or went back."""
        now = _number(row, self._field)
        if now is None:
            return None
        increase = now - self._last.get(row["TaskId"], 0.0)
        self._last[row["TaskId"]] = now
        return increase if increase >= 0 else None


def _usage(row: Mapping[str, str], read: _Counter, written: _Counter) -> Usage:
    units = _number(row, "CpuUtilized")
    return Usage(
        task_id=row["TaskId"],
        logged_at=row["@timestamp"],
        cpu=None if units is None else units / _UNITS_OF_VCPU,
        memory=_number(row, "MemoryUtilized"),
        network_in=_number(row, "NetworkRxBytes"),
        network_out=_number(row, "NetworkTxBytes"),
        disk_read=read.since_last(row),
        disk_written=written.since_last(row),
    )


def _number(row: Mapping[str, str], field: str) -> float | None:
    return float(row[field]) if field in row else None
