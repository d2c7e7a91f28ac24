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
