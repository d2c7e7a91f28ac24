"""Options that several commands share."""

from __future__ import annotations

import re
import shlex
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import click
from click.core import ParameterSource

from tidemark.model.refusal import Refused
from tidemark.model.run_id import RUN_ID

state_option = click.option(
    "--state",
    type=click.Path(file_okay=False, resolve_path=True, path_type=Path),
    default=Path(".tidemark"),
    envvar="TIDEMARK_STATE",
    show_default=True,
    help="Folder that keeps logs, results and the synthesised template.",
)


def state_flag(state: Path) -> str:
    """Return the option that gives another command this state folder, with a space before.

    Return '' for the default folder and for the folder of the environment.
    """
    source = click.get_current_context().get_parameter_source("state")
    explicit = source is ParameterSource.COMMANDLINE
    return f" --state {shlex.quote(str(state))}" if explicit else ""


def _check_run(_: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    if value is not None and not re.fullmatch(RUN_ID, value):
        name = "RUN" if isinstance(parameter, click.Argument) else parameter.opts[0]
        raise Refused(
            f"{name}: {value!r} names no run; expected the form of 20261120T124455Z-0a1b2c"
        )
    return value


run_argument = click.argument("run", metavar="RUN", callback=_check_run)
optional_run_argument = click.argument("run", metavar="[RUN]", required=False, callback=_check_run)
resume_option = click.option(
    "--resume", metavar="RUN", callback=_check_run, help="Run whose missing trials are measured."
)

fail_on_option = click.option(
    "--fail-on",
    type=click.Choice(["slower"]),
    help="End with exit code 3 if a metric is slower, and with 4 if the trials cannot tell.",
)

exact_option = click.option(
    "--exact",
    is_flag=True,
    help="Print all digits, not only those that spreads support.",
)


_UNIT_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_DAY = re.compile(r"\d{4}-\d\d-\d\d|\d{4}-W\d\d-\d")
_AGO = re.compile("-([0-9]{1,6})([smhdw])")
# As seconds this is the year 5138, as milliseconds 1973.
_FIRST_MILLISECONDS = 10**11


class Moment(NamedTuple):
    """A time in seconds since 1970-01-01 UTC, and its text."""

    seconds: int
    text: str


class MomentType(click.ParamType[Moment]):
    """A time in ISO 8601, by default in UTC, since 1970-01-01 UTC, or before now.

    A number of 12 digits or more counts milliseconds, microseconds or nanoseconds.

    Parameters
    ----------
    ends : bool
        Whether a day without a time is its last second.
    """

    name = "time"

    def __init__(self, *, ends: bool = False) -> None:
        self._ends = ends

    def convert(
        self, value: str | Moment, _: click.Parameter | None, __: click.Context | None
    ) -> Moment:
        """Return the time of a text."""
        return value if isinstance(value, Moment) else Moment(self._seconds(value), value)

    def _seconds(self, value: str) -> int:
        if match := _AGO.fullmatch(value):
            return int(datetime.now(UTC).timestamp()) - int(match[1]) * _UNIT_SECONDS[match[2]]
        if re.fullmatch("-?[0-9]{1,19}", value):
            return _epoch_seconds(int(value))
        try:
            time = datetime.fromisoformat(value)
        except ValueError:
            self.fail(f"{value!r} is not a time; accepted: 1717338360, 2024-06-02T14:26:00Z or -1h")
        if self._ends and _DAY.fullmatch(value):
            time = time.replace(hour=23, minute=59, second=59)
        return int((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp())


def _epoch_seconds(time: int) -> int:
    while time >= _FIRST_MILLISECONDS:
        time //= 1000
    return time
