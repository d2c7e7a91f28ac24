"""moto's server, in a thread of this process."""

from __future__ import annotations

import logging
import os
import secrets
import socket
import threading
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from flask import Flask, request
from moto.moto_server.werkzeug_app import (
    DomainDispatcherApplication,
    MotoRequestHandler,
    create_backend_app,
)

import onebox.cloud.data_files  # noqa: F401 (before moto's EC2)
from onebox.cloud.endpoint import Endpoint
from onebox.cloud.listener import LOOPBACK, Listener, QuietHandler, raise_descriptors
from onebox.cloud.replacements import Forbidden, lacking, refused
from onebox.cloud.signatures import signer
from onebox.cloud.task_permissions import check_task

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

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

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        try:
            _check(environ, key)
        except Forbidden as refusal:
            return refused(environ, refusal)(environ, start_response)
        trust(environ)
        return app(environ, start_response)

    return answer


def _backend_app(service: Any) -> Flask:  # noqa: ANN401 (moto lists its services)
    """Return moto's app of a service, which answers operations that it lacks by their names."""
    app = create_backend_app(service)
    app.register_error_handler(NotImplementedError, lambda error: lacking(request.environ, error))
    return app


def _check(environ: WSGIEnvironment, key: str) -> None:
    host, accepted = environ.get("HTTP_HOST", ""), f"{LOOPBACK}:{environ['SERVER_PORT']}"
    # moto would take the name of a bucket from another host.
    if host != accepted:
        raise Forbidden("AccessDenied", f"The host is {host!r}; accepted: {accepted}.")
    check_task(environ, signer(environ, key))
    if environ["PATH_INFO"].startswith("/moto-api"):
        raise Forbidden("AccessDenied", "The controls of moto are closed.")


class Server:
    """A server on the loopback interface, with a new key; a context that serves while it is open.

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
        raise_descriptors()
        try:
            # werkzeug would end the process if the port is taken.
            listener = socket.create_server((LOOPBACK, port), backlog=128)
        except OSError as error:
            reason = os.strerror(error.errno or 0)
            raise PortTaken(f"--port: {port} cannot be used: {reason}") from None
        with listener:
            self.endpoint = Endpoint(listener.getsockname()[1], secrets.token_urlsafe(32))
            app = _for_signers_only(
                DomainDispatcherApplication(_backend_app),
                self.endpoint.key,
                self._trust,
            )
            self._server = Listener(app, _RequestHandler, _MOST_STRANGERS, listener)
        # One line per request would drown the output of the commands.
        logging.getLogger("werkzeug").setLevel(logging.WARNING)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(_POLL_SECONDS,), name="server", daemon=True
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

    def _trust(self, environ: WSGIEnvironment) -> None:
        self._server.trust(environ)
