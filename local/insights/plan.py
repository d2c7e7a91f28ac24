"""What a query does, step by step, over columns that no two steps call the same.

The names that a query uses stay outside: a step knows columns only, so no name reaches SQL. Each
kind of step stands beside the command that needs it, in `local.insights.commands`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from local.insights.regexes import Pattern
from local.insights.syntax import Attribute, Call, Column, Expression, Operation

if TYPE_CHECKING:
    from local.insights.lookups import Lookup
    from local.insights.sources import Groups
    from local.insights.sql import Writer

# AWS documentation, CloudWatch Logs Insights query syntax: limit.
MOST_ROWS = 100_000

Order = tuple[tuple[str, bool], ...]
"""Columns to sort by, most important first, each with whether it descends."""

SYSTEM_FIELDS = {
    "@timestamp": "timestamp",
    "@message": "message",
    "@logStream": "log_stream",
    "@log": "log",
    "@ingestionTime": "ingestion_time",
    "@ptr": "ptr",
}
"""The fields that every event has, and their columns."""


class Step:
    """One step from rows to rows."""

    per_event = False
    """Whether each event stays one row, or is dropped."""

    @property
    def selects(self) -> int:
        """How many nested selects the step takes at most."""
        return 1

    @property
    def defines(self) -> frozenset[str]:
        """The columns that the step adds."""
        return frozenset()

    @property
    def reads(self) -> frozenset[str]:
        """The columns that the step needs."""
        return frozenset()

    def narrowed(self, live: frozenset[str]) -> Step | None:
        """Return the step without what is not ``live`` after it; None if nothing is left."""
        return self

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Write the step as SQL that keeps these columns and adds its own."""
        raise NotImplementedError


@dataclass(frozen=True)
class Definition(Step):
    """A step that only adds columns, and adds no more of them than are used."""

    per_event = True

    columns: Mapping[str, Any]

    @property
    def defines(self) -> frozenset[str]:
        """The columns that the step adds."""
        return frozenset(self.columns)

    def narrowed(self, live: frozenset[str]) -> Step | None:
        """Return the step with the live columns only."""
        kept = {column: value for column, value in self.columns.items() if column in live}
        return replace(self, columns=kept) if kept else None


@dataclass(frozen=True)
class Extend(Definition):
    """Add computed columns."""

    columns: Mapping[str, Expression]

    @property
    def reads(self) -> frozenset[str]:
        """What the expressions use."""
        return columns_of(*self.columns.values())

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Write one select."""
        writer.define(kept, {name: writer.of(each) for name, each in self.columns.items()})


@dataclass(frozen=True)
class Keep(Step):
    """Keep the rows for which a condition holds."""

    per_event = True

    condition: Expression

    @property
    def reads(self) -> frozenset[str]:
        """What the condition uses."""
        return columns_of(self.condition)

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Write a WHERE."""
        writer.define(kept, {}, f"WHERE {writer.condition(self.condition)}")


@dataclass(frozen=True)
class Plan:
    """A resolved query.

    Attributes
    ----------
    steps : tuple of Step
        From the events to the rows of the result.
    outputs : dict of str to str
        The fields of the result and their columns.
    order : tuple
        How the rows are sorted.
    patterns : tuple of Pattern
        The regular expressions of the query, used or not.
    warnings : tuple of str
        What a writer of the query may not expect.
    limited : bool
        Whether the query itself says how many rows it returns at most.
    discovered : dict of str to str
        The fields that the query takes from messages, and their columns.
    sources : tuple of Groups
        The log groups that the query is about; none if it leaves them to who runs it.
    named : tuple of Groups
        Those, and the ones that its subqueries name.
    lookups : tuple of Lookup
        What it and its subqueries take from lookup tables.
    """

    steps: tuple[Step, ...]
    outputs: Mapping[str, str]
    order: Order
    patterns: tuple[Pattern, ...]
    warnings: tuple[str, ...]
    limited: bool
    discovered: Mapping[str, str]
    sources: tuple[Groups, ...]
    named: tuple[Groups, ...]
    lookups: tuple[Lookup, ...]

    @property
    def result(self) -> frozenset[str]:
        """The columns that the result is made of."""
        return frozenset(self.outputs.values()) | ordering(self.order)


def backwards(
    steps: tuple[Step, ...], live: frozenset[str]
) -> Iterator[tuple[Step, frozenset[str]]]:
    """Yield the steps that are needed, last first, each with the columns needed after it."""
    for step in reversed(steps):
        if narrowed := step.narrowed(live):
            yield narrowed, live
            live = (live - narrowed.defines) | narrowed.reads


def columns_of(*expressions: Expression) -> frozenset[str]:
    """Return the columns that expressions use."""
    found: set[str] = set()
    for expression in expressions:
        if isinstance(expression, Column | Attribute):
            found.add(expression.column)
        elif isinstance(expression, Call | Operation):
            found |= columns_of(*expression.arguments)
    return frozenset(found)


def ordering(order: Order) -> frozenset[str]:
    """Return the columns that are sorted by."""
    return frozenset(column for column, _ in order)
