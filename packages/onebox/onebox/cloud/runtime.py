"""AWS's runtime of a function: its process, and the Runtime API that gives it events.

The processes are forked from one that has loaded what they share: each invocation without a free
environment would otherwise wait for a new Python and its imports. Source: AWS documentation, "Using
the Lambda runtime API for custom runtimes".
"""

from __future__ import annotations

import json
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import psutil
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.wrappers import Request, Response

from onebox.cloud.processes import Guard, clean_environment
from onebox.cloud.server import LOOPBACK, Listener, QuietHandler

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment


_PROGRAM = Path(__file__).with_name("preloaded.py")
_LONGEST_CODE_BYTES = 64


class ForkServer:
    """The process that functions are forked from; it ends with this process.

    ``guard`` kills the functions if this process is killed.
    """

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._lock = threading.Lock()
        self._begin()

    def start(self, handler: str, directory: Path, environment: Mapping[str, str]) -> Forked:
        """Start AWS's runtime for a handler; raise OSError if it cannot be started."""
        request = {
            "handler": handler,
            "directory": str(directory),
            "environment": dict(environment),
        }
        with self._lock:
            if self._process.poll() is not None:  # somebody killed it
                self._channel.close()
                self._begin()
        reader, writer = os.pipe()
        output = os.fdopen(reader, "rb", 0)
        try:
            pid = self._ask(request, writer, self._guard.pipe)
        except OSError:
            output.close()
            raise
        finally:
            os.close(writer)
        return Forked(pid, output, self)

    def exit_code(self, pid: int) -> int:
        """Return the exit code of a function that has ended, as ``subprocess`` gives it."""
        try:
            return self._ask({"ended": pid})
        except OSError:  # the fork server was killed, and nobody knows the code
            return -signal.SIGKILL

    def close(self) -> None:
        """End the process."""
        self._channel.close()
        self._process.wait()

    def _begin(self) -> None:
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", str(_PROGRAM)],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                env=clean_environment(),
                start_new_session=True,
            )

    def _ask(self, request: Mapping[str, Any], *descriptors: int) -> int:
        with self._lock:
            socket.send_fds(self._channel, [json.dumps(request).encode()], descriptors)
            answer = self._channel.recv(_LONGEST_CODE_BYTES)
        if not answer:
            raise ChildProcessError("the process that functions are forked from has ended")
        return int(answer)


class Forked:
    """A process that the fork server started, as ``subprocess.Popen`` shows its own."""

    def __init__(self, pid: int, output: IO[bytes], server: ForkServer) -> None:
        self.pid, self.stdout = pid, output
        self.returncode: int | None = None
        self._server = server

    def wait(self) -> int:
        """Return the exit code of the process, which has ended."""
        if self.returncode is None:
            self.returncode = self._server.exit_code(self.pid)
        return self.returncode


_PREFIX = "/2018-06-01/runtime/"
_SHUTDOWN_POLL_SECONDS = 0.02
# AWS documentation, Lambda quotas: a response has at most 6 MB; the rest is for its escapes.
_MOST_BYTES = 8 << 20
# The runtime has one connection at a time.
_MOST_STRANGERS = 16


@dataclass(frozen=True)
class Invocation:
    """One event for a function; the deadline is in epoch milliseconds."""

    request_id: str
    function_arn: str
    deadline_ms: int
    payload: bytes


@dataclass(frozen=True)
class Reply:
    """The runtime's answer: a result, or an error as JSON."""

    payload: bytes
    failed: bool


@dataclass(frozen=True)
class Initialisation:
    """The end of a function's load: its time (``time.monotonic``), and its error if it failed."""

    moment: float
    error: Reply | None


class RuntimeApi:
    """The Runtime API of one execution environment, on its own port.

    Each environment needs a port, since awslambdaric takes no path in AWS_LAMBDA_RUNTIME_API: it
    passes the variable to ``http.client`` as host and port to report a failed load.
    Only the process that ``serve`` names is answered: another user, a web page or the system under
    test could take an event of the function, or answer it. ``initialised`` is done when the runtime
    asks for its first event, or reports a failed load.
    """

    def __init__(self) -> None:
        self._runtime: Future[int] = Future()
        self.initialised: Future[Initialisation] = Future()
        self._events: queue.SimpleQueue[Invocation | None] = queue.SimpleQueue()
        self._replies: dict[str, Future[Reply]] = {}
        self._server = Listener(self._serve, QuietHandler, _MOST_STRANGERS)
        self._thread = threading.Thread(
            target=self._server.serve_forever,
            kwargs={"poll_interval": _SHUTDOWN_POLL_SECONDS},
            name=f"runtime api {self.address}",
            daemon=True,
        )
        self._thread.start()

    @property
    def address(self) -> str:
        """Host and port, the value of AWS_LAMBDA_RUNTIME_API."""
        return f"{LOOPBACK}:{self._server.port}"

    def serve(self, runtime: int) -> None:
        """Answer the process of this id, the function's runtime; its requests wait until then."""
        self._runtime.set_result(runtime)

    def submit(self, invocation: Invocation) -> Future[Reply]:
        """Queue an event for the runtime; return the future of the function's reply."""
        reply = self._replies[invocation.request_id] = Future()
        self._events.put(invocation)
        return reply

    def close(self) -> None:
        """Stop listening; answer a waiting runtime with 410 Gone."""
        self._runtime.cancel()  # a request may wait for a runtime that could not be started
        self._events.put(None)
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _serve(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        request = Request(environ)
        request.max_content_length = _MOST_BYTES  # its sender may be a stranger
        try:
            answer = self._answer(request)
        except RequestEntityTooLarge:
            answer = Response(status=413)
        return answer(environ, start_response)

    def _is_from_runtime(self, request: Request) -> bool:
        ends = (
            (request.remote_addr, int(request.environ["REMOTE_PORT"])),
            self._server.server_address,
        )
        try:
            connections = psutil.Process(self._runtime.result()).net_connections("tcp4")
        except psutil.Error:  # the process has ended
            return False
        return ends in [(connection.laddr, connection.raddr) for connection in connections]

    def _answer(self, request: Request) -> Response:
        is_own = self._is_from_runtime(request)
        if is_own:
            # It waits as long as no event comes, and no stranger's connection displaces it.
            self._server.trust(request.environ)
        body = request.get_data()
        match request.method, request.path.removeprefix(_PREFIX).split("/"):
            # Nobody but the runtime knows the id of its request.
            case "POST", ["invocation", request_id, "response" | "error" as kind]:
                return self._reply(request_id, Reply(body, failed=kind == "error"))
            case _ if not is_own:
                return Response(status=403)
            case "GET", ["invocation", "next"]:
                return self._next()
            case "POST", ["init", "error"]:
                self._initialise(Reply(body, failed=True))
                return Response(status=202)
        return Response(status=404)

    def _initialise(self, error: Reply | None) -> None:
        if not self.initialised.done():
            self.initialised.set_result(Initialisation(time.monotonic(), error))

    def _next(self) -> Response:
        self._initialise(None)
        event = self._events.get()
        if event is None:
            return Response(status=410)
        return Response(
            event.payload,
            content_type="application/json",
            headers={
                "Lambda-Runtime-Aws-Request-Id": event.request_id,
                "Lambda-Runtime-Deadline-Ms": str(event.deadline_ms),
                "Lambda-Runtime-Invoked-Function-Arn": event.function_arn,
            },
        )

    def _reply(self, request_id: str, reply: Reply) -> Response:
        waiting = self._replies.pop(request_id, None)
        if waiting is None:
            return Response(status=400)
        waiting.set_result(reply)
        return Response(status=202)
