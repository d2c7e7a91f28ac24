"""Execution environments of Lambda functions, kept warm between invocations."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from moto.awslambda.exceptions import LambdaClientError

from local.cloud.endpoint import Endpoint
from local.cloud.guard import Guard
from local.cloud.key_files import KeyFiles
from local.cloud.logs import CloudWatchLogs
from local.cloud.sandboxes import Answer, Function, Sandbox

_PARALLEL_LOADS = 1


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
        self._guard = guard
        self._lock = threading.Lock()
        self._idle: defaultdict[Function, list[Sandbox]] = defaultdict(list)
        self._sandboxes: set[Sandbox] = set()
        self._closed = False
        # A load needs a core: parallel loads would delay the function that is needed first.
        self._warm_threads = ThreadPoolExecutor(_PARALLEL_LOADS, "functions-warm")

    def invoke(self, function: Function, payload: bytes) -> Answer:
        """Run a function on one event, in a warm environment if one is free."""
        sandbox = self._free(function) or self._start(function)
        try:
            return sandbox.invoke(payload)
        finally:
            self._give_back(sandbox)

    def warm(self, functions: Iterable[Function]) -> None:
        """Start one environment for each function, in order and in the background."""
        for function in functions:
            self._warm_threads.submit(self._warm, function)

    def close(self) -> None:
        """Kill every environment, and start no other."""
        self._warm_threads.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            self._closed = True
            sandboxes = list(self._sandboxes)
        for sandbox in sandboxes:
            self._remove(sandbox)
        self._warm_threads.shutdown()
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
            sandbox = Sandbox(function, key, self._logs, self._guard)
            self._sandboxes.add(sandbox)
        return sandbox

    def _warm(self, function: Function) -> None:
        with self._lock:
            if self._closed or any(sandbox.function == function for sandbox in self._sandboxes):
                return
        sandbox = self._start(function)
        self._give_back(sandbox)
        sandbox.await_loaded()

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
