"""From steps to DuckDB's SQL: one common table expression for each step, over ``events``.

``events`` has the columns of `local.insights.plan.SYSTEM_FIELDS`. Texts of the query reach the SQL
as quoted literals, and its names not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count

from local.insights.functions import FUNCTIONS
from local.insights.operators import OPERATORS
from local.insights.periods import milliseconds
from local.insights.plan import (
    SYSTEM_FIELDS,
    Aggregate,
    Cut,
    Distinct,
    Extend,
    Glob,
    Keep,
    Match,
    Order,
    Plan,
    Step,
    backwards,
)
from local.insights.regexes import Pattern
from local.insights.syntax import (
    Call,
    Column,
    Expression,
    Field,
    Number,
    Operation,
    Period,
    QueryError,
    Regex,
    Text,
)
from local.insights.values import (
    Type,
    Value,
    literal,
    natural_order,
    number,
    quoted,
    text,
    time,
    truth,
)

# A comparison of texts names its operands twice, which doubles at each nesting.
MOST_SQL = 500_000
_TIMES = ("timestamp", "ingestion_time")
_ROW_STEPS = (Extend, Glob, Match, Keep)
_MATCHED = "matched"


@dataclass(frozen=True)
class Statements:
    """The SQL of a query, to be run in this order.

    Attributes
    ----------
    groups : str or None
        The SELECT of the table ``groups``, which the others read: what the first stats makes of
        the events. None if there is no stats, or if not all that precedes it works row by row.
    statistics : str
        The SELECT of three numbers: events, bytes of messages, and events that match. An event
        matches if it passes every filter before the first stats, limit or dedup.
    result : str
        The SELECT of the result: one text column for each output, sorted.
    """

    groups: str | None
    statistics: str
    result: str


def statements(plan: Plan) -> Statements:
    """Return the SQL of a query.

    Raises
    ------
    QueryError
        If a value has a type that is not accepted where it stands, or the query is too large.
    """
    writer = _Writer()
    writer.write(plan.steps, plan.result)
    columns = (str(text(writer.value(column))) for column in plan.outputs.values())
    result = writer.select(", ".join(columns)) + writer.order_by(plan.order)
    return Statements(writer.groups, _statistics(plan, writer.groups), result)


def _statistics(plan: Plan, groups: str | None) -> str:
    if groups:
        # The events were read once and counted; what is left needs no message.
        matched = f"(SELECT coalesce(sum({_MATCHED}), 0) FROM groups)"  # noqa: S608
        return f"SELECT count(*), coalesce(sum(size), 0), {matched} FROM events"  # noqa: S608
    steps: list[Step] = []
    conditions: list[str] = []
    for step in plan.steps:
        if not isinstance(step, _ROW_STEPS):
            break
        if isinstance(step, Keep):
            conditions.append(f"matches{len(conditions)}")
            steps.append(Extend({conditions[-1]: step.condition}))
        else:
            steps.append(step)
    writer = _Writer()
    writer.write(tuple(steps), frozenset((*conditions, "size")))
    matching = " AND ".join(str(truth(writer.value(each))) for each in conditions) or "TRUE"
    return writer.select(f"count(*), coalesce(sum(size), 0), count(*) FILTER (WHERE {matching})")


class _Writer:
    """The selects written so far, and what their columns hold."""

    def __init__(self) -> None:
        self.groups: str | None = None
        self._names = count(1)
        self._source = "events"
        self._by_row = True
        self._selects: list[str] = []
        self._types = {
            column: Type.TIME if column in _TIMES else Type.TEXT
            for column in SYSTEM_FIELDS.values()
        }

    def write(self, steps: tuple[Step, ...], result: frozenset[str]) -> None:
        """Write every step that is needed for the columns ``result``."""
        for step, live in reversed(list(backwards(steps, result))):
            self._by_row = self._by_row and isinstance(step, (*_ROW_STEPS, Aggregate))
            self._step(step, live)

    def value(self, column: str) -> Value:
        """Return a column as a value."""
        return Value(column, self._types[column])

    def select(self, columns: str) -> str:
        """Return the whole SQL, which ends in selecting ``columns`` from the last step."""
        steps = f"WITH {', '.join(self._selects)} " if self._selects else ""
        return f"{steps}SELECT {columns} FROM {self._source}"  # noqa: S608 (literals are quoted)

    def order_by(self, order: Order) -> str:
        """Return the clause that sorts; what is missing comes last in either direction."""
        terms = [term for column, down in order for term in self._order_terms(column, down)]
        return f" ORDER BY {', '.join(terms)}" if terms else ""

    def _order_terms(self, column: str, descending: bool) -> list[str]:
        direction = "DESC" if descending else "ASC"
        value = self.value(column)
        if value.type is not Type.TEXT or column == "ptr":
            return [f"{column} {direction} NULLS LAST"]
        keys = (f"{key} {direction} NULLS LAST" for key in natural_order(value))
        return [f"{column} IS NULL", *keys]

    # Steps

    def _step(self, step: Step, live: frozenset[str]) -> None:
        kept = live - step.defines
        match step:
            case Extend():
                values = {name: self._value(each) for name, each in step.columns.items()}
                self._define(kept, values)
            case Keep():
                self._define(kept, {}, f"WHERE {self._condition(step.condition)}")
            case Glob():
                self._glob(step, kept)
            case Match():
                self._match(step, kept)
            case Aggregate():
                self._aggregate(step)
            case Cut():
                self._define(kept, {}, f"{self.order_by(step.order)} LIMIT {step.count}")
            case Distinct():
                self._distinct(step, kept)

    def _glob(self, step: Glob, kept: frozenset[str]) -> None:
        """Find each literal in what the one before it left over.

        This captures what the lazy regular expression does: if a literal is not found after the
        leftmost places of those before it, it is not found after any later ones either.
        """
        rest = self._held_text(step.source, kept)
        live = set(step.columns.values())
        held = kept
        last = len(step.literals) - 1
        spans: list[tuple[str, str | None]] = []
        for index, part in enumerate(step.literals):
            place, after = None, rest
            if part or 0 < index < last:
                place, after = self._temporary(), self._temporary()
                at = f"nullif(strpos({rest}, {quoted(part)}), 0)"
                values = {
                    place: Value(at, Type.NUMBER),
                    after: Value(f"substring({rest}, {at} + {len(part)})", Type.TEXT),
                }
                self._define(held | {rest}, values)
            spans.append((rest, place))
            if index - 1 in live:
                held |= {rest, place} if place else {rest}
            rest = after
        matched = f"{spans[-1][1] or rest} IS NOT NULL"
        captures = {
            column: f"CASE WHEN {matched} THEN {_before(*spans[index + 1])} END"
            for column, index in step.columns.items()
        }
        self._define(kept, _texts(captures))

    def _match(self, step: Match, kept: frozenset[str]) -> None:
        source = self._held_text(step.source, kept)
        matches = f"regexp_matches({source}, {quoted(step.pattern.matching())})"
        captures = {
            column: f"CASE WHEN {matches} THEN {_captured(step.pattern, name, source)} END"
            for column, name in step.columns.items()
        }
        self._define(kept, _texts(captures))

    def _aggregate(self, step: Aggregate) -> None:
        values = {name: self._value(call) for name, call in step.columns.items()}
        # No row, instead of a row of nothing, when nothing was aggregated.
        clause = f"GROUP BY {', '.join(step.keys)}" if step.keys else "HAVING count(*) > 0"
        if self.groups or not self._by_row:
            self._define(frozenset(step.keys), values, clause)
            return
        self._define(
            frozenset(step.keys), {**values, _MATCHED: Value("count(*)", Type.NUMBER)}, clause
        )
        self.groups = self.select("*")
        self._source, self._selects = "groups", []

    def _distinct(self, step: Distinct, kept: frozenset[str]) -> None:
        missing = " OR ".join(f"{key} IS NULL" for key in step.keys)
        first = (
            f"row_number() OVER (PARTITION BY {', '.join(step.keys)}{self.order_by(step.order)})"
        )
        self._define(kept, {}, f"QUALIFY {first} = 1 OR {missing}")

    # Selects

    def _define(self, kept: frozenset[str], values: Mapping[str, Value], clause: str = "") -> None:
        """Write a select that keeps columns and adds computed ones."""
        columns = [*sorted(kept), *(f"{value} AS {name}" for name, value in values.items())]
        name = f"s{next(self._names)}"
        select = f"SELECT {', '.join(columns) or 'TRUE'} FROM {self._source} {clause}"  # noqa: S608
        self._selects.append(f"{name} AS NOT MATERIALIZED ({select})")
        self._source = name
        self._types.update((column, value.type) for column, value in values.items())

    def _temporary(self) -> str:
        return f"t{next(self._names)}"

    def _held_text(self, source: Expression, kept: frozenset[str]) -> str:
        """Return a column that holds an expression as text."""
        value = text(self._value(source))
        if isinstance(source, Column) and value.sql == source.column:
            return value.sql
        column = self._temporary()
        self._define(kept, {column: value})
        return column

    # Expressions

    def _value(self, expression: Expression) -> Value:
        value = self._any_value(expression)
        if value.type is Type.PERIOD:
            raise QueryError(
                "a period is accepted in bin, datefloor and dateceil only", expression.span
            )
        if len(value.sql) > MOST_SQL:
            raise QueryError("this expression nests too many comparisons", expression.span)
        return value

    def _any_value(self, expression: Expression) -> Value:
        match expression:
            case Number() | Text():
                value = literal(expression.value)
            case Regex():
                value = Value(quoted(expression.pattern), Type.REGEX)
            case Period():
                value = Value(str(milliseconds(expression)), Type.PERIOD)
            case Column():
                value = self.value(expression.column)
            case Call():
                value = self._call(expression)
            case Operation():
                read = self._condition if expression.operator in _LOGICAL else self._value
                value = OPERATORS[expression.operator](*map(read, expression.arguments))
            case Field():
                raise AssertionError(f"{expression.name} was not resolved")
        return value

    def _call(self, call: Call) -> Value:
        function = FUNCTIONS[call.function]
        arguments = (
            self._read(argument, function.reads_as(position))
            for position, argument in enumerate(call.arguments)
        )
        return function.sql(*arguments)

    def _read(self, expression: Expression, wanted: Type | None) -> Value:
        if wanted is Type.PERIOD:
            period = self._any_value(expression)
            if period.type is not Type.PERIOD:
                raise QueryError("expected a period such as 5m", expression.span)
            return period
        value = self._value(expression)
        return _READERS[wanted](value) if wanted else value

    def _condition(self, expression: Expression) -> Value:
        value = self._value(expression)
        if value.type is Type.TEXT:
            raise QueryError(
                "this is a text, but a condition is needed; compare it with something",
                expression.span,
            )
        return truth(value)


_LOGICAL = ("not", "and", "or")
_READERS: dict[Type, Callable[[Value], Value]] = {
    Type.TEXT: text,
    Type.NUMBER: number,
    Type.TIME: time,
}


def _texts(columns: Mapping[str, str]) -> dict[str, Value]:
    return {column: Value(sql, Type.TEXT) for column, sql in columns.items()}


def _before(rest: str, place: str | None) -> str:
    """Return what stands before a place; all if no place ends it."""
    return rest if place is None else f"left({rest}, {place} - 1)"


def _captured(pattern: Pattern, name: str, source: str) -> str:
    """Return what a group captures, given that its pattern matches.

    RE2's '' may also say that the group took no part. That is what it means, and becomes null,
    if what stands in the group does not match ''.
    """
    captured = f"regexp_extract({source}, {quoted(pattern.capturing(name))}, 1)"
    inside = quoted(f"^(?:{pattern.inside(name)})$")
    return f"nullif({captured}, CASE WHEN NOT regexp_matches('', {inside}) THEN '' END)"
