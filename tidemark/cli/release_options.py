"""The options of imports that name a release and where its figures are published."""

from __future__ import annotations

from datetime import date

import click

from tidemark.client.published.release_figure import release_version
from tidemark.model.refusal import Refused
from tidemark.model.sentences import shown

_LONGEST_SOURCE = 200
# No run's name has an earlier year.
_FIRST_DAY = date(2000, 1, 1)


def check_version(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """Return the version without the ``v`` of a tag, None without a version."""
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
"""The option for the place of publication."""
