"""Tasks of Amazon ECS."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mypy_boto3_ecs import ECSClient
    from mypy_boto3_ecs.literals import DesiredStatusType
    from mypy_boto3_ecs.type_defs import TaskTypeDef

# Amazon ECS API reference, StopTask: the longest reason, in characters.
_LONGEST_REASON = 1024
_STATUSES: Sequence[DesiredStatusType] = ("RUNNING", "STOPPED")


class EcsTasks:
    """The ECS tasks of one cluster."""

    def __init__(self, client: ECSClient, cluster: str) -> None:
        self._client = client
        self._cluster = cluster

    def groups(self) -> dict[str, str]:
        """Return the task group of each running task, by the task's ARN."""
        return {task["taskArn"]: task.get("group", "") for task in self._described("RUNNING")}

    def started(self, group: str, since: datetime) -> dict[str, Mapping[str, Any]]:
        """Return a group's tasks since a time, ended ones too, as ``created`` does."""
        created = self.created(since)
        return {arn: task for arn, task in created.items() if task.get("Group") == group}

    def created(self, since: datetime) -> dict[str, Mapping[str, Any]]:
        """Return the tasks since a time, ended ones too, as Step Functions describes them, by ARN.

        ECS forgets a task an hour after its end.
        """
        tasks = (task for status in _STATUSES for task in self._described(status))
        return {task["taskArn"]: _capitalised(task) for task in tasks if task["createdAt"] >= since}

    def describe(self, arns: Sequence[str]) -> dict[str, Mapping[str, Any]]:
        """Return tasks as Step Functions describes them, by ARN; a forgotten task is missing."""
        if not arns:  # the API refuses an empty list
            return {}
        answer = self._client.describe_tasks(cluster=self._cluster, tasks=list(arns))
        return {task["taskArn"]: _capitalised(task) for task in answer["tasks"]}

    def stop(self, arn: str, reason: str) -> None:
        """Stop a task."""
        self._client.stop_task(cluster=self._cluster, task=arn, reason=reason[:_LONGEST_REASON])

    def in_cluster(self, arn: str) -> EcsTasks:
        """Return the tasks of another cluster."""
        return EcsTasks(self._client, arn)

    def _described(self, status: DesiredStatusType) -> Iterator[TaskTypeDef]:
        pages = self._client.get_paginator("list_tasks")
        # A page holds up to 100 ARNs, which is also the limit of DescribeTasks.
        for page in pages.paginate(cluster=self._cluster, desiredStatus=status):
            if arns := page["taskArns"]:
                yield from self._client.describe_tasks(cluster=self._cluster, tasks=arns)["tasks"]


def _capitalised(value: Any) -> Any:  # noqa: ANN401 (the description is nested)
    """Return a value of the API with field names in the form of Step Functions."""
    if isinstance(value, dict):
        return {name[0].upper() + name[1:]: _capitalised(field) for name, field in value.items()}
    return [_capitalised(each) for each in value] if isinstance(value, list) else value
