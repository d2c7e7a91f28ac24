"""ECS on one machine: moto stores clusters and task definitions, this module runs the tasks.

Memory and CPU are enforced if RunTask sets them, and not if only the task definition does. While a
service runs, the cloud keeps to half of the cores.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any

from moto.core.responses import ActionResult
from moto.core.utils import camelcase_to_underscores, pascal_to_camelcase, remap_nested_keys
from moto.ecs.exceptions import EcsClientException, InvalidParameterException
from moto.ecs.models import (
    Cluster,
    ClusterFailure,
    EC2ContainerServiceBackend,
    TaskDefinition,
    ecs_backends,
)
from moto.ecs.responses import EC2ContainerServiceResponse

from onebox.app import Programs
from onebox.cloud.cgroups import remove_left
from onebox.cloud.container_insights import ContainerInsights, own_programs
from onebox.cloud.containers import container_of, refuse_unknown
from onebox.cloud.endpoint import Endpoint
from onebox.cloud.logs import CloudWatchLogs
from onebox.cloud.processes import Guard
from onebox.cloud.replacements import Replacements, forget_oldest
from onebox.cloud.task import Task, scratch_folder

_INSIGHTS_ON = {"name": "containerInsights", "value": "enabled"}
_MOST_TASKS = 10  # per RunTask
# A stopped task stays until this number of newer tasks have stopped.
_MOST_STOPPED = 5_000
_RUN_TASK = {
    "clientToken", "cluster", "count", "group", "launchType", "networkConfiguration", "overrides",
    "platformVersion", "propagateTags", "tags", "taskDefinition",
}  # fmt: skip
_LIST_TASKS = {"cluster", "desiredStatus", "family"}
_NOT_RUN_HERE = ("create_service", "create_task_set", "register_container_instance", "start_task")


class Tasks:
    """The tasks behind moto's ECS, until they are closed.

    ``programs`` run in place of images; the folder ``state``, on the disk to measure, has their
    scratch folders. The tasks call the cloud at ``endpoint``, print into ``logs``, and ``guard``
    kills them if this process is killed.
    """

    def __init__(
        self,
        programs: Programs,
        state: Path,
        endpoint: Endpoint,
        logs: CloudWatchLogs,
        guard: Guard,
    ) -> None:
        self._programs = programs
        self._state = state
        # A process that was killed left its folders.
        shutil.rmtree(scratch_folder(state), ignore_errors=True)
        remove_left()
        self._endpoint = endpoint
        self._logs = logs
        self._guard = guard
        self._insights = ContainerInsights(logs)
        self._cores = OwnCores()
        self._tasks: dict[str, Task] = {}
        self._by_token: dict[str, list[Task]] = {}
        self._lock = threading.Lock()
        self._closed = False
        self._replacements = Replacements()
        self._replace_methods()

    def stopped(self, task_arn: str) -> Future[None]:
        """Return the future that is done when the task is STOPPED; KeyError for an unknown task."""
        with self._lock:
            return self._tasks[task_arn.rsplit("/", 1)[-1]].stopped

    def close(self) -> None:
        """Kill every task, and restore moto's own methods."""
        with self._lock:
            self._closed = True
            tasks = list(self._tasks.values())
        for task in tasks:
            task.kill()
        self._insights.close()
        self._replacements.restore()

    def _replace_methods(self) -> None:
        """Put these tasks behind moto's ECS API."""

        def response_method(
            action: Callable[[EC2ContainerServiceBackend, Mapping[str, Any]], dict[str, Any]],
        ) -> Callable[[EC2ContainerServiceResponse], ActionResult]:
            return lambda response: ActionResult(action(response.ecs_backend, response.params))

        actions = {
            "run_task": self._run,
            "describe_tasks": self._describe,
            "list_tasks": self._list,
            "stop_task": self._stop,
        }
        for name, action in actions.items():
            self._replacements.set(EC2ContainerServiceResponse, name, response_method(action))

        def describe_clusters(
            ecs: EC2ContainerServiceBackend, names: list[str]
        ) -> tuple[list[Cluster], list[ClusterFailure]]:
            # moto counts the tasks that it would run itself.
            for cluster in ecs.clusters.values():
                statuses = self._statuses(cluster.arn)
                cluster.running_tasks_count = statuses["RUNNING"]
                cluster.pending_tasks_count = statuses["PROVISIONING"] + statuses["PENDING"]
            found: tuple[list[Cluster], list[ClusterFailure]] = original_describe(ecs, names)
            return found

        original_describe = self._replacements.set(
            EC2ContainerServiceBackend, "describe_clusters", describe_clusters
        )
        self._replacements.refuse(EC2ContainerServiceResponse, _NOT_RUN_HERE)
        self._replacements.set(
            Cluster, "create_from_cloudformation_json", classmethod(_create_cluster)
        )
        self._replacements.set(
            TaskDefinition, "create_from_cloudformation_json", classmethod(_create_from_template)
        )

    def _run(self, ecs: EC2ContainerServiceBackend, request: Mapping[str, Any]) -> dict[str, Any]:
        refuse_unknown("RunTask request", request, _RUN_TASK)
        count = _task_count(request)
        definition = ecs.describe_task_definition(request["taskDefinition"])
        overrides = request.get("overrides") or {}
        container = container_of(definition, overrides, self._programs)
        cluster = ecs._get_cluster(request.get("cluster", "default"))
        fields = {
            "clusterArn": cluster.arn,
            "taskDefinitionArn": definition.arn,
            "group": request.get("group") or f"family:{definition.family}",
            "overrides": overrides,
            "tags": _tags(request, definition),
            "cpu": overrides.get("cpu") or definition.cpu,
            "memory": overrides.get("memory") or definition.memory,
        }
        tasks = [Task(container, self._logs, self._state, fields) for _ in range(count)]
        insights = self._insights if _INSIGHTS_ON in cluster.settings else None
        descriptions = self._start_tasks(request.get("clientToken"), tasks, insights)
        return {"tasks": descriptions, "failures": []}

    def _start_tasks(
        self, token: str | None, tasks: list[Task], insights: ContainerInsights | None
    ) -> list[dict[str, Any]]:
        """Start the tasks of a new request; return their descriptions before the start."""
        with self._lock:
            if self._closed:
                raise EcsClientException("The one-machine cloud is closing.")
            self._forget_oldest()
            if token in self._by_token:
                return [task.description() for task in self._by_token[token]]
            if token is not None:
                self._by_token[token] = tasks
            self._tasks |= {task.id: task for task in tasks}
            descriptions = [task.description() for task in tasks]
            for task in tasks:
                if task.serves:
                    self._give_way(task, insights)
                task.start(self._endpoint, self._guard, self._cores.all, insights)
        return descriptions

    def _forget_oldest(self) -> None:
        if forget_oldest(self._tasks, lambda task: task.stopped.done(), _MOST_STOPPED):
            requests = self._by_token.items()
            self._by_token = {
                token: tasks for token, tasks in requests if tasks[0].id in self._tasks
            }

    def _give_way(self, service: Task, insights: ContainerInsights | None) -> None:
        """Keep this cloud off the cores of a service until it has stopped, and log its usage."""
        self._cores.give_way(self._groups())
        if insights:
            cluster = service.description()["clusterArn"].rsplit("/", 1)[-1]
            insights.watch_cloud(self._programs.own_task, cluster, self._groups)

        def take_back(_: Future[None]) -> None:
            if self._cores.take_back(self._groups()):
                self._insights.forget(self._programs.own_task)

        service.stopped.add_done_callback(take_back)

    def _groups(self) -> set[int]:
        """Return the process groups of all tasks."""
        return {group for task in list(self._tasks.values()) if (group := task.group)}

    def _describe(
        self, ecs: EC2ContainerServiceBackend, request: Mapping[str, Any]
    ) -> dict[str, Any]:
        cluster = ecs._get_cluster(request.get("cluster", "default"))
        descriptions, failures = [], []
        for name in request["tasks"]:
            task = self._task_named(cluster.arn, name)
            if task is None:
                arn = name if name.startswith("arn:") else f"{_task_prefix(cluster.arn)}{name}"
                failures.append({"arn": arn, "reason": "MISSING"})
            else:
                descriptions.append(task.description())
        if "TAGS" not in request.get("include", []):
            for description in descriptions:
                del description["tags"]
        return {"tasks": descriptions, "failures": failures}

    def _list(self, ecs: EC2ContainerServiceBackend, request: Mapping[str, Any]) -> dict[str, Any]:
        refuse_unknown("ListTasks request", request, _LIST_TASKS)
        cluster = ecs._get_cluster(request.get("cluster", "default"))
        filters = {"desiredStatus": "RUNNING", **request, "cluster": cluster.arn}
        with self._lock:
            tasks = list(self._tasks.values())
        return {"taskArns": [task.arn for task in tasks if task.matches(filters)]}

    def _statuses(self, cluster_arn: str) -> Counter[str]:
        """Return the number of a cluster's tasks by their last status."""
        with self._lock:
            tasks = [task.description() for task in self._tasks.values()]
        return Counter(task["lastStatus"] for task in tasks if task["clusterArn"] == cluster_arn)

    def _stop(self, ecs: EC2ContainerServiceBackend, request: Mapping[str, Any]) -> dict[str, Any]:
        cluster = ecs._get_cluster(request.get("cluster", "default"))
        task = self._task_named(cluster.arn, request["task"])
        if task is None:
            raise InvalidParameterException("The referenced task was not found.")
        task.stop(request.get("reason") or "Task stopped by user")
        return {"task": task.description()}

    def _task_named(self, cluster_arn: str, name: str) -> Task | None:
        with self._lock:
            task = self._tasks.get(name.rsplit("/", 1)[-1])
        return task if task and task.arn.startswith(_task_prefix(cluster_arn)) else None


