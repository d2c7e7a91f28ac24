"""Tasks of Amazon ECS."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from botocore.model import StructureShape
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
        """Return a group's tasks that were created since a time, in the form of ``created``."""
        created = self.created(since)
        return {arn: task for arn, task in created.items() if task.get("Group") == group}

    def created(self, since: datetime) -> dict[str, Mapping[str, Any]]:
        """Return the tasks created since a time by ARN, as Step Functions describes them.

        Ended tasks are among them, but ECS forgets a task an hour after its end.
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


_DIGITS = 16
# AWS keeps these tags for itself.
_RESERVED = "aws:"


class EcsTaskDefinitions:
    """The task definitions of images, each made from the deployed definition of a suite."""

    def __init__(self, client: ECSClient) -> None:
        self._client = client

    def of_image(
        self,
        deployed: str,
        image: str,
        containers: Collection[str],
        left_out: Sequence[str] = (),
    ) -> str:
        """Return the ARN of a definition that differs from the ``deployed`` one in its image.

        The ``containers`` run the image. The new definition lacks the containers ``left_out``. Both
        are names in the deployed definition.

        Its family is the deployed definition's, with a digest of the names of the image and of the
        containers that are left out. A definition that exists is used again, if it still says the
        same.
        """
        answer = self._client.describe_task_definition(taskDefinition=deployed, include=["TAGS"])
        wanted = self._request(answer["taskDefinition"])
        kept = [each for each in wanted["containerDefinitions"] if each["name"] not in left_out]
        for container in kept:
            if container["name"] in containers:
                container["image"] = image
        wanted["containerDefinitions"] = kept
        name = " ".join([image, *left_out])
        wanted["family"] += f"-{hashlib.sha256(name.encode()).hexdigest()[:_DIGITS]}"
        if found := self._newest(wanted):
            return found
        if tags := [tag for tag in answer.get("tags", []) if not tag["key"].startswith(_RESERVED)]:
            wanted["tags"] = tags
        registered = self._client.register_task_definition(**wanted)
        return registered["taskDefinition"]["taskDefinitionArn"]

    def _newest(self, wanted: Mapping[str, Any]) -> str | None:
        """Return the ARN of the newest definition of a family; None if it is not as wanted."""
        try:
            answer = self._client.describe_task_definition(taskDefinition=wanted["family"])
        except self._client.exceptions.ClientException:  # the family has no definition
            return None
        found = answer["taskDefinition"]
        return found["taskDefinitionArn"] if self._request(found) == wanted else None

    def _request(self, definition: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of a definition that its registration takes."""
        operation = self._client.meta.service_model.operation_model("RegisterTaskDefinition")
        # Other fields, such as the revision, are ECS's own.
        fields = cast("StructureShape", operation.input_shape).members
        return {name: value for name, value in definition.items() if name in fields}


class EcsClusters:
    """The clusters of the account and region."""

    def __init__(self, client: ECSClient) -> None:
        self._client = client

    def left(self, name: str) -> int | None:
        """Return the running and pending tasks of a cluster; None without an active cluster."""
        found = self._client.describe_clusters(clusters=[name])["clusters"]
        # Amazon ECS API reference, DeleteCluster: a deleted cluster may remain as INACTIVE.
        active = [cluster for cluster in found if cluster["status"] == "ACTIVE"]
        counts = [each["runningTasksCount"] + each["pendingTasksCount"] for each in active]
        return counts[0] if counts else None
