"""Execution environments of Lambda functions: each has a process, kept warm between invocations.

A file for each role has the key that its functions sign with.


Sources: AWS documentation, "Understanding the Lambda execution environment lifecycle" (phases,
environment variables), "Viewing CloudWatch logs for Lambda" (START, END and REPORT lines).
"""

from __future__ import annotations

import errno
import json
import logging
import math
import shutil
import signal
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from moto.awslambda.exceptions import LambdaClientError

from onebox.cloud.endpoint import Endpoint
from onebox.cloud.logs import CloudWatchLogs
from onebox.cloud.processes import Guard, Process, clean_environment
from onebox.cloud.runtime import ForkServer, Invocation, Reply, RuntimeApi

_log = logging.getLogger(__name__)
# AWS Lambda API reference, Invoke: a file system cannot be read or written. State machines retry a
# ServiceException, but a disk has no room after a minute, either.
_OF_THE_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS}
INIT_SECONDS = 10  # AWS's limit for the load of a function, before its timeout begins


@dataclass(frozen=True)
class Function:
    """The configuration of a function that its execution environment needs."""

    name: str
    arn: str
    version: str
    handler: str
    memory_mb: int
    timeout_seconds: int
    log_group: str
    code: Path
    role: str
    variables: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Answer:
    """The end of one invocation: its payload, whether it is an error, and its log."""

    payload: bytes
    failed: bool
    log: str


@dataclass
class _Record:
    """The record of one invocation."""

    request_id: str = field(default_factory=lambda: str(uuid4()))
    lines: list[str] = field(default_factory=list)
    init_seconds: float = 0.0
    status: str = ""


