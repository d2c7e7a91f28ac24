"""CloudWatch Container Insights on one machine: each ECS task's usage, logged every second.

AWS logs it once a minute, in the same form and to the log group of the same name. Source: Amazon
CloudWatch user guide, "Container Insights performance log events for Amazon ECS". A task is the
process group of its container. The network figures are for the machine's loopback interface,
through which all tasks reach this cloud: Linux counts no traffic per process. While a service runs,
the usage of this cloud itself, without its tasks, is logged apart.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import psutil

from onebox.cloud.logs import CloudWatchLogs

_log = logging.getLogger(__name__)

_STREAM = "FargateTelemetry-1"
_PERIOD_SECONDS = 1.0
_UNITS_OF_VCPU = 1024
_MIB = 2**20


@dataclass(frozen=True)
class _Usage:
    """The usage of a process group so far."""

    at: float
    """Time on the monotonic clock [s]."""
    cpu: float
    """CPU time of its processes and of the children they waited for [s]."""
    memory: int
    """Resident memory now [B]."""
    read_bytes: int
    written_bytes: int
    """Traffic from and to disks, of the processes that still run [B]."""
    received_bytes: int
    sent_bytes: int
    """Traffic over the loopback interface, by all processes [B]."""


class ContainerInsights:
    """The sampler of the watched tasks; it runs until it is closed."""

    def __init__(self, logs: CloudWatchLogs, period_seconds: float = _PERIOD_SECONDS) -> None:
        self._logs = logs
        self._period_seconds = period_seconds
        self._tasks: dict[str, _WatchedTask] = {}
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._sample, name="insights", daemon=True)
        self._thread.start()

    def watch(self, task_id: str, cluster: str, group: int) -> None:
        """Log the usage of a task's process group from now on, to the log group of its cluster."""
        with self._lock:
            self._tasks[task_id] = _WatchedTask(cluster, lambda: _usage(group), _usage(group))

    def watch_cloud(
        self, own_task: str, cluster: str, tasks: Callable[[], Collection[int]]
    ) -> None:
        """Log the usage of this cloud itself, as if it were a task.

        ``tasks`` returns the process groups of all tasks.
        """
        with self._lock:
            if own_task not in self._tasks:
                usage = partial(_cloud_usage, tasks)
                self._tasks[own_task] = _WatchedTask(cluster, usage, usage())

    def forget(self, task_id: str) -> None:
        """Stop logging a task."""
        with self._lock:
            self._tasks.pop(task_id, None)

    def close(self) -> None:
        """Stop logging."""
        self._closed.set()
        self._thread.join()

    def log(self) -> None:
        """Log the usage of each task since its last sample, unless the sample is too recent."""
        with self._lock:
            tasks = list(self._tasks.items())
        for task_id, task in tasks:
            # Linux counts CPU time in ticks of 10 ms: a very short period has no usable figure.
            if time.monotonic() - task.last.at >= self._period_seconds / 2:
                self._log(task_id, task)

    def _sample(self) -> None:
        while not self._closed.wait(self._period_seconds):
            self.log()

    def _log(self, task_id: str, task: _WatchedTask) -> None:
        group = log_group(task.cluster)
        try:
            event = task.event(task_id)
            if event:
                # Nobody deletes what the service creates, so a stack should not own it.
                self._logs.create_group(group)
                self._logs.write(group, _STREAM, [json.dumps(event)])
        except OSError as error:
            # A full disk or too many open files must not cost the other tasks their figures.
            _log.warning("The usage of task %s was not logged: %s", task_id, error)


@dataclass
class _WatchedTask:
    """A watched task and its usage at the last sample."""

    cluster: str
    usage: Callable[[], _Usage]
    """Returns its usage so far."""
    last: _Usage
    read_bytes: int = 0
    written_bytes: int = 0
    """Its traffic from and to disks since the task was watched; it never goes back [B]."""

    def event(self, task_id: str) -> dict[str, object] | None:
        """Return the usage since the last sample in the form of Container Insights.

        Return None if no process of the task runs any more.
        """
        before, now = self.last, self.usage()
        self.last = now
        self.read_bytes += max(0, now.read_bytes - before.read_bytes)
        self.written_bytes += max(0, now.written_bytes - before.written_bytes)
        if not now.memory:
            return None
        seconds = now.at - before.at
        return {
            "Version": "0",
            "Type": "Task",
            "ClusterName": self.cluster,
            "TaskId": task_id,
            "LaunchType": "FARGATE",
            "Timestamp": time.time_ns() // 1_000_000,
            # The CPU time of an ended process is lost, unless its parent waited for it.
            "CpuUtilized": round(max(0.0, now.cpu - before.cpu) / seconds * _UNITS_OF_VCPU, 2),
            "MemoryUtilized": round(now.memory / _MIB, 2),
            "NetworkRxBytes": round((now.received_bytes - before.received_bytes) / seconds),
            "NetworkTxBytes": round((now.sent_bytes - before.sent_bytes) / seconds),
            # Both count from the start of the task on AWS, too, unlike the rates above.
            "StorageReadBytes": self.read_bytes,
            "StorageWriteBytes": self.written_bytes,
        }


def log_group(cluster: str) -> str:
    """Return the log group of a cluster's performance log events."""
    return f"/aws/ecs/containerinsights/{cluster}/performance"


def _cloud_usage(tasks: Callable[[], Collection[int]]) -> _Usage:
    cpu, memory = own_usage(tasks())
    return _Usage(time.monotonic(), cpu, memory, 0, 0, 0, 0)


def own_programs(tasks: Collection[int]) -> Iterator[psutil.Process]:
    """Yield this process and what it started; ``tasks`` are the process groups of tasks."""
    this = psutil.Process()
    yield this
    for child in this.children():
        if _group(child.pid) not in tasks:
            yield child
            with suppress(psutil.Error):
                yield from child.children(recursive=True)


def own_usage(tasks: Collection[int]) -> tuple[float, int]:
    """Return the CPU time of the cloud so far [s], and its memory now [B]."""
    this, *others = own_programs(tasks)
    cpu, memory = sum(this.cpu_times()[:2]), this.memory_info().rss
    for program in others:
        with suppress(psutil.Error):
            # This process waits for the tasks, too; the others wait for functions alone.
            cpu += sum(program.cpu_times()[:4])
            memory += program.memory_info().rss
    return cpu, memory


def _group(pid: int) -> int | None:
    with suppress(ProcessLookupError):
        return os.getpgid(pid)
    return None


def _usage(group: int) -> _Usage:
    cpu, memory, read_bytes, written_bytes = 0.0, 0, 0, 0
    for process in _processes(group):
        try:
            with process.oneshot():
                cpu += sum(process.cpu_times()[:4])
                memory += process.memory_info().rss
                disk = process.io_counters()
        except psutil.Error:  # the process has ended
            continue
        read_bytes += disk.read_bytes
        written_bytes += disk.write_bytes
    loopback = psutil.net_io_counters(pernic=True)["lo"]
    return _Usage(
        time.monotonic(),
        cpu,
        memory,
        read_bytes,
        written_bytes,
        loopback.bytes_recv,
        loopback.bytes_sent,
    )


def _processes(group: int) -> Iterator[psutil.Process]:
    # Compare groups: to list the children of each task would read all of /proc for every task.
    for pid in psutil.pids():
        try:
            if os.getpgid(pid) == group:
                yield psutil.Process(pid)
        except (ProcessLookupError, psutil.NoSuchProcess):
            continue
