"""What a query does, step by step, over columns that no two steps call the same.

The names that a query uses stay outside: a step knows columns only, so no name reaches SQL.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from local.insights.regexes import Pattern
from local.insights.syntax import Call, Column, Expression, Operation

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


@dataclass(frozen=True)
class _Definition(Step):
    """A step that only adds columns, and adds no more of them than are used."""

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
class Extend(_Definition):
    """Add computed columns."""

    columns: Mapping[str, Expression]

    @property
    def reads(self) -> frozenset[str]:
        """What the expressions use."""
        return columns_of(*self.columns.values())


@dataclass(frozen=True)
class Glob(_Definition):
    """Find literals one after another; a column holds what is between literal *n* and the next."""

    columns: Mapping[str, int]
    source: Expression
    literals: tuple[str, ...]

    @property
    def selects(self) -> int:
        """One for the source, one for each literal, one for the captures."""
        return len(self.literals) + 2

    @property
    def reads(self) -> frozenset[str]:
        """What the source uses."""
        return columns_of(self.source)


@dataclass(frozen=True)
class Match(_Definition):
    """Match a regular expression; a column holds what the named group captures."""

    columns: Mapping[str, str]
    source: Expression
    pattern: Pattern

    @property
    def selects(self) -> int:
        """One for the source, one for the captures."""
        return 2

    @property
    def reads(self) -> frozenset[str]:
        """What the source uses."""
        return columns_of(self.source)


@dataclass(frozen=True)
class Keep(Step):
    """Keep the rows for which a condition holds."""

    condition: Expression

    @property
    def reads(self) -> frozenset[str]:
        """What the condition uses."""
        return columns_of(self.condition)


@dataclass(frozen=True)
class Aggregate(Step):
    """Make one row of all rows that are equal in the columns ``keys``."""

    keys: tuple[str, ...]
    columns: Mapping[str, Call]

    @property
    def defines(self) -> frozenset[str]:
        """The aggregates; the keys keep their columns."""
        return frozenset(self.columns)

    @property
    def reads(self) -> frozenset[str]:
        """The keys, and what the aggregates use."""
        return frozenset(self.keys) | columns_of(*self.columns.values())


@dataclass(frozen=True)
class Cut(Step):
    """Keep the first rows."""

    count: int
    order: Order

    @property
    def reads(self) -> frozenset[str]:
        """What is sorted by."""
        return frozenset(column for column, _ in self.order)


@dataclass(frozen=True)
class Distinct(Step):
    """Keep the first of the rows that are equal in ``keys``, and every row that misses one."""

    keys: tuple[str, ...]
    order: Order

    @property
    def reads(self) -> frozenset[str]:
        """The keys, and what is sorted by."""
        return frozenset(self.keys) | {column for column, _ in self.order}


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
    """

    steps: tuple[Step, ...]
    outputs: Mapping[str, str]
    order: Order
    patterns: tuple[Pattern, ...]
    warnings: tuple[str, ...]
    limited: bool

    @property
    def result(self) -> frozenset[str]:
        """The columns that the result is made of."""
        return frozenset(self.outputs.values()) | {column for column, _ in self.order}


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
        if isinstance(expression, Column):
            found.add(expression.column)
        elif isinstance(expression, Call | Operation):
            found |= columns_of(*expression.arguments)
    return frozenset(found)
