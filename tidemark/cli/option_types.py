"""Types of options whose refusals name what is accepted."""

from __future__ import annotations

from datetime import datetime

import click

from tidemark.model.sentences import shown


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
            self.fail(f"{shown(value)} is no day; expected one such as 2026-11-20")


class NumberType(click.IntRange):
    """A whole number between two others, or from one on."""

    name = "integer"

    def convert(
        self, value: str | int, parameter: click.Parameter | None, context: click.Context | None
    ) -> int:
        """Return the number of a text."""
        try:
            return super().convert(value, parameter, context)
        except click.BadParameter:
            accepted = self._describe_range()
            self.fail(f"{shown(value)} is not accepted; expected a whole number, {accepted}")

    def _describe_range(self) -> str:
        """Return the accepted numbers, as help shows them, too."""
        return f"{self.min} or more" if self.max is None else f"{self.min} to {self.max:,}"
