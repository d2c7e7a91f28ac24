"""ECS tasks on one machine: each task is a local process with a Fargate task's life.

moto stores the clusters and the task definitions; this module runs the tasks. Sources: Amazon ECS
API reference, Task and Container; Amazon ECS developer guide, "Amazon ECS task lifecycle" and
"Amazon ECS stopped tasks error messages". Memory and CPU of a task definition are not enforced, but
those that RunTask sets in their place are.
"""

from __future__ import annotations

import shutil
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

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
from onebox.cloud.cgroups import Groups, NotWritableError, remove_left
from onebox.cloud.cloud_note import make_private
from onebox.cloud.container_insights import ContainerInsights
from onebox.cloud.containers import Container, address_of, container_of, refuse_unknown
from onebox.cloud.endpoint import Endpoint
from onebox.cloud.logs import CloudWatchLogs
from onebox.cloud.own_programs import OwnCores
from onebox.cloud.processes import Guard, Process, begin, kill_left, left
from onebox.cloud.replacements import Replacements
from onebox.cloud.task_log import TaskLog

_INSIGHTS_ON = {"name": "containerInsights", "value": "enabled"}
_MOST_TASKS = 10  # per RunTask
_RUN_TASK = {
    "clientToken", "cluster", "count", "group", "launchType", "networkConfiguration", "overrides",
    "platformVersion", "propagateTags", "tags", "taskDefinition",
}  # fmt: skip
_LIST_TASKS = {"cluster", "desiredStatus", "family"}
_OUT_OF_MEMORY = "OutOfMemoryError: Container killed due to memory usage"  # ECS's own words
_LEFT_PROCESSES = 1  # the exit code of a task that ended with 0 and left processes
_NOT_RUN_HERE = ("create_service", "create_task_set", "register_container_instance", "start_task")


