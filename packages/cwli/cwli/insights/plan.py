"""Plan of a query: steps over columns with unique names, and a comparison with an earlier time.

A step knows only columns, so no name of the query reaches SQL. `cwli.insights.commands` defines
each kind of step next to the command that needs it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from cwli.insights.regexes import Literals, Pattern, best, literals_of
from cwli.insights.syntax import Attribute, Call, Column, Expression, Operation, QueryError, Span
from cwli.insights.templates import Template, decided

if TYPE_CHECKING:
    from cwli.insights.commands.lookup import Lookup
    from cwli.insights.source import Groups
    from cwli.insights.sql import Writer


# AWS documentation, CloudWatch Logs Insights query syntax: limit.
MOST_ROWS = 100_000

Order = tuple[tuple[str, bool], ...]
"""The columns to sort by, most important first; true means descending."""

SYSTEM_FIELDS = {
    "@timestamp": "timestamp",
    "@message": "message",
    "@logStream": "log_stream",
    "@log": "log",
    "@ingestionTime": "ingestion_time",
    "@ptr": "ptr",
}
"""The fields of every event, and their columns."""


class UndefinedField(NamedTuple):
    """A field that no command before its place defines, and that not every event has."""

    line: int
    column: int
    sentence: str
    certain: bool
    """Whether no row has the field; otherwise JSON in messages may hold it."""


class Step:
    """One step from rows to rows."""

    per_event = False
    """Whether the step keeps each event as one row or drops it."""

    cuts = False
    """Whether the step keeps the first rows in an order."""

    @property
    def selects(self) -> int:
        """The largest number of nested selects in the step."""
        return 1

    @property
    def defines(self) -> frozenset[str]:
        """The columns that the step adds."""
        return frozenset()

    @property
    def reads(self) -> frozenset[str]:
        """The columns that the step needs."""
        return frozenset()

    @property
    def numbers(self) -> frozenset[str]:
        """The columns that the step takes as numbers, if it reads many rows."""
        return frozenset()

    def narrow(self, live: frozenset[str]) -> Step | None:
        """Return the step without columns that are not ``live`` after it, None if none is left."""
        return self

    def for_template(self, template: Template) -> tuple[Step, ...] | None:
        """Return steps that do the same for the events of a template, None if none passes.

        They read variables of the template in place of the message where they can.
        """
        return (self,)

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Write SQL that keeps some columns and adds the columns of the step."""
        raise NotImplementedError


@dataclass(frozen=True)
class Definition(Step):
    """A step that only adds columns, and only those that later steps use."""

    per_event = True

    columns: Mapping[str, Any]

    @property
    def defines(self) -> frozenset[str]:
        """The columns that the step adds."""
        return frozenset(self.columns)

    def narrow(self, live: frozenset[str]) -> Step | None:
        """Return the step with the live columns only."""
        kept = {column: value for column, value in self.columns.items() if column in live}
        return replace(self, columns=kept) if kept else None


@dataclass(frozen=True)
class Extend(Definition):
    """A step that adds computed columns."""

    columns: Mapping[str, Expression]

    @property
    def reads(self) -> frozenset[str]:
        """The columns of the expressions."""
        return columns_of(*self.columns.values())

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Write one select."""
        writer.define(kept, {name: writer.value_of(each) for name, each in self.columns.items()})


@dataclass(frozen=True)
class Keep(Step):
    """A step that keeps the rows for which a condition holds."""

    per_event = True

    condition: Expression

    @property
    def reads(self) -> frozenset[str]:
        """The columns of the condition."""
        return columns_of(self.condition)

    def for_template(self, template: Template) -> tuple[Step, ...] | None:
        """Decide the condition."""
        result = decided(self.condition, template)
        if isinstance(result, bool):
            return () if result else None
        return (Keep(result),)

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Write a WHERE clause."""
        writer.define(kept, {}, f"WHERE {writer.condition(self.condition)}")


