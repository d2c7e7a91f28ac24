"""The ECS resources that run the system tests of a suite."""

import operator
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from pydantic import Field

from tidemark.model.base import Frozen
from tidemark.model.instance import KnownInstance, LoggingTask
from tidemark.model.refusal import Refused
from tidemark.model.sentences import listed
from tidemark.model.suite import Suite
from tidemark.run.ports import TaskDefinitions

if TYPE_CHECKING:  # PrepareTrial starts without the models of results
    from tidemark.model.results import TaskResult


class System(Frozen):
    """The ECS side of one suite, as the state machine of a trial knows it."""

    task_definition: str
    """The ARN with its revision: a family name alone would run the latest revision. Where each
    version is an image, no task runs it, and the definitions of the images are made from it."""
    container: str
    log_group: str
    stream_prefix: str
    security_group: str
    """The id of the security group of the tasks."""
    services: dict[str, str] = Field(default={})
    """The ARN of the task definition of each service, whose container has the service's name."""
    usage_log_group: str | None = None
    """The log group where Container Insights logs the usage of tasks; None if it is off."""

    instance_logs: dict[str, LoggingTask] = Field(default={}, exclude_if=operator.not_)
    """The logs of the tasks of an instance, by the word of their definition."""

    def of_instance(self, known: KnownInstance | None) -> "System":
        """Return the system with the logs of the tasks of an instance, if there is one."""
        return self.model_copy(update={"instance_logs": known.logs}) if known else self

    def stream(self, task_id: str, service: str = "") -> str:
        """Return the log stream that the awslogs driver gives to a task of the suite."""
        return f"{self.stream_prefix}/{service or self.container}/{task_id}"

    def streams(self, tasks: "Iterable[TaskResult]") -> dict[str, str]:
        """Return the log stream of each task that was started, by the task's id."""
        return {task.task_id: self._place(task, task.task_id)[1] for task in tasks if task.task_id}

    def log_groups(self, tasks: "Iterable[TaskResult]") -> dict[str, str]:
        """Return the log group of each task that was started, by the task's log stream."""
        places = (self._place(task, task.task_id) for task in tasks if task.task_id)
        return {stream: group for group, stream in places}

    def _place(self, task: "TaskResult", task_id: str) -> tuple[str, str]:
        """Return the log group and the log stream of a task."""
        logs = self.instance_logs.get(task.definition)
        if logs is None:
            return self.log_group, self.stream(task_id, task.container or task.service)
        return logs.log_group, f"{logs.stream_prefix}/{logs.container}/{task_id}"


def by_value(values: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the keys of each value, in order."""
    keys: dict[str, list[str]] = {}
    for key, value in values.items():
        keys.setdefault(value, []).append(key)
    return keys


def with_image(
    system: System,
    suite: Suite,
    image: str,
    axes: Mapping[str, str],
    definitions: TaskDefinitions,
) -> System:
    """Return a system whose tasks, or whose services' containers, run the image of a version.

    A service lacks the containers of other values of the axes.

    Raises
    ------
    Refused
        If none of a service's containers under these values runs the image.

    """
    if suite.runs_images:
        arn = definitions.of_image(system.task_definition, image, [system.container])
        return system.model_copy(update={"task_definition": arn})
    found = dict[str, str]()
    for name, task in ((name, each.task) for name, each in suite.services.items()):
        kept = task.beside_under(axes)
        if task.versioned and not {*task.versioned} & {*kept}:
            needed = sorted({axis for each in task.versioned for axis in task.beside[each].under})
            raise Refused(f"axes: {name} runs a version under {listed(needed)} alone; name a value")
        if task.versioned:
            left_out = [each for each in task.beside if each not in kept]
            found[name] = definitions.of_image(
                system.services[name], image, task.versioned, left_out
            )
    return system.model_copy(update={"services": {**system.services, **found}})
