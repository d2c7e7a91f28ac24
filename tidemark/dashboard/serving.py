"""A server of one page for this machine."""

from __future__ import annotations

from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_HOST = "127.0.0.1"


class PageServer(ThreadingHTTPServer):
    """A server of one page at ``/``, for this machine alone."""

    def __init__(self, page: str, port: int) -> None:
        super().__init__((_HOST, port), _Handler)
        self.page = page.encode()

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://{_HOST}:{self.server_port}/"


class _Handler(BaseHTTPRequestHandler):
    server: PageServer

    def do_GET(self) -> None:
        """Answer with the page."""
        if self.path != "/":
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        # A site whose host name resolves to this machine (DNS rebinding) must not read the page.
        if self.headers["Host"] not in (
            f"{_HOST}:{self.server.server_port}",
            f"localhost:{self.server.server_port}",
        ):
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST)
            return
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(self.server.page)))
        self.end_headers()
        self.wfile.write(self.server.page)

    def log_message(self, *_: object) -> None:
        """Log no request, because the terminal belongs to its user."""
