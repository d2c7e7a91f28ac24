"""Tasks of Amazon ECS."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mypy_boto3_ecs import ECSClient

# Amazon ECS API reference, StopTask: the longest reason, in characters.
_LONGEST_REASON = 1024


class EcsTasks:
    """The ECS tasks of one cluster."""

    def __init__(self, client: ECSClient, cluster: str) -> None:
        self._client = client
        self._cluster = cluster

    def groups(self) -> dict[str, str]:
        """Return the task group of each running task, by the task's ARN."""
        groups: dict[str, str] = {}
        # A page holds up to 100 ARNs, which is also the limit of DescribeTasks.
        for page in self._client.get_paginator("list_tasks").paginate(cluster=self._cluster):
            if page["taskArns"]:
                answer = self._client.describe_tasks(cluster=self._cluster, tasks=page["taskArns"])
                groups |= {task["taskArn"]: task.get("group", "") for task in answer["tasks"]}
        return groups

    def stop(self, arn: str, reason: str) -> None:
        """Stop a task."""
        self._client.stop_task(cluster=self._cluster, task=arn, reason=reason[:_LONGEST_REASON])
