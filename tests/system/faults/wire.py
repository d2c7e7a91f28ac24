"""Wire between programs and the one-machine cloud, on which services can fail.

The line of a call names its service, action and path, such as
``lambda POST /2015-03-31/functions/Tidemark-CollectRates/invocations`` or ``logs StartQuery /``.
"""

from __future__ import annotations

import itertools
import json
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from moto.moto_server.werkzeug_app import DomainDispatcherApplication

from onebox.cloud.replacements import Replacements

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

_SCOPE = re.compile(r"Credential=[^/]+/\d+/[^/]+/(?P<service>[^/]+)/")
# Returns an answer in the service's place, or None to let the service answer.
Answer = Callable[["WSGIEnvironment"], "tuple[int, dict[str, str], bytes] | None"]
_FOR_EVER = 10**9


class Wire:
    """Wire that carries every call to the clouds of this process."""

    def __init__(self) -> None:
        self._faults: list[_Fault] = []

    def stand_before(self, replacements: Replacements) -> None:
        """Put this wire before the server until ``replacements`` restores the server."""
        app: Any = None

        def answer(
            server: WSGIApplication, environ: WSGIEnvironment, start_response: StartResponse
        ) -> Iterable[bytes]:
            line = _line(environ)
            for fault in [*self._faults]:
                if fault.takes(line) and (reply := fault.answer(environ)):
                    status, headers, body = reply
                    start_response(f"{status} Fault", [*headers.items()])
                    return [body]
            return app(server, environ, start_response)  # type: ignore[no-any-return]

        app = replacements.set(DomainDispatcherApplication, "__call__", answer)

    @contextmanager
    def fault(
        self, calls: str, answer: Answer, times: int | None = None, after: int = 0
    ) -> Iterator[None]:
        """Answer ``times`` calls with ``answer``; the pattern ``calls`` matches their lines.

        The service answers the first ``after`` such calls. Without ``times`` there is no limit.
        """
        last = _FOR_EVER if times is None else after + times
        fault = _Fault(re.compile(calls), answer, range(after, last))
        self._faults.append(fault)
        try:
            yield
        finally:
            self._faults.remove(fault)

    @contextmanager
    def held(self, calls: str, after: int = 0) -> Iterator[threading.Event]:
        """Hold one matching call while the context is open; set the event when the call arrives.

        The caller then gets an error of the service.
        """
        arrived, released = _Arrival(), threading.Event()

        def hold(environ: WSGIEnvironment) -> tuple[int, dict[str, str], bytes] | None:
            arrived.set()
            released.wait()
            return error_answer(500, "ServiceException")(environ)

        with self.fault(calls, hold, times=1, after=after):
            try:
                yield arrived
            finally:
                released.set()


class _Arrival(threading.Event):
    """The arrival of a call; a wait for a call that never comes ends with an error."""

    def wait(self, timeout: float | None = 300) -> bool:
        if not super().wait(timeout):
            raise TimeoutError(f"no call arrived within {timeout} s")
        return True


@contextmanager
def on_the_wire() -> Iterator[Wire]:
    """Put a wire before the cloud of this process while the context is open."""
    replacements, wire = Replacements(), Wire()
    wire.stand_before(replacements)
    try:
        yield wire
    finally:
        replacements.restore()


class _Fault:
    def __init__(self, calls: re.Pattern[str], answer: Answer, which: range) -> None:
        self.answer = answer
        self._calls = calls
        self._which = which
        self._seen = itertools.count()
        self._lock = threading.Lock()

    def takes(self, line: str) -> bool:
        if not self._calls.search(line):
            return False
        with self._lock:
            return next(self._seen) in self._which


def error_answer(status: int, code: str, message: str = "as the fault wants") -> Answer:
    """Return an error in the form of the called service."""

    def answer(environ: WSGIEnvironment) -> tuple[int, dict[str, str], bytes]:
        if _service(environ) in {"s3", "sns"}:  # their protocols answer in XML
            error = f"<Error><Code>{code}</Code><Message>{escape(message)}</Message></Error>"
            text = error if _service(environ) == "s3" else f"<ErrorResponse>{error}</ErrorResponse>"
            return status, {"Content-Type": "application/xml"}, text.encode()
        body = json.dumps({"__type": code, "message": message, "Message": message})
        headers = {"Content-Type": "application/json", "x-amzn-errortype": code}
        return status, headers, body.encode()

    return answer


def success_answer(body: object) -> Answer:
    """Return a successful answer of a JSON service."""
    text = json.dumps(body).encode()
    return lambda _: (200, {"Content-Type": "application/x-amz-json-1.1"}, text)


def unreadable_answer(_: WSGIEnvironment) -> tuple[int, dict[str, str], bytes]:
    """Return a successful answer that no SDK can read."""
    return 200, {"Content-Type": "text/html"}, b"<html>"


def slow(seconds: float) -> Answer:
    """Return an answer that delays the service."""
    return lambda _: time.sleep(seconds)


def _line(environ: WSGIEnvironment) -> str:
    action = environ.get("HTTP_X_AMZ_TARGET", "").rpartition(".")[2] or environ["REQUEST_METHOD"]
    return f"{_service(environ)} {action} {environ['PATH_INFO']}"


def _service(environ: WSGIEnvironment) -> str:
    scope = _SCOPE.search(environ.get("HTTP_AUTHORIZATION", ""))
    return scope["service"] if scope else ""
