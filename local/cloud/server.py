"""moto's server, in a thread of this process."""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Iterable
from types import TracebackType
from typing import TYPE_CHECKING

from moto.moto_server.werkzeug_app import (
    DomainDispatcherApplication,
    MotoRequestHandler,
    create_backend_app,
)
from werkzeug.serving import make_server

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

_LOOPBACK = "127.0.0.1"
_NAMES = {"localhost", _LOOPBACK}


class PortTaken(OSError):
    """The requested port is not free."""


def _for_programs_only(app: WSGIApplication) -> WSGIApplication:
    """Return the app, closed to web pages, because deployed code runs as the user.

    A page of any site may call a server on this machine. The browser then sends an Origin, or a
    Host that only resolves to this machine. moto's own controls are for this process only.
    """

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        host = environ.get("HTTP_HOST", "").rsplit(":", 1)[0]
        foreign = host not in _NAMES and not host.endswith(".localhost")
        control = environ.get("PATH_INFO", "").startswith("/moto-api")
        if foreign or control or "HTTP_ORIGIN" in environ:
            start_response("403 Forbidden", [("Content-Type", "text/plain")])
            return [b"This cloud is for programs on this machine.\n"]
        return app(environ, start_response)

    return answer


class Server:
    """A server on the loopback interface; a context that serves while it is open.

    Parameters
    ----------
    port
        The port to serve on; 0 takes a free one.

    Raises
    ------
    PortTaken
        If the port is not free.

    """

    def __init__(self, port: int) -> None:
        try:
            # werkzeug would end the process if the port is taken.
            listener = socket.create_server((_LOOPBACK, port), backlog=128)
        except OSError as error:
            reason = os.strerror(error.errno or 0)
            raise PortTaken(f"--port: {port} cannot be used: {reason}") from None
        with listener:
            self.port: int = listener.getsockname()[1]
            self._server = make_server(
                _LOOPBACK,
                self.port,
                _for_programs_only(DomainDispatcherApplication(create_backend_app)),
                threaded=True,
                request_handler=MotoRequestHandler,
                fd=listener.fileno(),
            )
        # One line per request would drown the output of the commands.
        logging.getLogger("werkzeug").setLevel(logging.WARNING)
        self._thread = threading.Thread(
            target=self._server.serve_forever, name="server", daemon=True
        )

    def __enter__(self) -> Server:
        """Start to serve."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop serving, and release the port."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
