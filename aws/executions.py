"""Executions of AWS Step Functions, and the rules and schedules of EventBridge that start them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mypy_boto3_events import EventBridgeClient
    from mypy_boto3_scheduler import EventBridgeSchedulerClient
    from mypy_boto3_stepfunctions import SFNClient


# AWS Step Functions API reference, StopExecution: the longest cause, in characters.
_LONGEST_CAUSE = 32_768


class StepFunctionsExecutions:
    """Executions of state machines."""

    def __init__(self, client: SFNClient) -> None:
        self._client = client

    def describe(self, arn: str) -> Mapping[str, Any] | None:
        """Return an execution as DescribeExecution gives it, None if there is none."""
        try:
            return self._client.describe_execution(executionArn=arn)
        except self._client.exceptions.ExecutionDoesNotExist:
            return None

    def running(self, machine: str) -> Iterator[tuple[str, str]]:
        """Yield the name and ARN of each running execution of the state machine with this ARN."""
        pages = self._client.get_paginator("list_executions")
        for page in pages.paginate(stateMachineArn=machine, statusFilter="RUNNING"):
            for execution in page["executions"]:
                yield execution["name"], execution["executionArn"]

    def stop(self, arn: str, cause: str) -> None:
        """Stop an execution."""
        # A cause may quote the cause of another execution, which may itself have this length.
        self._client.stop_execution(
            executionArn=arn, error="Run.ended", cause=cause[:_LONGEST_CAUSE]
        )


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
