"""Task definitions of Amazon ECS: RunTask may override commands and variables, but no image."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from botocore.model import StructureShape
    from mypy_boto3_ecs import ECSClient

_DIGITS = 16
# AWS keeps these tags for itself.
_RESERVED = "aws:"


class EcsTaskDefinitions:
    """The task definitions of images, each made from the deployed definition of a suite."""

    def __init__(self, client: ECSClient) -> None:
        self._client = client

    def of_image(self, deployed: str, image: str, containers: Collection[str]) -> str:
        """Return the ARN of a definition that differs from the ``deployed`` one in its image.

        ``containers`` are the names of those that run the image.

        The family is that of the deployed definition with a digest of the image's name. A
        definition that exists is used again, if it still says the same.
        """
        answer = self._client.describe_task_definition(taskDefinition=deployed, include=["TAGS"])
        wanted = self._request(answer["taskDefinition"])
        for container in wanted["containerDefinitions"]:
            if container["name"] in containers:
                container["image"] = image
        wanted["family"] += f"-{hashlib.sha256(image.encode()).hexdigest()[:_DIGITS]}"
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
