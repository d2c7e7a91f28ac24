"""Rules of Amazon EventBridge, such as the schedules of an instance."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mypy_boto3_events import EventBridgeClient


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
