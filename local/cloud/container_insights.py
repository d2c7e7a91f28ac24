"""CloudWatch Container Insights on one machine: what each ECS task uses, logged once a second.

On AWS it is logged once a minute, in the same form and to the log group of the same name. Source:
Amazon CloudWatch user guide, "Container Insights performance log events for Amazon ECS". A task is
the process group of its container. Network is that of the machine's loopback interface, through
which all tasks reach this cloud: Linux counts it for no process.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

import psutil

from local.cloud.logs import CloudWatchLogs

_log = logging.getLogger(__name__)

_STREAM = "FargateTelemetry-1"
_PERIOD_SECONDS = 1.0
_UNITS_OF_VCPU = 1024
_MIB = 2**20


@dataclass(frozen=True)
class _Used:
    """What a process group has used so far."""

    at: float
    """On the monotonic clock [s]."""
    cpu: float
    """Of its processes, and of those that they waited for [s]."""
    memory: int
    """Resident now [B]."""
    read: int
    written: int
    """From and to disks, of the processes that still run [B]."""
    received: int
    sent: int
    """Over the loopback interface, by whomever [B]."""


class ContainerInsights:
    """Samples the tasks that it is told of, until it is closed."""

    def __init__(self, logs: CloudWatchLogs, period_seconds: float = _PERIOD_SECONDS) -> None:
        self._logs = logs
        self._period_seconds = period_seconds
        self._watched: dict[str, _Watched] = {}
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._sample, name="insights", daemon=True)
        self._thread.start()

    def watch(self, task_id: str, cluster: str, group: int) -> None:
        """Log what a task's process group uses from now on, to the log group of its cluster."""
        with self._lock:
            self._watched[task_id] = _Watched(cluster, group, _used(group))

    def forget(self, task_id: str) -> None:
        """Log nothing more of a task."""
        with self._lock:
            self._watched.pop(task_id, None)

    def close(self) -> None:
        """Log nothing more."""
        self._closed.set()
        self._thread.join()

    def log(self) -> None:
        """Log what each task used since it was looked at last, unless that was just now."""
        with self._lock:
            watched = list(self._watched.items())
        for task_id, task in watched:
            # CPU time is counted in ticks of 10 ms: over a moment it says nothing.
            if time.monotonic() - task.last.at >= self._period_seconds / 2:
                self._log(task_id, task)

    def _sample(self) -> None:
        while not self._closed.wait(self._period_seconds):
            self.log()

    def _log(self, task_id: str, task: _Watched) -> None:
        group = log_group(task.cluster)
        try:
            event = task.event(task_id)
            if event and self._logs.has_group(group):
                self._logs.write(group, _STREAM, [json.dumps(event)])
        except OSError as error:
            # A disk that is full now, or too many open files, costs no other task its figures.
            _log.warning("What task %s uses was not logged: %s", task_id, error)


@dataclass
class _Watched:
    """A task that is watched, and what it had used when it was looked at last."""

    cluster: str
    group: int
    last: _Used

    def event(self, task_id: str) -> dict[str, object] | None:
        """Return what it used since it was looked at last, as Container Insights logs it.

        None if nothing of it runs any more.
        """
        before, now = self.last, _used(self.group)
        self.last = now
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
            # What a process that has ended had used is lost with it, unless somebody waited for it.
            "CpuUtilized": round(max(0.0, now.cpu - before.cpu) / seconds * _UNITS_OF_VCPU, 2),
            "MemoryUtilized": round(now.memory / _MIB, 2),
            "NetworkRxBytes": round((now.received - before.received) / seconds),
            "NetworkTxBytes": round((now.sent - before.sent) / seconds),
            "StorageReadBytes": max(0, now.read - before.read),
            "StorageWriteBytes": max(0, now.written - before.written),
        }


def log_group(cluster: str) -> str:
    """Return the log group of a cluster's performance log events."""
    return f"/aws/ecs/containerinsights/{cluster}/performance"


def _used(group: int) -> _Used:
    cpu, memory, read, written = 0.0, 0, 0, 0
    for process in _processes(group):
        try:
            with process.oneshot():
                cpu += sum(process.cpu_times()[:4])
                memory += process.memory_info().rss
                disk = process.io_counters()
        except psutil.Error:  # it has ended meanwhile
            continue
        read += disk.read_bytes
        written += disk.write_bytes
    loopback = psutil.net_io_counters(pernic=True)["lo"]
    return _Used(
        time.monotonic(), cpu, memory, read, written, loopback.bytes_recv, loopback.bytes_sent
    )


def _processes(group: int) -> Iterator[psutil.Process]:
    # By the group, not by the children of each: that would read the whole of /proc for every task.
    for pid in psutil.pids():
        try:
            if os.getpgid(pid) == group:
                yield psutil.Process(pid)
        except (ProcessLookupError, psutil.NoSuchProcess):
            continue
