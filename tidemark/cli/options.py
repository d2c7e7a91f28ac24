"""Options that several commands share."""

from __future__ import annotations

import re
import shlex
from datetime import date, datetime
from pathlib import Path

import click
from click.core import ParameterSource

from tidemark.model.refusal import Refused
from tidemark.model.run_id import RUN_ID
from tidemark.model.sentences import shown

_LONGEST_SOURCE = 200
# No run's name has an earlier year.
_FIRST_DAY = date(2000, 1, 1)


class DayType(click.DateTime):
    """A day, such as 2026-11-20."""

    def __init__(self) -> None:
        super().__init__(["%Y-%m-%d"])

    def convert(
        self, value: object, parameter: click.Parameter | None, context: click.Context | None
    ) -> datetime:
        """Return midnight of a day."""
        try:
            return super().convert(value, parameter, context)
        except click.BadParameter:
            self.fail(f"{shown(value)} is not a day; expected one such as 2026-11-20")


class NumberType(click.ParamType[int]):
    """A whole number between two others, or from one on."""

    name = "integer"

    def __init__(self, least: int, most: int | None = None) -> None:
        self._least, self._most = least, most

    def convert(self, value: str | int, _: click.Parameter | None, __: click.Context | None) -> int:
        """Return the number of a text."""
        accepted = f"{self._least} or more"
        if self._most is not None:
            accepted = f"{self._least} to {self._most:,}"
        try:
            number = int(value)
        except ValueError:
            number = self._least - 1
        if number < self._least or (self._most is not None and number > self._most):
            self.fail(f"{shown(value)} is not accepted; expected a whole number, {accepted}")
        return number


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


def check_version(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """Return the version without the ``v`` of a tag, None without a version."""
    # The other commands with these options need no models.
    from tidemark.client.published.release_figure import release_version  # noqa: PLC0415

    try:
        return None if value is None else release_version(value)
    except ValueError as error:
        raise Refused(f"--version: {error}") from None


def day_refusal(day: date, today: date) -> str | None:
    """Return why a day is not accepted, None if it is."""
    if _FIRST_DAY <= day <= today:
        return None
    return f"{day} is not accepted; expected a day from {_FIRST_DAY} to {today}"


def _check_source(_: click.Context, __: click.Parameter, value: str) -> str:
    """Return the place of publication; refuse one that is too long for a table."""
    if len(value) > _LONGEST_SOURCE or not value.isprintable():
        raise Refused(
            f"--source: {shown(value)} is not accepted; expected up to {_LONGEST_SOURCE} "
            "printable characters"
        )
    return value


source_option = click.option(
    "--source",
    default="",
    callback=_check_source,
    help="Place where FILE is published, such as its URL; stored.",
)
