"""The look-up of things in an account by name, such as the clusters and queues of an instance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from tidemark.run.ports import Definition


class NamedThings:
    """The things of an account and region, by their names.

    ``client`` makes the client of a service; most runs need none of them.
    """

    def __init__(self, client: Callable[[str], Any]) -> None:
        self._client = cache(client)
        self._finds: Mapping[str, Callable[[str], str | None]] = {
            "cluster": self._cluster,
            "queue": self._queue,
            "function": self._function,
            "rule": self._rule,
            "log_group": self._log_group,
        }

    def find(self, kind: str, name: str) -> str | None:
        """Return the ARN of a cluster or the name of anything else; None if there is none."""
        return self._finds[kind](name)

    def definition(self, name: str) -> Definition | None:
        """Return the task definition of a family, or of a family with a revision; None if none."""
        ecs = self._client("ecs")
        try:
            found = ecs.describe_task_definition(taskDefinition=name)["taskDefinition"]
        except ecs.exceptions.ClientException:  # the family has no such definition
            return None
        roles = (found.get(role, "") for role in ("taskRoleArn", "executionRoleArn"))
        return Definition(
            arn=found["taskDefinitionArn"],
            roles=tuple(role.rsplit("/", 1)[-1] for role in roles if role),
            logs={each["name"]: _logs(each) for each in found["containerDefinitions"]},
        )

    def _cluster(self, name: str) -> str | None:
        found = self._client("ecs").describe_clusters(clusters=[name])["clusters"]
        # ECS describes a deleted cluster for some time.
        return next((each["clusterArn"] for each in found if each["status"] == "ACTIVE"), None)

    def _queue(self, name: str) -> str | None:
        sqs = self._client("sqs")
        try:
            sqs.get_queue_url(QueueName=name)
        except sqs.exceptions.QueueDoesNotExist:
            return None
        return name

    def _function(self, name: str) -> str | None:
        functions = self._client("lambda")
        try:
            functions.get_function_configuration(FunctionName=name)
        except functions.exceptions.ResourceNotFoundException:
            return None
        return name

    def _rule(self, name: str) -> str | None:
        events = self._client("events")
        try:
            events.describe_rule(Name=name)
        except events.exceptions.ResourceNotFoundException:
            return None
        return name

    def _log_group(self, name: str) -> str | None:
        groups = self._client("logs").describe_log_groups(logGroupNamePrefix=name)["logGroups"]
        return name if any(each["logGroupName"] == name for each in groups) else None


def _logs(container: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the log group and stream prefix of a container, None if it logs elsewhere."""
    logging = container.get("logConfiguration", {})
    options = logging.get("options", {})
    if logging.get("logDriver") != "awslogs" or "awslogs-stream-prefix" not in options:
        return None
    return options["awslogs-group"], options["awslogs-stream-prefix"]
