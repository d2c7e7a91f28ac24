"""Execution environments of Lambda functions, kept warm between invocations."""

from __future__ import annotations

import threading
from collections import defaultdict
from pathlib import Path

from moto.awslambda.exceptions import LambdaClientError

from local.cloud.endpoint import Endpoint
from local.cloud.fork_server import ForkServer
from local.cloud.guard import Guard
from local.cloud.key_files import KeyFiles
from local.cloud.logs import CloudWatchLogs
from local.cloud.sandboxes import Answer, Function, Sandbox


class Environments:
    """The environments of all functions of one cloud.

    Parameters
    ----------
    endpoint
        The cloud that the functions call.
    logs
        The destination of their output.
    guard
        The guard that kills them if this process is killed.
    folder
        The folder of their access keys, which exists as long as the cloud.

    """

    def __init__(
        self, endpoint: Endpoint, logs: CloudWatchLogs, guard: Guard, folder: Path
    ) -> None:
        self._keys = KeyFiles(folder, endpoint)
        self._logs = logs
        self._server = ForkServer(guard)
        self._lock = threading.Lock()
        self._idle: defaultdict[Function, list[Sandbox]] = defaultdict(list)
        self._sandboxes: set[Sandbox] = set()
        self._closed = False

    def invoke(self, function: Function, payload: bytes) -> Answer:
        """Run a function on one event, in a warm environment if one is free."""
        sandbox = self._free(function) or self._start(function)
        try:
            return sandbox.invoke(payload)
        finally:
            self._give_back(sandbox)

    def close(self) -> None:
        """Kill every environment, and start no other."""
        with self._lock:
            self._closed = True
            sandboxes = list(self._sandboxes)
        for sandbox in sandboxes:
            self._remove(sandbox)
        self._server.close()
        self._keys.close()

    def _free(self, function: Function) -> Sandbox | None:
        with self._lock:
            idle = self._idle[function]
            sandbox = idle.pop() if idle else None
        if sandbox is None or sandbox.alive:
            return sandbox
        self._remove(sandbox)
        return self._free(function)

    def _start(self, function: Function) -> Sandbox:
        with self._lock:
            if self._closed:
                raise LambdaClientError("ServiceException", "the one-machine cloud is closing")
            self._logs.create_group(function.log_group)
            key = self._keys.environment(function.role)
            sandbox = Sandbox(function, key, self._logs, self._server)
            self._sandboxes.add(sandbox)
        return sandbox

    def _give_back(self, sandbox: Sandbox) -> None:
        if not sandbox.alive:
            self._remove(sandbox)
            return
        with self._lock:
            self._idle[sandbox.function].append(sandbox)

    def _remove(self, sandbox: Sandbox) -> None:
        with self._lock:
            if sandbox not in self._sandboxes:
                return
            self._sandboxes.remove(sandbox)
        sandbox.close()
