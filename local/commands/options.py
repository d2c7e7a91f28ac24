"""Options that several commands share."""

from __future__ import annotations

import re
from pathlib import Path

import click

from suites.refusal import Refused
from suites.request import RUN_ID

state_option = click.option(
    "--state",
    type=click.Path(file_okay=False, resolve_path=True, path_type=Path),
    default=Path(".tidemark"),
    envvar="TIDEMARK_STATE",
    show_default=True,
    help="Folder that keeps logs, results and the synthesised template.",
)


def _checked_run(_: click.Context, parameter: click.Parameter, given: str | None) -> str | None:
    if given is not None and not re.fullmatch(RUN_ID, given):
        name = "RUN" if isinstance(parameter, click.Argument) else parameter.opts[0]
        raise Refused(
            f"{name}: {given!r} names no run; expected the form of 20261120T124455Z-0a1b2c"
        )
    return given


run_argument = click.argument("run", metavar="RUN", callback=_checked_run)
optional_run_argument = click.argument(
    "run", metavar="[RUN]", required=False, callback=_checked_run
)
resume_option = click.option(
    "--resume", metavar="RUN", callback=_checked_run, help="Go on with a run that ended early."
)
