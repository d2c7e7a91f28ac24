"""``sessionize``: which events follow each other without a long pause.

Source: AWS documentation, CloudWatch Logs Insights query syntax: sessionize.
"""

from __future__ import annotations

from dataclasses import dataclass

from local.insights import printing
from local.insights.expressions import Reader
from local.insights.names import Names
from local.insights.periods import milliseconds
from local.insights.plan import Order, Step, ordering
from local.insights.sql import Writer
from local.insights.syntax import Command, Field, Period, QueryError, Span
from local.insights.values import Type, Value, time


@dataclass(frozen=True)
class Sessionize(Command):
    """``sessionize user, device maxspan 1h as visit``: number the sessions, the earliest first."""

    fields: tuple[Field, ...]
    pause: Period
    name: str

    @classmethod
    def read(cls, reader: Reader, start: Span) -> Sessionize:
        """Read what follows the word ``sessionize``."""
        fields = reader.listed(reader.field)
        pause = reader.period() if reader.take_word("maxspan") else Period(start, 30, "m")
        if milliseconds(pause) is None:
            raise QueryError("maxspan takes days or shorter", pause.span)
        return cls(reader.since(start), fields, pause, reader.alias() or "session_id")

    def resolve(self, names: Names) -> None:
        """Add the number of the session."""
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
    """Number the runs of rows that are equal in ``keys`` and at most ``pause`` [ms] apart."""

    column: str
    keys: tuple[str, ...]
    time: str
    pause: int
    order: Order

    @property
    def selects(self) -> int:
        """One for where a session begins, one for its number there, one for all its rows."""
        return 3

    @property
    def defines(self) -> frozenset[str]:
        """The number."""
        return frozenset({self.column})

    @property
    def reads(self) -> frozenset[str]:
        """The keys, the time, and what is sorted by."""
        return frozenset((*self.keys, self.time)) | ordering(self.order)

    def narrowed(self, live: frozenset[str]) -> Step | None:
        """Return the step if the number is used."""
        return self if self.column in live else None

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Write window functions, over the rows of the same keys and then over all."""
        begins, numbered = writer.temporary(), writer.temporary()
        held = kept | self.reads
        when = time(writer.value(self.time))
        same = f"(PARTITION BY {', '.join(self.keys)}{writer.order_by(self.order)})"
        pause = f"{when} - lag({when}) OVER {same} > {self.pause}"
        begin = f"coalesce({pause}, {when} IS NOT NULL)"
        writer.define(held, {begins: Value(begin, Type.BOOLEAN)})
        count = f"count(*) FILTER (WHERE {begins}) OVER ({writer.order_by(self.order)})"
        first = f"CASE WHEN {begins} THEN CAST({count} AS DOUBLE) END"
        writer.define(held, {numbered: Value(first, Type.NUMBER)})
        latest = f"last_value({numbered} IGNORE NULLS) OVER {same}"
        last = f"CASE WHEN {when} IS NOT NULL THEN {latest} END"
        writer.define(kept, {self.column: Value(last, Type.NUMBER)})
