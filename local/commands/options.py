"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path

import click

state_option = click.option(
    "--state",
    type=click.Path(file_okay=False, resolve_path=True, path_type=Path),
    default=Path(".tidemark"),
    envvar="TIDEMARK_STATE",
    show_default=True,
    help="Folder that keeps logs, results and the synthesised template.",
)