class Plan(NamedTuple):
    """A resolved query.

    Attributes
    ----------
    steps : tuple of Step
        The steps from the events to the rows of the result.
    outputs : dict of str to str
        The fields of the result and their columns.
    order : tuple
        The sort order of the rows.
    patterns : tuple of Pattern
        The regular expressions of the query, used or not.
    warnings : tuple of str
        The warnings to the author of the query.
    undefined : tuple of UndefinedField
        The fields that no command defines, in queries that take fields from texts.
    limits : tuple of int
        The numbers of rows that ``limit`` commands keep.
    discovered : dict of str to str
        The fields that the query takes from messages, and their columns.
    compared : frozenset of str
        The fields on the right of ``=`` or ``!=``.
    indexed : frozenset of str
        The fields that filterIndex names.
    sources : tuple of Groups
        The log groups that the query's own SOURCE commands name; empty without SOURCE.
    named : tuple of Groups
        The log groups that the query or its subqueries name.
    lookups : tuple of Lookup
        The uses of lookup tables in the query and its subqueries.
    comparisons : tuple of Comparison
        The comparison with an earlier time range, if the query has one.
    has_subqueries : bool
        Whether the query contains subqueries, which read events of their own.
    """

    steps: tuple[Step, ...]
    outputs: Mapping[str, str]
    order: Order
    patterns: tuple[Pattern, ...]
    warnings: tuple[str, ...]
    undefined: tuple[UndefinedField, ...]
    limits: tuple[int, ...]
    discovered: Mapping[str, str]
    compared: frozenset[str]
    indexed: frozenset[str]
    sources: tuple[Groups, ...]
    named: tuple[Groups, ...]
    lookups: tuple[Lookup, ...]
    comparisons: tuple[Comparison, ...]
    has_subqueries: bool

    @property
    def result(self) -> frozenset[str]:
        """The columns that the result needs."""
        return frozenset(self.outputs.values()) | ordering(self.order)

    @property
    def row_by_row(self) -> tuple[Step, ...]:
        """The first steps, as long as they keep each event as one row or drop it."""
        return tuple(takewhile(lambda step: step.per_event, self.steps))

    @property
    def prefilter(self) -> Literals:
        """The literals of the filters before any step that needs other events."""
        steps = () if self.has_subqueries else self.row_by_row
        return best(literals_of(step.condition) for step in steps if isinstance(step, Keep))


def backwards(
    steps: tuple[Step, ...], live: frozenset[str]
) -> Iterator[tuple[Step, frozenset[str]]]:
    """Yield the necessary steps, last first, each with the columns that later steps read."""
    for step in reversed(steps):
        if part := step.narrow(live):
            yield part, live
            live = (live - part.defines) | part.reads


def columns_of(*expressions: Expression) -> frozenset[str]:
    """Return the columns that expressions use."""
    columns: set[str] = set()
    for expression in expressions:
        if isinstance(expression, Column | Attribute):
            columns.add(expression.column)
        elif isinstance(expression, Call | Operation):
            columns |= columns_of(*expression.arguments)
    return frozenset(columns)


def ordering(order: Order) -> frozenset[str]:
    """Return the columns of a sort order."""
    return frozenset(column for column, _ in order)


_DAY = 86_400
_DAYS = {"previousday": 1, "previousweek": 7}
PERIODS = (*_DAYS, "previousmonth")
"""The words after ``diff``, in lower case."""


class Comparison(NamedTuple):
    """A comparison with the time range before, or with one of ``PERIODS``.

    Attributes
    ----------
    span : Span
        The place of the command in the query.
    period : str
        One of ``PERIODS``, '' for the range just before the query's own.
    """

    span: Span
    period: str

    def earlier(self, start: int | None, end: int | None) -> tuple[int, int]:
        """Return the first and last second of the earlier range, which is as long as the query's.

        Raises
        ------
        QueryError
            If the query has no time range, or if the earlier range would overlap it.
        """
        if start is None or end is None:
            raise QueryError("diff needs the start and the end of a time range", self.span)
        length = end - start + 1
        first = self._first(start, length)
        if first + length > start:
            raise QueryError("diff needs a time range that the earlier one ends before", self.span)
        return first, first + length - 1

    def _first(self, start: int, length: int) -> int:
        if not self.period:
            return start - length
        if self.period in _DAYS:
            return start - _DAYS[self.period] * _DAY
        return _month_before(start)


def _month_before(second: int) -> int:
    """Return the same time of the month before, on its last day if it is shorter."""
    time = datetime.fromtimestamp(second, UTC)
    last = time.replace(day=1).timestamp() - _DAY
    day = min(time.day, datetime.fromtimestamp(last, UTC).day)
    return int(datetime.fromtimestamp(last, UTC).replace(day=day).timestamp())
