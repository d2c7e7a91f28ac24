"""Write steps as DuckDB's SQL: one common table expression for each step, over ``events``.

A query with SOURCE reads the view ``named`` instead. Both views have the columns of
`cwli.insights.plan.SYSTEM_FIELDS`. Texts of the query reach the SQL only as quoted literals; its
names do not reach the SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import NamedTuple

from cwli.insights.discovery import Discover, attribute
from cwli.insights.functions import FUNCTIONS
from cwli.insights.plan import SYSTEM_FIELDS, Extend, Keep, Order, Plan, Step, backwards
from cwli.insights.source import GroupFilter
from cwli.insights.syntax import (
    Attribute,
    Call,
    Column,
    Expression,
    Members,
    Missing,
    Number,
    Operation,
    Period,
    QueryError,
    Regex,
    Text,
)
from cwli.insights.templates import Template
from cwli.insights.times import interval, milliseconds
from cwli.insights.values import (
    OPERATORS,
    ArgumentError,
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

# A comparison of texts names its operands twice, so each nesting doubles the SQL.
MOST_SQL = 500_000
_TIMES = ("timestamp", "ingestion_time")
_MATCHED = "matched"
MATCHED_OF_GROUPS = f"SELECT coalesce(sum({_MATCHED}), 0) FROM groups"  # noqa: S608
"""The SELECT of the number of events in the table ``groups``."""


class MessageValues(NamedTuple):
    """The values that a query takes from messages: one row for each event that it keeps.

    Attributes
    ----------
    sql : str
        The SELECT of the rows over ``events``.
    steps : tuple of Step
        The steps from the events to the rows.
    columns : frozenset of str
        The columns of the rows, ``timestamp`` among them.
    numbers : tuple of str
        The columns of texts that the rows have as numbers, too.
    """

    sql: str
    steps: tuple[Step, ...]
    columns: frozenset[str]
    numbers: tuple[str, ...]

    def for_template(self, template: Template) -> str | None:
        """Return the SELECT for the events of a template, None if the query keeps none of them.

        It is ``sql`` itself if the messages are needed.
        """
        steps: list[Step] = []
        for step in self.steps:
            replaced = step.for_template(template)
            if replaced is None:
                return None
            steps += replaced
        needed = [step for step, _ in backwards(tuple(steps), self.columns)]
        if any("message" in step.reads for step in needed):
            return self.sql
        writer = Writer()
        writer.write(tuple(steps), self.columns)
        return writer.select_rows(self.columns, self.numbers)


class Statements(NamedTuple):
    """The SQL statements of a query, in the order of their execution.

    Attributes
    ----------
    message_values : MessageValues or None
        The view ``message_values``, which the other statements read. None if a later step needs the
        message, or an earlier one needs other events.
    groups : str or None
        The SELECT of the table ``groups``, which the other statements read: the result of the
        first stats. None without stats, or if a step before it does not work row by row.
    templates : str or None
        The SELECT of the texts and their counts whose clusters are the table ``patterns``, which
        the statement of the result reads. None without pattern.
    statistics : str
        The SELECT of three numbers: events, bytes of messages, and matching events. An event
        matches if it passes every filter before the first stats, limit or dedup.
    result : str
        The SELECT of the result: one text column for each output, sorted.
    discovered : str or None
        The SELECT of the discovered fields of each event, None without discovered fields.
    sorts_matches : bool
        Whether the first sort in the result takes each matching event as one row.
    matches_all : bool
        Whether each event matches.
    """

    message_values: MessageValues | None
    groups: str | None
    templates: str | None
    statistics: str
    result: str
    discovered: str | None
    sorts_matches: bool
    matches_all: bool


def statements(plan: Plan) -> Statements:
    """Return the SQL of a query.

    Raises
    ------
    QueryError
        If a value has a type that is not accepted at its place, or the query is too large.
    """
    writer = Writer(grouping=True)
    writer.write(plan.steps, plan.result)
    columns = (str(text(writer.value(column))) for column in plan.outputs.values())
    result = writer.select(", ".join(columns)) + writer.order_by(plan.order)
    statistics = _group_statistics(plan) if writer.groups else _event_statistics(plan)
    return Statements(
        writer.message_values,
        writer.groups,
        writer.templates,
        statistics,
        result,
        _discovered_fields(plan),
        all(step.per_event or step.cuts for step in plan.steps),
        not any(isinstance(step, Keep | GroupFilter) for step in plan.row_by_row),
    )


def members_sql(plan: Plan, column: str) -> str:
    """Return the SELECT of a subquery's column as text, without missing values."""
    writer = Writer()
    writer.write(plan.steps, frozenset({column}))
    return f"{writer.select(str(text(writer.value(column))))} WHERE {column} IS NOT NULL"


