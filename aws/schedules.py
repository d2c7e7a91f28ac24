"""Schedules of Amazon EventBridge Scheduler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mypy_boto3_scheduler import EventBridgeSchedulerClient


class SchedulerSchedules:
    """Schedules of EventBridge Scheduler."""

    def __init__(self, client: EventBridgeSchedulerClient) -> None:
        self._client = client

    def describe(self, name: str) -> Mapping[str, Any] | None:
        """Return a schedule as GetSchedule gives it, None if there is none."""
        try:
            return self._client.get_schedule(Name=name)
        except self._client.exceptions.ResourceNotFoundException:
            return None