class Task:
    """One task: its process, and its description in the form of DescribeTasks.

    ``stopped`` is done when the task is STOPPED: its process and the children are gone, all output
    is in the logs and the scratch folder is removed.
    """

    def __init__(
        self, container: Container, logs: CloudWatchLogs, state: Path, fields: dict[str, Any]
    ) -> None:
        self.id = uuid4().hex
        cluster_arn = fields["clusterArn"]
        self.arn = f"{cluster_arn.replace(':cluster/', ':task/')}/{self.id}"
        self.stopped: Future[None] = Future()
        self._container = container
        self._logs = logs
        stream = f"{container.log_stream_prefix}/{container.name}/{self.id}"
        self._log = TaskLog(logs, container.log_group, stream, self._kill_for)
        self._state = state
        self._scratch = _scratch(state) / self.id
        self._address = address_of(self.id)
        self._process: Process | None = None
        self._groups = Groups(())
        self._lock = threading.Lock()
        self._created_at, self._began = datetime.now(UTC), time.monotonic()
        self._task_fields: dict[str, Any] = {
            **fields,
            "taskArn": self.arn,
            "createdAt": self._created_at,
            "lastStatus": "PROVISIONING",
            "desiredStatus": "RUNNING",
            "launchType": "FARGATE",
        }
        self._container_fields: dict[str, Any] = {
            "containerArn": f"{self.arn.replace(':task/', ':container/')}/{uuid4()}",
            "taskArn": self.arn,
            "name": container.name,
            "image": container.image,
            "lastStatus": "PENDING",
            "networkInterfaces": [{"privateIpv4Address": self._address}],
        }

    @property
    def serves(self) -> bool:
        """Whether it is a service, which runs while other tasks are measured."""
        return self._container.serves

    @property
    def group(self) -> int | None:
        """The number of its process group; None if it has not started."""
        return self._process.group if self._process else None

    def description(self) -> dict[str, Any]:
        """Return the task as it is now, in the API's form."""
        with self._lock:
            return {**self._task_fields, "containers": [dict(self._container_fields)]}

    def matches(self, filters: Mapping[str, str]) -> bool:
        """Tell whether the task passes the filters of ListTasks; the cluster is an ARN."""
        task = self.description()
        fields = {
            "cluster": task["clusterArn"],
            "desiredStatus": task["desiredStatus"],
            "family": task["taskDefinitionArn"].rsplit("/", 1)[-1].split(":")[0],
        }
        return filters.items() <= fields.items()

    def start(
        self,
        endpoint: Endpoint,
        guard: Guard,
        cores: Collection[int],
        insights: ContainerInsights | None = None,
    ) -> None:
        """Start the process on some cores; a task that cannot start is stopped at once.

        ``insights`` logs its usage.
        """
        with self._lock:
            self._task_fields["lastStatus"] = "PENDING"
        container = self._container
        if not self._logs.has_group(container.log_group):
            # ECS's own message; the most frequent cause is that the group was never created.
            self._fail_to_start(
                "ResourceInitializationError: failed to validate logger args: The task cannot find "
                f"the Amazon CloudWatch log group defined in the task definition: "
                f"{container.log_group}"
            )
            return
        self._scratch.mkdir(parents=True)
        environment = {
            "TMPDIR": str(self._scratch),
            self._container.address_variable: self._address,
            **container.environment,
            **(endpoint.environment(container.role) if container.role else endpoint.place),
        }
        try:
            self._groups = Groups.make(self.id, container.limits)
            child = begin(
                container.command,
                container.directory,
                environment,
                guard,
                (self._state, self._scratch),
                self._groups,
                cores,
            )
        except NotWritableError as error:
            self._fail_to_start(f"CannotStartContainerError: its size cannot be limited: {error}")
            return
        except OSError as error:
            self._fail_to_start(f"CannotStartContainerError: {container.command[0]}: {error}")
            return
        process = Process(child, self._log.write)
        with self._lock:
            self._process = process
            self._task_fields |= {"lastStatus": "RUNNING", "startedAt": self._now()}
            self._container_fields |= {
                "lastStatus": "RUNNING",
                "imageDigest": container.image_digest,
            }
            stops = self._task_fields["desiredStatus"] == "STOPPED"
        if stops:  # it printed too much at once
            process.send(signal.SIGKILL)
        if insights:
            insights.watch(
                self.id, self._task_fields["clusterArn"].rsplit("/", 1)[-1], process.group
            )
            process.done.add_done_callback(lambda _: insights.forget(self.id))
        process.done.add_done_callback(partial(self._end, process.group))

    def stop(self, reason: str) -> None:
        """Ask the process to end, and kill it after its stop timeout; ignore later calls."""
        with self._lock:
            process = self._process
            if process is None or self._task_fields["desiredStatus"] == "STOPPED":
                return
            self._begin_stop("UserInitiated", reason)
        process.send(signal.SIGTERM)
        patience = threading.Timer(
            self._container.stop_timeout_seconds, process.send, (signal.SIGKILL,)
        )
        patience.daemon = True
        patience.start()
        process.done.add_done_callback(lambda _: patience.cancel())

    def kill(self) -> None:
        """Kill the task now, and wait until it has stopped."""
        if self._process is not None:
            self._process.send(signal.SIGKILL)
        self.stopped.result()

    def _now(self) -> datetime:
        """Return the time, which does not go back during the task if the clock does."""
        return self._created_at + timedelta(seconds=time.monotonic() - self._began)

    def _kill_for(self, reason: str) -> None:
        with self._lock:
            process = self._process
            if self._task_fields["desiredStatus"] != "STOPPED":
                self._begin_stop("UserInitiated", reason)
        if process is not None:
            process.send(signal.SIGKILL)

    def _end(self, group: int, done: Future[int]) -> None:
        code = done.result()
        killed = kill_left(self._scratch, group)
        if killed:
            self._log.add(f"The cloud killed {left(killed)}")
        with self._lock:
            if self._task_fields["desiredStatus"] != "STOPPED":
                self._begin_stop("EssentialContainerExited", "Essential container in task exited")
                if killed and code == 0:
                    # They would have worked beside the next measurement.
                    code = _LEFT_PROCESSES
                    self._container_fields["reason"] = f"the cloud killed {left(killed)}"
            self._container_fields["exitCode"] = code if code >= 0 else 128 - code
            if self._groups.out_of_memory():
                self._container_fields["reason"] = _OUT_OF_MEMORY
        self._finish()

    def _fail_to_start(self, reason: str) -> None:
        with self._lock:
            self._begin_stop("TaskFailedToStart", "Task failed to start")
            self._container_fields["reason"] = reason
        self._finish()

    def _begin_stop(self, code: str, reason: str) -> None:
        self._task_fields |= {
            "desiredStatus": "STOPPED",
            "stopCode": code,
            "stoppedReason": reason,
            "stoppingAt": self._now(),
        }

    def _finish(self) -> None:
        # Remove before the status changes: the removal must not disturb the next measurement.
        # The last output of a dying process is removed later, with the whole state folder.
        shutil.rmtree(self._scratch, ignore_errors=True)
        make_private(self._state)
        self._groups.remove()
        with self._lock:
            self._task_fields |= {"lastStatus": "STOPPED", "stoppedAt": self._now()}
            self._container_fields["lastStatus"] = "STOPPED"
        self.stopped.set_result(None)


class Tasks:
    """The running and the stopped tasks of this cloud.

    Parameters
    ----------
    programs
        The programs that run in place of images.
    state
        A folder for the tasks' scratch folders (TMPDIR), on the disk to measure.
    endpoint
        The cloud that the tasks call.
    logs
        The destination of their output.
    guard
        The guard that kills them if this process is killed.

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
        shutil.rmtree(_scratch(state), ignore_errors=True)
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

    def replace_methods(self) -> None:
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


def _scratch(state: Path) -> Path:
    return state / "tasks"


def install(
    programs: Programs, state: Path, endpoint: Endpoint, logs: CloudWatchLogs, guard: Guard
) -> Tasks:
    """Run moto's ECS tasks on this machine; close the result to stop."""
    tasks = Tasks(programs, state, endpoint, logs, guard)
    tasks.replace_methods()
    return tasks


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