def _group_statistics(plan: Plan) -> str:
    # The query has read the messages already; these numbers need none.
    writer = Writer()
    writer.write(_group_filters(plan), frozenset({"size"}))
    return writer.select(f"count(*), coalesce(sum(size), 0), ({MATCHED_OF_GROUPS})")


def _event_statistics(plan: Plan) -> str:
    steps: list[Step] = []
    conditions: list[str] = []
    for step in plan.row_by_row:
        if isinstance(step, Keep):
            conditions.append(f"matches{len(conditions)}")
            steps.append(Extend({conditions[-1]: step.condition}))
        else:
            steps.append(step)
    writer = Writer()
    writer.write(tuple(steps), frozenset((*conditions, "size")))
    matching = " AND ".join(str(truth(writer.value(each))) for each in conditions) or "TRUE"
    return writer.select(f"count(*), coalesce(sum(size), 0), count(*) FILTER (WHERE {matching})")


def _discovered_fields(plan: Plan) -> str | None:
    if not plan.discovered:
        return None
    columns = {column: name for name, column in plan.discovered.items()}
    writer = Writer()
    writer.write((*_group_filters(plan), Discover(columns)), frozenset(columns))
    return writer.select(", ".join(columns))


def _group_filters(plan: Plan) -> tuple[Step, ...]:
    return tuple(step for step in plan.steps if isinstance(step, GroupFilter))


