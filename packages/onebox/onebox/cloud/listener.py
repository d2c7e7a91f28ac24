"""A server of HTTP on the loopback interface, which no idle connection of a stranger can stop.

Every user of the machine can connect. A connection is a stranger's until the server trusts it, and
only so many of them are open: each further one closes the oldest, since a program of the cloud
proves itself within milliseconds.
"""

from __future__ import annotations

import resource
import socket
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from werkzeug.serving import ThreadedWSGIServer, WSGIRequestHandler

if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication, WSGIEnvironment

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
    """A server with a thread for each connection.

    Parameters
    ----------
    app
        The application. It calls `trust` once a request has proved where it comes from.
    handler
        The handler of the requests of a connection.
    most_strangers
        The maximum number of open connections that are not trusted.
    listener
        The socket to listen at, by default one at a free port.
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
