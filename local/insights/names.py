"""From commands to steps: what each name means where it is used.

Rules that AWS documents or shows (CloudWatch Logs Insights query syntax: stats, dedup, display,
fields): an item of ``stats`` may use the names of earlier items; the second ``stats`` sees the
results of the first only; nothing but ``limit`` follows ``dedup``; the last ``display`` decides
what is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import count
from typing import Any, TypeVar

from local.insights.functions import FUNCTIONS, Function
from local.insights.parser import source_name
from local.insights.periods import capped
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
    columns_of,
)
from local.insights.regexes import Pattern
from local.insights.syntax import (
    Call,
    Column,
    Command,
    Dedup,
    Display,
    Expression,
    Field,
    Fields,
    Filter,
    Item,
    Limit,
    Number,
    Operation,
    ParseGlob,
    ParseRegex,
    Period,
    QueryError,
    Regex,
    Sort,
    Stats,
)

Applied = TypeVar("Applied", Operation, Call)

# How many stats a query may have (AWS documentation, CloudWatch Logs Insights: stats).
MOST_STATS = 2
# DuckDB binds nested selects by recursion, and gives up well above this.
MOST_SELECTS = 200
# AWS documents an order for dedup only: newest first.
_NEWEST_FIRST: Order = (("timestamp", True), ("ptr", False))


def resolve(commands: Iterable[Command]) -> Plan:
    """Return the steps that a query's commands mean.

    Raises
    ------
    QueryError
        If a name means nothing, or a command stands where it may not.
    """
    resolver = _Resolver()
    for command in commands:
        resolver.add(command)
    return resolver.plan()


@dataclass
class _Scope:
    """The fields that an expression may use, and their columns."""

    fields: dict[str, str]
    before_stats: bool = True

    def column(self, used: Field) -> Column:
        if column := self.fields.get(used.name):
            return Column(used.span, column)
        close = get_close_matches(used.name, self.fields, 1, 0.8)
        meant = f"did you mean {close[0]!r}? " if close else ""
        reason = (
            "fields inside JSON messages are not discovered yet, parse them"
            if self.before_stats
            else "after stats only its results are known"
        )
        known = ", ".join(self.fields)
        raise QueryError(f"unknown field {used.name!r}; {meant}{reason}; known: {known}", used.span)


@dataclass(kw_only=True)
class _GroupScope(_Scope):
    """The fields of an item of stats: keys and earlier items; an aggregate sees the rows."""

    rows: _Scope
    aggregates: dict[str, Call] = field(default_factory=dict)


class _Resolver:
    def __init__(self) -> None:
        self._numbers = count(1)
        self._steps: list[Step] = []
        self._patterns: list[Pattern] = []
        self._warnings: list[str] = []
        self._scope = _Scope(dict(SYSTEM_FIELDS))
        self._order = self._default_order = _NEWEST_FIRST
        # Names in the order in which results show them; a dictionary, since a set has no order.
        self._implied: tuple[str, ...] = ("@timestamp", "@message")
        self._shown: dict[str, None] = {}
        self._displayed: dict[str, None] = {}
        self._seen: list[type[Command]] = []

    def add(self, command: Command) -> None:
        if Dedup in self._seen and not isinstance(command, Limit):
            raise QueryError("only limit may follow dedup", command.span)
        _RESOLVERS[type(command)](self, command)
        if sum(step.selects for step in self._steps) > MOST_SELECTS:
            raise QueryError("the query has more commands or * than are accepted", command.span)
        self._seen.append(type(command))

    def plan(self) -> Plan:
        names = self._displayed or dict.fromkeys((*self._implied, *self._shown))
        outputs = {name: self._scope.fields[name] for name in names}
        if self._scope.before_stats:
            outputs.setdefault("@ptr", "ptr")
        return Plan(
            tuple(self._steps),
            outputs,
            self._order,
            tuple(self._patterns),
            tuple(self._warnings),
            limited=Limit in self._seen,
        )

    # Commands

    def _fields(self, command: Fields) -> None:
        self._shown |= self._define_items(command.items)
        self._implied = ()

    def _display(self, command: Display) -> None:
        self._displayed = self._define_items(command.items)

    def _filter(self, command: Filter) -> None:
        self._steps.append(Keep(self._resolve(command.condition, self._scope)))

    def _parse_glob(self, command: ParseGlob) -> None:
        source = self._resolve(command.source, self._scope)
        columns = self._define_captures(command.names)
        captures = {column: index for index, column in enumerate(columns)}
        self._steps.append(Glob(captures, source, tuple(command.glob.value.split("*"))))

    def _parse_regex(self, command: ParseRegex) -> None:
        source = self._resolve(command.source, self._scope)
        pattern = self._pattern(command.regex)
        if not pattern.names:
            raise QueryError(
                "this regular expression has no named group: (?<name>…)", command.regex.span
            )
        columns = self._define_captures(pattern.names)
        captures = dict(zip(columns, pattern.names, strict=True))
        self._steps.append(Match(captures, source, pattern))

    def _stats(self, command: Stats) -> None:
        self._check_stats(command)
        keys = {item.name: self._column(item.expression) for item in command.keys}
        scope = _GroupScope(dict(keys), before_stats=False, rows=self._scope)
        derived: list[Step] = []
        for item in command.items:
            value = self._resolve(item.expression, scope)
            scope.fields[item.name] = self._column_of(value, derived)
        if not scope.aggregates:
            raise QueryError("stats takes at least one aggregate, such as count(*)", command.span)
        self._steps += [Aggregate(tuple(keys.values()), scope.aggregates), *derived]
        self._scope = _Scope(scope.fields, before_stats=False)
        self._order = self._default_order = tuple((column, False) for column in keys.values())
        self._implied, self._displayed = (), {}
        self._shown = dict.fromkeys(scope.fields)

    def _check_stats(self, command: Stats) -> None:
        earlier = self._seen.count(Stats)
        if earlier == MOST_STATS:
            raise QueryError(f"a query has at most {MOST_STATS} stats", command.span)
        if earlier and (Sort in self._seen or Limit in self._seen):
            raise QueryError("sort and limit may follow the last stats only", command.span)

    def _sort(self, command: Sort) -> None:
        keys = tuple((self._column(key.expression), key.descending) for key in command.keys)
        # Then by the default order, so that the same logs always give the same rows.
        self._order = (*keys, *self._default_order)

    def _limit(self, command: Limit) -> None:
        self._steps.append(Cut(command.count, self._order))

    def _dedup(self, command: Dedup) -> None:
        keys = tuple(self._scope.column(key).column for key in command.fields)
        self._steps.append(Distinct(keys, self._order))

    # Columns

    def _new_column(self) -> str:
        return f"c{next(self._numbers)}"

    def _column(self, expression: Expression) -> str:
        return self._column_of(self._resolve(expression, self._scope), self._steps)

    def _column_of(self, value: Expression, steps: list[Step]) -> str:
        """Return the column of a value, computed by a further step unless it is one already."""
        if isinstance(value, Column):
            return value.column
        column = self._new_column()
        last = steps[-1] if steps else None
        if isinstance(last, Extend) and not columns_of(value) & last.defines:
            steps[-1] = Extend({**last.columns, column: value})
        else:
            steps.append(Extend({column: value}))
        return column

    def _define_items(self, items: tuple[Item, ...]) -> dict[str, None]:
        for item in items:
            self._scope.fields[item.name] = self._column(item.expression)
        return dict.fromkeys(item.name for item in items)

    def _define_captures(self, names: tuple[str, ...]) -> tuple[str, ...]:
        columns = tuple(self._new_column() for _ in names)
        self._scope.fields.update(zip(names, columns, strict=True))
        self._shown.update(dict.fromkeys(names))
        return columns

    # Expressions

    def _resolve(self, expression: Expression, scope: _Scope) -> Expression:
        resolved: Expression = expression
        match expression:
            case Field():
                resolved = scope.column(expression)
            case Operation() | Call() if column := scope.fields.get(source_name(expression)):
                # Such as count(*), which an earlier stats computed and gave no other name.
                resolved = Column(expression.span, column)
            case Operation():
                resolved = self._with_arguments(expression, scope)
            case Call():
                resolved = self._call(expression, scope)
            case Period():
                resolved = self._period(expression)
            case Regex():
                resolved = replace(expression, pattern=self._pattern(expression).matching())
        return resolved

    def _with_arguments(self, expression: Applied, scope: _Scope) -> Applied:
        arguments = tuple(self._resolve(each, scope) for each in expression.arguments)
        return replace(expression, arguments=arguments)

    def _call(self, call: Call, scope: _Scope) -> Expression:
        function = FUNCTIONS.get(call.function)
        if function is None:
            raise _unknown_function(call)
        _check_arguments(call, function)
        if not function.aggregate:
            return self._with_arguments(_with_implied(call, function, scope), scope)
        if not isinstance(scope, _GroupScope):
            raise QueryError(
                f"{call.function} is accepted in stats only, and not inside another aggregate",
                call.span,
            )
        rows = self._with_arguments(_with_implied(call, function, scope.rows), scope.rows)
        column = self._new_column()
        scope.aggregates[column] = rows
        return Column(call.span, column)

    def _pattern(self, regex: Regex) -> Pattern:
        pattern = Pattern(regex)
        self._patterns.append(pattern)
        return pattern

    def _period(self, period: Period) -> Period:
        used = capped(period)
        if used != period:
            self._warnings.append(
                f"line {period.span.line}, column {period.span.column}: {period.span.text} is "
                f"{used.amount}{used.unit}, the most that Logs Insights takes of this unit"
            )
        return used


def _with_implied(call: Call, function: Function, scope: _Scope) -> Call:
    missing = [name for name in function.implied if name not in scope.fields]
    if missing:
        raise QueryError(
            f"{call.function} needs {missing[0]}, which is not a result of stats", call.span
        )
    implied = (Field(call.span, name) for name in function.implied)
    return replace(call, arguments=(*implied, *call.arguments))


def _check_arguments(call: Call, function: Function) -> None:
    fewest, most = function.arity
    given = len(call.arguments)
    if given < fewest or (most is not None and given > most):
        wanted = str(fewest) if fewest == most else f"{fewest} to {most or 'any number of'}"
        raise QueryError(f"{call.function} takes {wanted} arguments, not {given}", call.span)
    if call.function == "pct":
        percent = call.arguments[1]
        if not isinstance(percent, Number) or not 0 <= percent.value <= 100:
            raise QueryError("pct takes a number from 0 to 100 second", percent.span)


def _unknown_function(call: Call) -> QueryError:
    close = get_close_matches(call.function, FUNCTIONS, 1)
    meant = f"did you mean {close[0]!r}? " if close else ""
    supported = ", ".join(FUNCTIONS)
    return QueryError(
        f"unknown function {call.function!r}; {meant}supported: {supported}", call.span
    )


_RESOLVERS: dict[type[Command], Callable[[_Resolver, Any], None]] = {
    Fields: _Resolver._fields,
    Display: _Resolver._display,
    Filter: _Resolver._filter,
    ParseGlob: _Resolver._parse_glob,
    ParseRegex: _Resolver._parse_regex,
    Stats: _Resolver._stats,
    Sort: _Resolver._sort,
    Limit: _Resolver._limit,
    Dedup: _Resolver._dedup,
}