class Writer:
    """A writer of nested selects, which knows the types of their columns.

    Parameters
    ----------
    grouping : bool
        Whether to write the view ``message_values`` and, for the first stats, the table ``groups``.

    Attributes
    ----------
    message_values : MessageValues or None
        The view ``message_values``.
    groups : str or None
        The SELECT of the table ``groups``, with the number of events of each row.
    templates : str or None
        The SELECT of the texts and counts that the table ``patterns`` is made of.
    """

    def __init__(self, *, grouping: bool = False) -> None:
        self.message_values: MessageValues | None = None
        self.groups: str | None = None
        self.templates: str | None = None
        self._grouping = grouping
        self._names = count(1)
        self._source = "events"
        self._has_subquery = False
        self._selects: list[str] = []
        self._numbers: dict[str, str] = {}
        self._digits: set[str] = set()
        self._types = {
            column: Type.TIME if column in _TIMES else Type.TEXT
            for column in SYSTEM_FIELDS.values()
        }

    def write(self, steps: tuple[Step, ...], result: frozenset[str]) -> None:
        """Write the steps that the columns ``result`` need."""
        needed = list(reversed(list(backwards(steps, result))))
        extracting_steps = _count_extracting_steps(needed) if self._grouping else 0
        for place, (step, live) in enumerate(needed, 1):
            columns = live | {"timestamp"} if place <= extracting_steps else live
            step.write(self, columns - step.defines)
            self._grouping = self._grouping and step.per_event
            if place == extracting_steps and not self._has_subquery:
                self._end_extraction(columns, [each for each, _ in needed], place)

    def _end_extraction(self, columns: frozenset[str], steps: Sequence[Step], place: int) -> None:
        """Write the view ``message_values``, also with the numbers of texts for later steps.

        A cache keeps its rows, so that the next query need not convert them again.
        """
        texts_of = {column for column in columns if self._types[column] is Type.TEXT}
        later = frozenset[str]().union(*(step.numbers for step in steps[place:]))
        numbers = tuple(sorted(texts_of & later))
        sql = self.select_rows(columns, numbers)
        self.message_values = MessageValues(sql, tuple(steps[:place]), columns, numbers)
        self._numbers = {column: _number_of(column) for column in numbers}
        self._source, self._selects = "message_values", []

    def select_rows(self, columns: frozenset[str], numbers: Iterable[str]) -> str:
        """Return the complete SQL of some columns, and of some of them as numbers."""
        converted = [f"{number(self.value(each))} AS {_number_of(each)}" for each in numbers]
        return self.select(", ".join((*sorted(columns), *converted)))

    def read_named(self) -> None:
        """Read the view ``named``: the events of the log groups that the query names."""
        self._source = "named"

    def value(self, column: str) -> Value:
        """Return a column as a value."""
        number = self._numbers.get(column)
        return Value(column, self._types[column], number=number, digits=column in self._digits)

    def select(self, columns: str) -> str:
        """Return the complete SQL, which selects ``columns`` from the last step."""
        steps = f"WITH {', '.join(self._selects)} " if self._selects else ""
        return f"{steps}SELECT {columns} FROM {self._source}"  # noqa: S608 (literals are quoted)

    def order_by(self, order: Order) -> str:
        """Return the ORDER BY clause; missing values come last in either direction."""
        terms = [f"{key} {direction}" for key, direction in self._order_terms(order)]
        return f" ORDER BY {', '.join(terms)}" if terms else ""

    def sort_key(self, order: Order) -> str:
        """Return SQL for one value by which rows are in this order."""
        terms = (f"{key}, {quoted(direction)}" for key, direction in self._order_terms(order))
        return f"create_sort_key({', '.join(terms)})"

    def _order_terms(self, order: Order) -> Iterator[tuple[str, str]]:
        """Yield SQL of each key and its direction."""
        for column, descending in order:
            direction = f"{'DESC' if descending else 'ASC'} NULLS LAST"
            value = self.value(column)
            if value.type is not Type.TEXT or column == "ptr":
                yield column, direction
                continue
            yield f"({column} IS NULL)", "ASC NULLS LAST"
            yield from ((key, direction) for key in natural_order(value))

    def among_first(self, order: Order, count: int) -> str:
        """Return a WHERE clause that drops rows that cannot be among the first, or ''.

        It compares only the first key. The other keys put rows with equal results into natural
        order, and that takes longer than the grouping of the events.
        """
        (column, descending), *others = order
        is_ordered = self.value(column).type in (Type.NUMBER, Type.TIME)
        if self.groups is None or not is_ordered or not others:
            return ""
        last, sign = ("min", ">=") if descending else ("max", "<=")
        first = (
            f"SELECT {column} FROM {self._source}"  # noqa: S608
            f"{self.order_by(order[:1])} LIMIT {count}"
        )
        is_full = f"count({column}) = {count}"
        bound = f"SELECT CASE WHEN {is_full} THEN {last}({column}) END FROM ({first})"  # noqa: S608
        return f"WHERE coalesce({column} {sign} ({bound}), TRUE)"

    # Selects

    def define(self, kept: frozenset[str], values: Mapping[str, Value], clause: str = "") -> None:
        """Write a select that keeps columns and adds computed columns."""
        # Another clause may add rows with other values.
        plain = not clause or clause.startswith("WHERE ")
        self._numbers = {name: n for name, n in self._numbers.items() if plain and name in kept}
        digits = {name for name, value in values.items() if value.digits}
        self._digits = self._digits & kept | digits if plain else set()
        kept |= frozenset(self._numbers.values())
        columns = [*sorted(kept), *(f"{value} AS {name}" for name, value in values.items())]
        name = f"s{next(self._names)}"
        select = f"SELECT {', '.join(columns) or 'TRUE'} FROM {self._source} {clause}"  # noqa: S608
        self._selects.append(f"{name} AS NOT MATERIALIZED ({select})")
        self._source = name
        self._types.update((column, value.type) for column, value in values.items())

    def group(self, keys: frozenset[str], values: Mapping[str, Value], clause: str) -> None:
        """Write a select of aggregates by ``keys``."""
        if not self._grouping:
            self.define(keys, values, clause)
            return
        self.define(keys, {**values, _MATCHED: Value("count(*)", Type.NUMBER)}, clause)
        self.groups = self.select("*")
        self._source, self._selects = "groups", []

    def cluster(self, columns: str) -> None:
        """Read from here on the table ``patterns``, made of columns of the last step."""
        self.templates = self.select(columns)
        self._source, self._selects = "patterns", []

    def materialize(self) -> str:
        """Return the name of the last step, and make DuckDB compute its rows only once."""
        if self._selects:
            last = self._selects[-1]
            self._selects[-1] = last.replace(" AS NOT MATERIALIZED ", " AS MATERIALIZED ", 1)
        return self._source

    def temporary(self) -> str:
        """Return an unused column name."""
        return f"t{next(self._names)}"

    def text_column(self, source: Expression, kept: frozenset[str]) -> str:
        """Return a column with an expression as text, added to the columns ``kept`` if needed."""
        value = text(self.value_of(source))
        if isinstance(source, Column) and value.sql == source.column:
            return value.sql
        column = self.temporary()
        self.define(kept, {column: value})
        return column

    # Expressions

    def value_of(self, expression: Expression) -> Value:
        """Return an expression as a value."""
        value = self._any_value(expression)
        if value.type is Type.PERIOD:
            raise QueryError(
                "a period is accepted only in bin, datefloor, dateceil, or added to a time",
                expression.span,
            )
        if len(value.sql) > MOST_SQL:
            raise QueryError("this expression nests too many comparisons", expression.span)
        return value

    def condition(self, expression: Expression) -> Value:
        """Return an expression as a condition."""
        value = self.value_of(expression)
        system = isinstance(expression, Column) and expression.column in SYSTEM_FIELDS.values()
        if value.type is Type.TEXT and (system or value.constant is not None):
            raise QueryError(
                "this is a text, but a condition is needed; compare it with a value",
                expression.span,
            )
        return truth(value)

    def _any_value(self, expression: Expression) -> Value:
        match expression:
            case Number() | Text():
                value = literal(expression.value)
            case Regex():
                value = Value(quoted(expression.pattern), Type.REGEX)
            case Period():
                length = milliseconds(expression)
                value = Value(str(length or interval(expression)), Type.PERIOD, length)
            case Column():
                value = self.value(expression.column)
            case Missing():
                value = Value("CAST(NULL AS VARCHAR)", Type.TEXT)
            case Attribute():
                value = attribute(self.value(expression.column), expression.path)
            case Members():
                self._has_subquery = True
                value = Value(f"({members_sql(expression.plan, expression.column)})", Type.TABLE)
            case Call():
                value = self._call(expression)
            case Operation():
                operands = (self._operand(each, expression) for each in expression.arguments)
                value = _apply(OPERATORS[expression.operator], expression, operands)
            case _:
                raise AssertionError(f"{expression} was not resolved")
        return value

    def _operand(self, expression: Expression, operation: Operation) -> Value:
        if operation.operator in _LOGICAL:
            return self.condition(expression)
        if operation.operator in _PERIOD_OPERATORS and isinstance(expression, Period):
            return self._any_value(expression)
        return self.value_of(expression)

    def _call(self, call: Call) -> Value:
        function = FUNCTIONS[call.function]
        arguments = (
            self._converted(argument, function.reads_as(position))
            for position, argument in enumerate(call.arguments)
        )
        return _apply(function.sql, call, arguments)

    def _converted(self, expression: Expression, type_: Type | None) -> Value:
        if type_ is Type.PERIOD:
            period = self._any_value(expression)
            if period.type is not Type.PERIOD:
                raise QueryError("expected a period such as 5m", expression.span)
            return period
        value = self.value_of(expression)
        if type_ is Type.REGEX:
            return value
        if type_ and value.type is Type.STRUCTURE:
            # AWS documentation, CloudWatch Logs Insights query syntax: structure types.
            value = Value("CAST(NULL AS VARCHAR)", Type.TEXT)
        return _CONVERSIONS[type_](value) if type_ else value


