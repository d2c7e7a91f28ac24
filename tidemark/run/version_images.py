"""The task definitions of the image of a trial's version."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidemark.model.suite import Suite
    from tidemark.run.ecs_resources import System
    from tidemark.run.ports import TaskDefinitions


def with_image(system: System, suite: Suite, image: str, definitions: TaskDefinitions) -> System:
    """Return a system whose tasks, or whose services' containers, run the image of a version."""
    if suite.runs_images:
        arn = definitions.of_image(system.task_definition, image, [system.container])
        return system._replace(task_definition=arn)
    versioned = {
        name: definitions.of_image(system.services[name], image, service.task.versioned)
        for name, service in suite.services.items()
        if service.task.versioned
    }
    return system._replace(services={**system.services, **versioned})
