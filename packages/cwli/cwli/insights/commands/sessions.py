"""Command ``sessionize``: sessions of events without a long pause between them.

Source: AWS documentation, CloudWatch Logs Insights query syntax: sessionize.
"""

from __future__ import annotations

from dataclasses import dataclass

from cwli.insights import printing
from cwli.insights.expressions import Reader
from cwli.insights.names import Names
from cwli.insights.periods import milliseconds
from cwli.insights.plan import Order, Step, ordering
from cwli.insights.sql import Writer
from cwli.insights.syntax import Command, Field, Period, QueryError, Span
from cwli.insights.values import Type, Value, time


@dataclass(frozen=True)
class Sessionize(Command):
    """``sessionize user, device maxspan 1h as visit``: number the sessions, the earliest first."""

    fields: tuple[Field, ...]
    pause: Period
    name: str

    @classmethod
    def read(cls, reader: Reader, start: Span) -> Sessionize:
        """Read the arguments of ``sessionize``."""
        fields = reader.list_of(reader.field)
        pause = reader.period() if reader.take_word("maxspan") else Period(start, 30, "m")
        if milliseconds(pause) is None:
            raise QueryError("maxspan takes days or shorter", pause.span)
        return cls(reader.since(start), fields, pause, reader.alias() or "session_id")

    def resolve(self, names: Names) -> None:
        """Add the session numbers."""
        if "@timestamp" not in names.scope.fields:
            raise QueryError(
                "sessionize needs @timestamp, which is not a result of stats", self.span
            )
        keys = tuple(names.column(field) for field in self.fields)
        when = names.column(Field(self.span, "@timestamp"))
        (column,) = names.define_captures([self.name])
        pause = milliseconds(self.pause) or 0
        names.step(Sessions(column, keys, when, pause, ((when, False), *names.order)))

    def __str__(self) -> str:
        fields = printing.fields(self.fields)
        pause = printing.expression(self.pause)
        return f"sessionize {fields} maxspan {pause} as {printing.name(self.name)}"


@dataclass(frozen=True)
class Sessions(Step):
    """A step that numbers sessions: rows with equal ``keys``, at most ``pause`` [ms] apart."""

    column: str
    keys: tuple[str, ...]
    time: str
    pause: int
    order: Order

    @property
    def selects(self) -> int:
        """One select for the first rows of sessions, one for their numbers, one for all rows."""
        return 3

    @property
    def defines(self) -> frozenset[str]:
        """The column of the number."""
        return frozenset({self.column})

    @property
    def reads(self) -> frozenset[str]:
        """The columns of the keys, the time and the sort order."""
        return frozenset((*self.keys, self.time)) | ordering(self.order)

    def narrow(self, live: frozenset[str]) -> Step | None:
        """Return the step, None if no later step needs the number."""
        return self if self.column in live else None

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Write window functions, first over the rows of the same keys, then over all rows."""
        start, start_number = writer.temporary(), writer.temporary()
        needed = kept | self.reads
        when = time(writer.value(self.time))
        same = f"(PARTITION BY {', '.join(self.keys)}{writer.order_by(self.order)})"
        pause = f"{when} - lag({when}) OVER {same} > {self.pause}"
        is_start = f"coalesce({pause}, {when} IS NOT NULL)"
        writer.define(needed, {start: Value(is_start, Type.BOOLEAN)})
        count = f"count(*) FILTER (WHERE {start}) OVER ({writer.order_by(self.order)})"
        first = f"CASE WHEN {start} THEN CAST({count} AS DOUBLE) END"
        writer.define(needed, {start_number: Value(first, Type.NUMBER)})
        latest = f"last_value({start_number} IGNORE NULLS) OVER {same}"
        last = f"CASE WHEN {when} IS NOT NULL THEN {latest} END"
        writer.define(kept, {self.column: Value(last, Type.NUMBER)})
