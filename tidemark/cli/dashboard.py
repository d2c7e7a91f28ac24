"""``tidemark dashboard``: the dashboard of the rates as one page, and its server."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from datetime import UTC, datetime
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import click

from tidemark.cli.saving import check_folder, check_page, save
from tidemark.cli.target import Target, stored, target_options
from tidemark.report.blocks import Link
from tidemark.store import keys


@click.command(name="dashboard")
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    callback=check_page,
    help="File to write; if not given, dashboard.html in the state folder.",
)
@click.option("--serve", is_flag=True, help="Also serve the page at a secret address until Ctrl-C.")
@target_options
def command(output: Path | None, serve: bool, target: Target) -> None:
    """Write the dashboard of all figures as one HTML page.

    The page shows the QuickSight dashboard of the stack. It contains all its data and needs no
    network. Its address keeps the values that a reader has chosen. Without --serve it links to the
    flame graphs of the newest runs in the state folder.

    \b
    Example:
      tidemark dashboard --serve
    """
    check_folder(output)
    # The import of the code that draws the dashboard takes a second.
    from tidemark.dashboard.page import build  # noqa: PLC0415

    path = output or target.state / "dashboard.html"
    # A server has the page alone.
    graphs = [] if serve else list(flame_links(target.state, path.parent))
    with stored(target) as store:
        page = build(store.tables, datetime.now(UTC), store.damaged, graphs)
    save(path, page.encode())
    click.echo(path)
    if serve:
        _serve(page)


def _serve(page: str) -> None:
    with PageServer(page) as server:
        click.echo(f"The dashboard is at {server.url}; Ctrl-C ends it.")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            click.echo("Ended.")


def flame_links(state: Path, folder: Path) -> Iterator[Link]:
    """Yield a link to each page of the newest run with flame graphs of each suite.

    The links are for a page in ``folder``.
    """
    for suite in sorted((state / "reports").glob("*")):
        pages = sorted(suite.glob(f"*/{keys.FLAME_GRAPHS}*.html"))
        for page in pages:
            if page.parent == pages[-1].parent:
                name = page.stem.removeprefix(keys.FLAME_GRAPHS)
                yield Link(
                    f"{suite.name}: {name.replace(keys.AGAINST, ' against ')}",
                    Path(os.path.relpath(page, folder)).as_posix(),
                )


_HOST = "127.0.0.1"


class PageServer(ThreadingHTTPServer):
    """A server of one page, for whoever has its address.

    Every user of the machine reaches the port, so the address has a secret.
    """

    def __init__(self, page: str) -> None:
        super().__init__((_HOST, 0), _Handler)  # a free port
        self.page = page.encode()
        self.path = f"/{secrets.token_urlsafe(16)}/"

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://{_HOST}:{self.server_port}{self.path}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Write nothing about a connection that broke off: it may be a stranger's."""


class _Handler(BaseHTTPRequestHandler):
    server: PageServer
    timeout = 30

    def do_GET(self) -> None:
        """Answer with the page."""
        path = self.path.partition("?")[0]
        if not secrets.compare_digest(path.encode(), self.server.path.encode()):
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