def _number_of(column: str) -> str:
    return f"{column}_number"


def _count_extracting_steps(needed: Sequence[tuple[Step, frozenset[str]]]) -> int:
    """Return the number of steps up to the last one that reads the message.

    Return 0 if no step reads the message, or if one of these steps does not work row by row.
    """
    for place, (step, live) in enumerate(needed, 1):
        if not step.per_event:
            break
        if "message" not in live:
            return place if "message" in step.reads else 0
    return 0


_LOGICAL = ("not", "and", "or")
_PERIOD_OPERATORS = ("+", "-")
_CONVERSIONS: dict[Type, Callable[[Value], Value]] = {
    Type.TEXT: text,
    Type.NUMBER: number,
    Type.TIME: time,
}


def _apply(sql: Callable[..., Value], node: Call | Operation, arguments: Iterable[Value]) -> Value:
    """Return the value of a function or an operator; an error names the place of the argument."""
    try:
        return sql(*arguments)
    except ArgumentError as error:
        name = node.function if isinstance(node, Call) else node.operator
        raise QueryError(f"{name}: {error}", node.arguments[error.place].span) from error


def texts(columns: Mapping[str, str]) -> dict[str, Value]:
    """Return SQL expressions as text values."""
    return {column: Value(sql, Type.TEXT) for column, sql in columns.items()}
