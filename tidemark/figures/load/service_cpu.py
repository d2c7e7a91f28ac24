"""The CPU time that the services of a test used at each level of its load."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from statistics import fmean

from tidemark.model.load import HeldLevel, LoadCourse
from tidemark.model.results import CLOUD, TaskResult, Usage


def with_cpu(load: LoadCourse, usages: Sequence[Usage], tasks: Sequence[TaskResult]) -> LoadCourse:
    """Return a load with the mean CPU of each service from the start to the end of each level.

    The local cloud, which shares a machine with the services, is like one. AWS logs the usage of a
    task once a minute: a shorter level may have none.
    """
    services = {task.task_id: task.service for task in tasks if task.service}
    services[CLOUD] = "the local cloud"
    logged = [
        (datetime.fromisoformat(usage.logged_at).replace(tzinfo=UTC), services[usage.task_id], cpu)
        for usage in usages
        if usage.task_id in services and (cpu := usage.cpu) is not None
    ]
    return load.model_copy(update={"held": tuple(_with_cpu(each, logged) for each in load.held)})


def _with_cpu(level: HeldLevel, logged: Sequence[tuple[datetime, str, float]]) -> HeldLevel:
    used: defaultdict[str, list[float]] = defaultdict(list)
    for at, service, cpu in logged:
        if level.begun_at and level.begun_at < at <= level.ended_at:
            used[service].append(cpu)
    return level.model_copy(update={"cpu": {name: fmean(each) for name, each in used.items()}})
