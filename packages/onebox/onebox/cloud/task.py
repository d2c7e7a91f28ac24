"""One ECS task as a local process with a Fargate task's life.

Sources: Amazon ECS API reference, Task and Container; Amazon ECS developer guide, "Amazon ECS task
lifecycle" and "Amazon ECS stopped tasks error messages". CloudWatch Logs takes any number of lines
and bills each byte; on one machine they share the disk with the measurement and with all other
logs, so a task that prints too much is killed.
"""

from __future__ import annotations

import shutil
import signal
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

from onebox.cloud.cgroups import Groups, NotWritableError
from onebox.cloud.cloud_note import make_private
from onebox.cloud.container_insights import ContainerInsights
from onebox.cloud.containers import Container, address_of
from onebox.cloud.endpoint import Endpoint
from onebox.cloud.logs import CloudWatchLogs
from onebox.cloud.processes import Guard, Process, begin, kill_left, left

MOST_BYTES = 64 * 2**20
_OUT_OF_MEMORY = "OutOfMemoryError: Container killed due to memory usage"  # ECS's own words
_LEFT_PROCESSES = 1  # the exit code of a task that ended with 0 and left processes


def scratch_folder(state: Path) -> Path:
    """Return the folder of the tasks' scratch folders."""
    return state / "tasks"


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
        self._scratch = scratch_folder(state) / self.id
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
        environment = {
            "TMPDIR": str(self._scratch),
            self._container.address_variable: self._address,
            **container.environment,
            **(endpoint.environment(container.role) if container.role else endpoint.place),
        }
        try:
            self._scratch.mkdir(parents=True)
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


class TaskLog:
    """The log stream of one task, which keeps the lines up to ``most_bytes``.

    ``overflow`` is called with the reason when the task prints more, and whenever a line cannot be
    stored.
    """

    def __init__(
        self,
        logs: CloudWatchLogs,
        group: str,
        stream: str,
        overflow: Callable[[str], None],
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self._logs = logs
        self._group, self._stream = group, stream
        self._overflow = overflow
        self._most_bytes = most_bytes
        self._printed = 0

    def add(self, line: str) -> None:
        """Store a line of the cloud's own, however much the task has printed."""
        self._store([line])

    def write(self, lines: Sequence[str]) -> None:
        """Store new lines, unless the task has printed too much."""
        if self._printed > self._most_bytes:
            return
        self._printed += sum(len(line.encode()) + 1 for line in lines)
        if self._printed <= self._most_bytes:
            self._store(lines)
            return
        self._overflow(
            f"it printed more than {self._most_bytes:,} bytes, the limit of a task on one machine"
        )

    def _store(self, lines: Sequence[str]) -> None:
        try:
            self._logs.write(self._group, self._stream, lines)
        except OSError as error:
            # A log with a gap would give other figures.
            self._printed = self._most_bytes + 1
            self._overflow(f"its log cannot be written: {error.strerror}")