class Sandbox:
    """One execution environment, which serves one invocation at a time.

    ``cloud`` has the variables that lead to the cloud, with the key of the function's role. The
    constructor returns at once; the first invocation waits until the function has loaded. Once
    ``alive`` is false, the environment serves no other invocation.
    """

    def __init__(
        self,
        function: Function,
        cloud: Mapping[str, str],
        logs: CloudWatchLogs,
        server: ForkServer,
    ) -> None:
        self.function = function
        self._logs = logs
        day = datetime.now(UTC).strftime("%Y/%m/%d")
        self._stream = f"{day}/[{function.version}]{uuid4().hex}"
        self._record = _Record()
        self._failed = False
        self._started_at = time.monotonic()
        self._invocations = 0
        self._api = RuntimeApi()
        try:
            child = server.start(function.handler, function.code, self._environment(cloud))
        except OSError:
            self._api.close()
            raise
        self._process = Process(child, self._write_output)
        self._api.serve(self._process.group)

    @property
    def alive(self) -> bool:
        """Whether the environment can serve another invocation."""
        return not self._failed and not self._process.done.done()

    def invoke(self, payload: bytes) -> Answer:
        """Run the function on one event, a JSON document."""
        load_error = self._await_initialised()
        # The output of the load comes before START.
        self._process.drain()
        record = self._record
        self._write([f"START RequestId: {record.request_id} Version: {self.function.version}"])
        start = time.monotonic()
        reply = load_error or self._run(payload)
        seconds = time.monotonic() - start
        self._process.drain()
        self._write([f"END RequestId: {record.request_id}", self._report(seconds)])
        self._invocations += 1
        self._record = _Record()
        return Answer(reply.payload, reply.failed, "\n".join(record.lines))

    def close(self) -> None:
        """Kill the process and its children."""
        self._process.send(signal.SIGKILL)
        self._process.done.result()
        self._api.close()

    def _await_initialised(self) -> Reply | None:
        """Wait for the function to load; return the error of the invocation, None if it loaded."""
        initialised = self._api.initialised
        limit = INIT_SECONDS + self.function.timeout_seconds
        self._await(initialised, self._started_at + limit - time.monotonic())
        if not initialised.done():
            return self._broken()
        initialisation = initialised.result()
        if self._invocations == 0:
            self._record.init_seconds = initialisation.moment - self._started_at
        if initialisation.error is not None:
            self._fail(json.loads(initialisation.error.payload)["errorType"])
        return initialisation.error

    def _run(self, payload: bytes) -> Reply:
        limit = self.function.timeout_seconds
        deadline_ms = int((time.time() + limit) * 1000)
        invocation = Invocation(
            self._record.request_id, self.function.arn, deadline_ms, payload or b"{}"
        )
        reply = self._api.submit(invocation)
        self._await(reply, limit)
        if not reply.done():
            return self._broken()
        return self._out_of_memory() if self._exceeds_memory() else reply.result()

    def _exceeds_memory(self) -> bool:
        # The process is asked after its work: Lambda would have killed it during the work.
        peak = self._process.peak_bytes()
        return peak is not None and peak > self.function.memory_mb * 2**20

    def _out_of_memory(self) -> Reply:
        self._process.send(signal.SIGKILL)
        return self._exit_error(self._process.done.result())

    def _await(self, answer: Future[Any], seconds: float) -> None:
        wait([answer, self._process.done], max(seconds, 0), FIRST_COMPLETED)

    def _broken(self) -> Reply:
        """Return the error of a process that ended or, if it still runs, of a timeout."""
        done = self._process.done
        return self._exit_error(done.result()) if done.done() else self._timeout_error()

    def _exit_error(self, code: int) -> Reply:
        self._fail("Runtime.ExitError")
        message = f"RequestId: {self._record.request_id} Error: {_exit_reason(code)}"
        self._write([f"{message}\nRuntime.ExitError"])
        return _error("Runtime.ExitError", message)

    def _timeout_error(self) -> Reply:
        self._failed, self._record.status = True, "Status: timeout"
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        seconds = f"{self.function.timeout_seconds:.2f}"
        message = f"{now} {self._record.request_id} Task timed out after {seconds} seconds"
        self._write([message])
        return _error("Sandbox.Timedout", message)

    def _fail(self, error_type: str) -> None:
        self._failed, self._record.status = True, f"Status: error\tError Type: {error_type}"

    def _report(self, seconds: float) -> str:
        peak = self._process.peak_bytes()
        initial = self._record.init_seconds
        # The time to load is billed too (AWS Compute Blog, 2025: billing for the INIT phase).
        billed = math.ceil((seconds + initial) * 1000)
        parts = [
            f"REPORT RequestId: {self._record.request_id}",
            f"Duration: {seconds * 1000:.2f} ms",
            f"Billed Duration: {billed} ms",
            f"Memory Size: {self.function.memory_mb} MB",
            # Linux gives no peak of a process that has ended.
            f"Max Memory Used: {math.ceil(peak / 2**20)} MB" if peak else "",
            f"Init Duration: {initial * 1000:.2f} ms" if initial else "",
            self._record.status,
        ]
        return "\t".join(part for part in parts if part)

    def _write_output(self, lines: list[str]) -> None:
        try:
            # Within one message awslambdaric ends its lines with a carriage return.
            self._write([line.replace("\r", "\n") for line in lines])
        except OSError as error:  # the disk is full, or fails; the end of the invocation says so
            _log.warning("The log of %s lacks lines: %s", self.function.name, error.strerror)

    def _write(self, lines: list[str]) -> None:
        self._record.lines += lines
        self._logs.write(self.function.log_group, self._stream, lines)

    def _environment(self, cloud: Mapping[str, str]) -> Mapping[str, str]:
        function = self.function
        return {
            **clean_environment(),
            **dict(function.variables),
            **cloud,
            "AWS_EXECUTION_ENV": f"AWS_Lambda_python3.{sys.version_info.minor}",
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(function.memory_mb),
            "AWS_LAMBDA_FUNCTION_NAME": function.name,
            "AWS_LAMBDA_FUNCTION_VERSION": function.version,
            "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
            "AWS_LAMBDA_LOG_GROUP_NAME": function.log_group,
            "AWS_LAMBDA_LOG_STREAM_NAME": self._stream,
            "AWS_LAMBDA_RUNTIME_API": self._api.address,
            "LAMBDA_TASK_ROOT": str(function.code),
            "PYTHONPATH": str(function.code),
            "TZ": ":UTC",
            "_HANDLER": function.handler,
        }


def _error(error_type: str, message: str) -> Reply:
    payload = json.dumps({"errorType": error_type, "errorMessage": message})
    return Reply(payload.encode(), failed=True)


def _exit_reason(code: int) -> str:
    if code == 0:
        return "Runtime exited without providing a reason"
    if code > 0:
        return f"Runtime exited with error: exit status {code}"
    return f"Runtime exited with error: signal: {str(signal.strsignal(-code)).lower()}"


class Environments:
    """The environments of all functions of one cloud.

    ``folder`` has their access keys, and exists as long as the cloud.
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
            code = "EFSIOException" if error.errno in _OF_THE_DISK else "ServiceException"
            raise LambdaClientError(code, f"{function.name} cannot be run: {error}") from None

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
