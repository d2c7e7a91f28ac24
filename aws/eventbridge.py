"""Rules of Amazon EventBridge, such as the schedules of an instance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mypy_boto3_events import EventBridgeClient
    from mypy_boto3_scheduler import EventBridgeSchedulerClient


class EventBridgeRules:
    """Rules of the default event bus."""

    def __init__(self, client: EventBridgeClient) -> None:
        self._client = client

    def state(self, name: str) -> str | None:
        """Return the state of a rule, such as ``ENABLED``; None if there is no such rule."""
        try:
            rule = self._client.describe_rule(Name=name)
        except self._client.exceptions.ResourceNotFoundException:
            return None
        # EventBridge API reference, DisableRule: nobody else may disable the rule of a service.
        return f"managed by {rule['ManagedBy']}" if "ManagedBy" in rule else rule["State"]

    def disable(self, name: str) -> None:
        """Disable a rule."""
        self._client.disable_rule(Name=name)

    def enable(self, name: str) -> None:
        """Enable a rule; a rule that was deleted meanwhile stays so."""
        try:
            self._client.enable_rule(Name=name)
        except self._client.exceptions.ResourceNotFoundException:
            return


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
