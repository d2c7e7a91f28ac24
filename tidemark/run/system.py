"""The ECS resources that run the system tests of a suite."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # PrepareTrial starts without the models of results
    from tidemark.model.results import TaskResult


class System(NamedTuple):
    """The ECS side of one suite."""

    task_definition: str
    """The ARN with its revision: a family name alone would run the latest revision. Where each
    version is an image, no task runs it, and the definitions of the images are made from it."""
    container: str
    log_group: str
    stream_prefix: str
    security_group: str
    """The id of the security group of the tasks."""
    services: Mapping[str, str] = {}
    """The ARN of the task definition of each service, whose container has the service's name."""
    usage_log_group: str | None = None
    """The log group where Container Insights logs the usage of tasks; None if it is off."""

    def stream(self, task_id: str, service: str = "") -> str:
        """Return the log stream that the awslogs driver gives to a task."""
        return f"{self.stream_prefix}/{service or self.container}/{task_id}"

    def streams(self, tasks: Iterable[TaskResult]) -> dict[str, str]:
        """Return the log stream of each task that was started, by the task's id."""
        return {
            task.task_id: self.stream(task.task_id, task.service) for task in tasks if task.task_id
        }