def _task_count(request: Mapping[str, Any]) -> int:
    if request.get("launchType") != "FARGATE":
        raise InvalidParameterException(
            f"launchType is {request.get('launchType')}; accepted: FARGATE."
        )
    if not request.get("networkConfiguration", {}).get("awsvpcConfiguration", {}).get("subnets"):
        raise InvalidParameterException(
            "Network Configuration must be provided when networkMode 'awsvpc' is specified."
        )
    count = int(request.get("count", 1))
    if not 1 <= count <= _MOST_TASKS:
        raise InvalidParameterException(f"count is {count}; accepted: 1 to {_MOST_TASKS}.")
    return count


def _tags(request: Mapping[str, Any], definition: TaskDefinition) -> list[dict[str, str]]:
    source = request.get("propagateTags", "NONE")
    if source not in {"NONE", "TASK_DEFINITION"}:
        raise InvalidParameterException(
            f"propagateTags is {source}; accepted: NONE, TASK_DEFINITION."
        )
    propagated = definition.tags if source == "TASK_DEFINITION" else []
    tags = request.get("tags", [])
    keys = {tag["key"] for tag in tags}
    return [*tags, *(tag for tag in propagated if tag["key"] not in keys)]


def _task_prefix(cluster_arn: str) -> str:
    return f"{cluster_arn.replace(':cluster/', ':task/')}/"


