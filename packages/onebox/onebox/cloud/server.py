"""moto's server, on the loopback interface, which no idle connection of a stranger can stop.

Every user of the machine can connect. A connection is a stranger's until the server trusts it, and
only a few of them are open: each further connection closes the oldest, since a program of the cloud
proves itself within milliseconds.
"""

from __future__ import annotations

import json
import logging
import os
import re
import resource
import secrets
import socket
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from flask import Flask, request
from moto.moto_server.werkzeug_app import (
    DomainDispatcherApplication,
    MotoRequestHandler,
    create_backend_app,
)
from werkzeug.serving import ThreadedWSGIServer, WSGIRequestHandler
from werkzeug.wrappers import Response

import onebox.cloud.data_files  # noqa: F401 (before moto's EC2)
from onebox.cloud.endpoint import Endpoint
from onebox.cloud.signatures import Forbidden, scope, signer
from onebox.cloud.task_permissions import check_task

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment


LOOPBACK = "127.0.0.1"
# A stranger that is silent for so long is cut off [s].
_PATIENCE_SECONDS = 30
# The default of a task on Fargate, which the cloud's programs get from it (AWS documentation,
# Amazon ECS, ulimits).
_DESCRIPTORS = 65_535


def raise_descriptors() -> None:
    """Let this process open as many files and connections as it may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _DESCRIPTORS if hard == resource.RLIM_INFINITY else min(_DESCRIPTORS, hard)
    if soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


class Listener(ThreadedWSGIServer):
    """A server with a thread for each connection; at most ``most_strangers`` are not trusted.

    The app calls `trust` once a request has proved where it comes from. ``listener`` is the socket
    to listen at, by default one at a free port.
    """

    def __init__(
        self,
        app: WSGIApplication,
        handler: type[WSGIRequestHandler],
        most_strangers: int,
        listener: socket.socket | None = None,
    ) -> None:
        self._strangers: dict[Any, None] = {}
        self._most_strangers = most_strangers
        self._lock = threading.Lock()
        port = listener.getsockname()[1] if listener else 0
        super().__init__(LOOPBACK, port, app, handler, fd=listener.fileno() if listener else None)

    def trust(self, environ: WSGIEnvironment) -> None:
        """Keep the connection of a request open as long as its client wants."""
        connection = environ["werkzeug.socket"]
        with self._lock:
            self._strangers.pop(connection, None)
        connection.settimeout(None)

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        """Start a thread for a new connection; close the oldest stranger's if there are many."""
        request.settimeout(_PATIENCE_SECONDS)
        with self._lock:
            self._strangers[request] = None
            oldest = next(iter(self._strangers))
            if len(self._strangers) > self._most_strangers:
                _hang_up(oldest)
                del self._strangers[oldest]
        try:
            super().process_request(request, client_address)
        except RuntimeError:  # the user has as many threads as allowed
            self.shutdown_request(request)

    def shutdown_request(self, request: Any) -> None:  # noqa: ANN401
        """Close a connection."""
        with self._lock:
            self._strangers.pop(request, None)
        super().shutdown_request(request)

    def server_close(self) -> None:
        """Stop listening, and close the connections of strangers."""
        super().server_close()
        with self._lock:
            for request in self._strangers:
                _hang_up(request)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        """Write nothing about a connection that broke off."""


def _hang_up(request: socket.socket) -> None:
    # The thread of the connection closes it.
    with suppress(OSError):
        request.shutdown(socket.SHUT_RDWR)


class QuietHandler(WSGIRequestHandler):
    """A handler that writes no line about requests: strangers' would fill the terminal."""

    def log(self, type: str, message: str, *args: Any) -> None:  # noqa: A002, ANN401
        """Write nothing."""


# Many tasks that start at once connect at once.
_MOST_STRANGERS = 512
# The end of the server is noticed so late.
_POLL_SECONDS = 0.05


class PortTaken(OSError):
    """The requested port is not free."""


