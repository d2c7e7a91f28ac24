"""Execution environments of Lambda functions, kept warm between invocations."""

from __future__ import annotations

import shutil
import threading
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from moto.awslambda.exceptions import LambdaClientError

from onebox.cloud.endpoint import Endpoint
from onebox.cloud.fork_server import ForkServer
from onebox.cloud.guard import Guard
from onebox.cloud.logs import CloudWatchLogs
from onebox.cloud.sandboxes import Answer, Function, Sandbox


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
        try:
            sandbox = self._free(function) or self._start(function)
            try:
                return sandbox.invoke(payload)
            finally:
                self._give_back(sandbox)
        except OSError as error:  # the disk is full, or no process can be started
            reason = f"{function.name} cannot be run: {error}"
            raise LambdaClientError("ServiceException", reason) from None

    def close(self) -> None:
        """Kill every environment, and start no other."""
        with self._lock:
            self._closed = True
            sandboxes = list(self._sandboxes)
        # Each waits for its process to end.
        with ThreadPoolExecutor() as threads:
            list(threads.map(self._remove, sandboxes))
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


class KeyFiles:
    """A folder with a file for each role of the functions of one cloud."""

    def __init__(self, folder: Path, endpoint: Endpoint) -> None:
        self._folder, self._endpoint = folder, endpoint

    def environment(self, role: str) -> dict[str, str]:
        """Return the variables with which the AWS SDKs work in the cloud, as this role's ARN."""
        key = self._endpoint.access_key(role)
        file = str(self._write(key["AWS_ACCESS_KEY_ID"], key))
        # The user's own configuration may name a role to assume, which comes before a key.
        files = {"AWS_SHARED_CREDENTIALS_FILE": file, "AWS_CONFIG_FILE": file}
        return {**self._endpoint.place, **files}

    def close(self) -> None:
        """Remove the files."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _write(self, name: str, key: dict[str, str]) -> Path:
        self._folder.mkdir(parents=True, exist_ok=True)
        file = self._folder / name
        unfinished = file.with_suffix(".unfinished")
        unfinished.touch(mode=0o600)
        lines = ["[default]", *(f"{setting.lower()} = {value}" for setting, value in key.items())]
        unfinished.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return unfinished.replace(file)