def _create_cluster(
    _: type[Cluster], /, name: str, template: dict[str, Any], account: str, region: str, **__: str
) -> Cluster:
    # moto's own method ignores the settings.
    settings = template["Properties"].get("ClusterSettings", [])
    cluster: Cluster = ecs_backends[account][region].create_cluster(
        cluster_name=name, cluster_settings=remap_nested_keys(settings, pascal_to_camelcase)
    )
    return cluster


def _create_from_template(
    _: type[TaskDefinition],
    /,
    name: str,
    template: dict[str, Any],
    account: str,
    region: str,
    **__: str,
) -> TaskDefinition:
    # moto's own method passes only four properties, without network mode and compatibilities.
    properties = {
        camelcase_to_underscores(key): remap_nested_keys(value, pascal_to_camelcase)
        for key, value in template["Properties"].items()
    }
    definition: TaskDefinition = ecs_backends[account][region].register_task_definition(
        **{"family": name, **properties}
    )
    return definition


class OwnCores:
    """The cores of this cloud: all of them, or the first half while a service runs.

    A cloud shares the machine with the services that its tasks measure.
    """

    def __init__(self) -> None:
        self.all = sorted(os.sched_getaffinity(0))
        self._services = 0
        self._lock = threading.Lock()

    def give_way(self, tasks: Collection[int]) -> None:
        """Keep off the cores of a service that begins."""
        with self._lock:
            self._services += 1
            if half := self.all[: len(self.all) // 2]:
                _keep_to(half, tasks)

    def take_back(self, tasks: Collection[int]) -> bool:
        """Use all cores again once the last service has ended; tell whether it has."""
        with self._lock:
            self._services -= 1
            if not self._services:
                _keep_to(self.all, tasks)
            return not self._services


def _keep_to(cores: Sequence[int], tasks: Collection[int]) -> None:
    # A new thread or function has the cores of the one that started it.
    for program in own_programs(tasks):
        with suppress(FileNotFoundError):
            for thread in Path(f"/proc/{program.pid}/task").iterdir():
                with suppress(ProcessLookupError):
                    os.sched_setaffinity(int(thread.name), cores)