class _RequestHandler(QuietHandler, MotoRequestHandler):
    """Requests over HTTP; a client that asks whether to send its body is told so once."""

    def handle_expect_100(self) -> bool:
        """Leave the answer to werkzeug, which gives one, too, in ``run_wsgi``."""
        return True


def _for_signers_only(
    app: WSGIApplication, key: str, trust: Callable[[WSGIEnvironment], None]
) -> WSGIApplication:
    """Return the app, closed to requests without a signature of the cloud of ``key``.

    Other users of the machine and pages in a browser reach the port too, and deployed code runs as
    the user. moto's own controls are for this process only. ``trust`` gets each signed request.
    """

    def serve(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        try:
            _check(environ, key)
        except Forbidden as refusal:
            answer = _error(environ, 403, refusal.code, str(refusal))
            return answer(environ, start_response)
        trust(environ)
        return app(environ, start_response)

    return serve


def _backend_app(service: Any) -> Flask:  # noqa: ANN401 (moto lists its services)
    """Return moto's app of a service, which answers operations that it lacks by their names."""
    app = create_backend_app(service)
    app.register_error_handler(NotImplementedError, lambda error: _lacking(request.environ, error))
    return app


def _lacking(environ: WSGIEnvironment, error: NotImplementedError) -> Response:
    """Return the answer to an operation that one machine lacks: 501, with its name."""
    target = environ.get("HTTP_X_AMZ_TARGET", "").rpartition(".")[2]
    named = re.search(r"The (\w+) action", str(error))
    action = target or (named[1].title().replace("_", "") if named else "This operation")
    return _error(environ, 501, "NotImplemented", f"{action} is not supported on one machine.")


def _error(environ: WSGIEnvironment, status: int, code: str, message: str) -> Response:
    """Return an error in the form that the clients of its service read."""
    headers = {"x-amzn-ErrorType": code}
    error = f"<Error><Code>{escape(code)}</Code><Message>{escape(message)}</Message></Error>"
    if scope(environ)[1] == "s3":
        return Response(error, status, headers, content_type="application/xml")
    if "form-urlencoded" in environ.get("CONTENT_TYPE", ""):
        body = f"<ErrorResponse>{error}</ErrorResponse>"
        return Response(body, status, headers, content_type="text/xml")
    body = json.dumps({"__type": code, "message": message})
    return Response(body, status, headers, content_type="application/json")


def _check(environ: WSGIEnvironment, key: str) -> None:
    host, accepted = environ.get("HTTP_HOST", ""), f"{LOOPBACK}:{environ['SERVER_PORT']}"
    # moto would take the name of a bucket from another host.
    if host != accepted:
        raise Forbidden("AccessDenied", f"The host is {host!r}; accepted: {accepted}.")
    check_task(environ, signer(environ, key))
    if environ["PATH_INFO"].startswith("/moto-api"):
        raise Forbidden("AccessDenied", "The controls of moto are closed.")


class Server:
    """A server with a new key; a context that serves while it is open.

    Port 0 takes a free one. Raise PortTaken if the port is not free.
    """

    def __init__(self, port: int) -> None:
        raise_descriptors()
        try:
            # werkzeug would end the process if the port is taken.
            listener = socket.create_server((LOOPBACK, port), backlog=128)
        except OSError as error:
            reason = os.strerror(error.errno or 0)
            raise PortTaken(f"--port: {port} cannot be used: {reason}") from None
        with listener:
            self.endpoint = Endpoint(listener.getsockname()[1], secrets.token_urlsafe(32))
            app = DomainDispatcherApplication(_backend_app)
            self._server = Listener(app, _RequestHandler, _MOST_STRANGERS, listener)
        self._server.app = _for_signers_only(app, self.endpoint.key, self._server.trust)
        # One line per request would drown the output of the commands.
        logging.getLogger("werkzeug").setLevel(logging.WARNING)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(_POLL_SECONDS,), name="server", daemon=True
        )

    def __enter__(self) -> Server:
        """Start to serve."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop serving, and release the port."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
