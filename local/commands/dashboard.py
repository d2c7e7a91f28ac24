"""``tidemark dashboard``: the dashboard of the rates, as one page."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from local.commands.saving import check_folder, save
from local.commands.tables import deployed_tables
from local.commands.target import Target, target_options
from suites.refusal import Refused


@click.command(name="dashboard")
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write; if not given, dashboard.html in the state folder.",
)
@click.option("--serve", is_flag=True, help="Serve the page to this machine, too, until Ctrl-C.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help="The port that --serve takes; if not given, a free one.",
)
@target_options
def command(output: Path | None, serve: bool, port: int | None, target: Target) -> None:
    """Write the dashboard of all figures as one HTML page.

    It is the one that the stack has in QuickSight. The page holds all that it shows and needs no
    network; what is chosen in it stands in its address.

    \b
    Example:
      tidemark dashboard --serve
    """
    check_folder(output)
    if port is not None and not serve:
        raise Refused(f"--port: {port} is a port to serve the page at; it goes with --serve")
    # What reads and draws the definition takes a second to import.
    from local.dashboard.building import build  # noqa: PLC0415

    with deployed_tables(target) as tables:
        page = build(tables, datetime.now(UTC))
    path = output or target.state / "dashboard.html"
    save(path, page.encode())
    click.echo(path)
    if serve:
        _serve(page, port or 0)


def _serve(page: str, port: int) -> None:
    from local.dashboard.serving import PageServer  # noqa: PLC0415

    try:
        server = PageServer(page, port)
    except OSError as error:
        raise Refused(f"--port: {port} cannot be had: {error.strerror}") from None
    with server:
        click.echo(f"The dashboard is at {server.url}; Ctrl-C ends it.")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            click.echo("Ended.")
