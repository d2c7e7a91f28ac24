"""Options that several commands share."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import click
from click.core import ParameterSource

from suites.keys import RUN_ID
from suites.refusal import Refused

state_option = click.option(
    "--state",
    type=click.Path(file_okay=False, resolve_path=True, path_type=Path),
    default=Path(".tidemark"),
    envvar="TIDEMARK_STATE",
    show_default=True,
    help="Folder that keeps logs, results and the synthesised template.",
)


def state_flag(state: Path) -> str:
    """Return how the next command is told of the state folder of this one, with a space before.

    '' if it finds the same folder untold: the default, or that of the environment.
    """
    source = click.get_current_context().get_parameter_source("state")
    told = source is ParameterSource.COMMANDLINE
    return f" --state {shlex.quote(str(state))}" if told else ""


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


@dataclass(frozen=True)
class Moment:
    """A second since 1970-01-01 UTC, and how it was written."""

    seconds: int
    given: str


class MomentType(click.ParamType[Moment]):
    """A time as seconds since 1970-01-01 UTC, or in ISO 8601; UTC, if it names no zone."""

    name = "time"

    def convert(
        self, value: str | Moment, _: click.Parameter | None, __: click.Context | None
    ) -> Moment:
        """Return the second that a text means."""
        return value if isinstance(value, Moment) else Moment(self._seconds(value), value)

    def _seconds(self, value: str) -> int:
        try:
            return int(value)
        except ValueError:
            pass
        try:
            given = datetime.fromisoformat(value)
        except ValueError:
            self.fail(f"{value!r} is no time; accepted: 1717338360 or 2024-06-02T14:26:00Z")
        return int((given if given.tzinfo else given.replace(tzinfo=UTC)).timestamp())
