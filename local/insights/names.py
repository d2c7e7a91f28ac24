"""Resolve the names in commands, and turn the commands into steps.

A name is, in this order, a field that the query made, a field of every event, an attribute of a
map that the query made, or a field discovered in the message. After ``stats`` only its results
have names (AWS documentation, CloudWatch Logs Insights query syntax: stats).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import TypeVar

from local.insights.discovery import Discover, is_discovered
from local.insights.expressions import source_name
from local.insights.foreign import nearest, suggestion, unknown_function
from local.insights.functions import FUNCTIONS, Function
from local.insights.group_choice import GroupFilter, Groups
from local.insights.lookup_tables import Lookup
from local.insights.periods import cap
from local.insights.plan import (
    SYSTEM_FIELDS,
    Extend,
    Order,
    Plan,
    Step,
    columns_of,
)
from local.insights.printing import quoted
from local.insights.regexes import Pattern
from local.insights.syntax import (
    Attribute,
    Call,
    Column,
    Command,
    Expression,
    Field,
    Item,
    Members,
    Missing,
    Number,
    Operation,
    Period,
    QueryError,
    Regex,
    Span,
    Subquery,
    Text,
)
from local.insights.values import Type

Applied = TypeVar("Applied", Operation, Call)

# DuckDB binds nested selects by recursion; its limit is well above this.
MOST_SELECTS = 200
# AWS documents an order for dedup only: newest first.
_NEWEST_FIRST: Order = (("timestamp", True), ("ptr", False))


def resolve(commands: Iterable[Command]) -> Plan:
    """Return the plan of a query's commands.

    Raises
    ------
    QueryError
        If a name is unknown, or a command is not accepted at its place.
    """
    names = Names()
    for command in commands:
        names.add(command)
    return names.plan()


class Scope:
    """The fields that an expression may use, and their columns."""

    def __init__(self, fields: dict[str, str]) -> None:
        self.fields = fields

    def find(self, field: Field) -> Expression:
        """Return the expression that a field name stands for.

        Raises
        ------
        QueryError
            If the name is unknown.
        """
        if column := self.fields.get(field.name):
            return Column(field.span, column)
        for owner, path in _splits(field.path or field.name):
            if column := self.structure(owner.replace("`", "")):
                return Attribute(field.span, column, path)
        return self.unknown(field)

    def structure(self, owner: str) -> str | None:
        """Return the column of a field that may hold a map or a list, None without one."""
        return self.fields.get(owner)

    def hint(self, field: Field) -> str:
        """Return a question that suggests the nearest field, or else all of them."""
        return (
            suggestion(nearest(field.name, self.fields))
            or f"the results are {', '.join(self.fields)}"
        )

    def unknown(self, field: Field) -> Expression:
        """Refuse a name that is none of these fields; other scopes return an expression."""
        if field.name.lower() in FUNCTIONS:
            raise QueryError(f"a function needs parentheses: {field.name}(…)", field.span)
        raise QueryError(
            f"{field.name!r} is neither a key nor an earlier item of this stats; known: "
            f"{', '.join(self.fields) or 'none'}",
            field.span,
        )


class _ResultScope(Scope):
    """The results of stats; any other name is missing in every row."""

    def __init__(self, fields: dict[str, str], names: Names) -> None:
        super().__init__(fields)
        self._names = names

    def unknown(self, field: Field) -> Expression:
        """Return a missing field, with a warning."""
        self._names.warn(
            field.span,
            f"{field.name!r} is missing, because stats does not return it; {self.hint(field)}",
        )
        return Missing(field.span)


class _EventScope(Scope):
    """The fields of events; any other name may be a field discovered in the message."""

    def __init__(self, names: Names) -> None:
        super().__init__(dict(SYSTEM_FIELDS))
        self._names = names

    def structure(self, owner: str) -> str | None:
        """Return the column of a field that the query made, None for any other field."""
        computed = owner not in SYSTEM_FIELDS and owner not in self._names.discovered
        return self.fields.get(owner) if computed else None

    def unknown(self, field: Field) -> Expression:
        """Return a discovered field."""
        return Column(field.span, self._names.discover(field))


@dataclass(frozen=True)
class Group:
    """The scopes of an item of stats: keys and earlier items, and rows inside an aggregate."""

    scope: Scope
    rows: Scope
    aggregates: dict[str, Call]


class Names:
    """The names and steps of a query up to the current command."""

    def __init__(self, columns: Iterator[int] | None = None) -> None:
        self._columns = count(1) if columns is None else columns
        self._steps: list[Step] = []
        self._patterns: list[Pattern] = []
        self._warnings: dict[str, None] = {}
        self.discovered: dict[str, str] = {}
        self.scope: Scope = _EventScope(self)
        self.before_stats = True
        # The fields of the rows that each stats groups, and the number of steps before it.
        self._grouped: list[tuple[Scope, int]] = []
        self.order = self._default_order = _NEWEST_FIRST
        # Names in the order of the result; dictionaries, since a set has no order.
        self._implied: tuple[str, ...] = ("@timestamp", "@message")
        self._shown: dict[str, None] = {}
        self._displayed: dict[str, None] = {}
        self._selected: dict[str, None] = {}
        self.bins: tuple[str, Period] | None = None
        self.sources: list[Groups] = []
        self._subqueries: list[Names] = []
        self.lookups: list[Lookup] = []
        self.seen: list[str] = []

    def add(self, command: Command) -> None:
        """Add the steps of a command."""
        kind = type(command).__name__
        if "Dedup" in self.seen and kind != "Limit":
            # AWS documentation, CloudWatch Logs Insights query syntax: dedup.
            raise QueryError("only limit may follow dedup", command.span)
        command.resolve(self)
        if sum(step.selects for step in self._steps) > MOST_SELECTS:
            raise QueryError("the query has too many commands or * in globs", command.span)
        self.seen.append(kind)

    def plan(self) -> Plan:
        """Return the plan of the commands so far."""
        shown = self._displayed or dict.fromkeys((*self._implied, *self._shown))
        outputs = {name: self.scope.fields[name] for name in shown}
        if self.before_stats:
            outputs.setdefault("@ptr", "ptr")
        filters = (GroupFilter(tuple(self.sources)),) if self.sources else ()
        subplans = [names.plan() for names in self._subqueries]
        return Plan(
            (*filters, *self._steps),
            outputs,
            self.order,
            (*self._patterns, *chain.from_iterable(plan.patterns for plan in subplans)),
            (*self._warnings, *chain.from_iterable(plan.warnings for plan in subplans)),
            limited="Limit" in self.seen,
            discovered=self.discovered,
            sources=tuple(self.sources),
            named=(*self.sources, *chain.from_iterable(plan.named for plan in subplans)),
            lookups=(*self.lookups, *chain.from_iterable(plan.lookups for plan in subplans)),
        )

    def enter(self, subquery: Subquery) -> Names:
        """Return the names of a subquery; without a SOURCE it reads the query's log groups."""
        inner = Names(self._columns)
        for command in subquery.commands:
            inner.add(command)
        inner.sources = inner.sources or self.sources
        self._subqueries.append(inner)
        return inner

    def selected(self) -> list[str]:
        """Return the fields of the last ``fields``, ``display`` or ``stats``."""
        return list(self._selected)

    def chosen(self) -> tuple[str, ...]:
        """Return the fields that commands show, without the default ones."""
        return tuple(self._displayed or self._shown)

    # Effects of commands

    def step(self, *steps: Step) -> None:
        """Add steps."""
        self._steps += steps

    def warn(self, span: Span, message: str) -> None:
        """Add a warning to the author of the query."""
        self._warnings[f"line {span.line}, column {span.column}: {message}"] = None

    def show(self, names: Iterable[str], *, alone: bool = False) -> None:
        """Add fields to the result; with ``alone``, remove the default fields from it."""
        shown = dict.fromkeys(names)
        self._shown |= shown
        if alone:
            self._implied = ()
            self._selected = shown

    def display(self, names: Iterable[str]) -> None:
        """Show only these fields, unless a later command shows others."""
        self._displayed = self._selected = dict.fromkeys(names)

    def sort(self, keys: Order) -> None:
        """Sort by columns, then by the default order, so that the result is always the same."""
        self.order = (*keys, *self._default_order)

    def put_last(self, column: str) -> None:
        """Put the rows for which a column is true last, until a later sort."""
        self.order = ((column, False), *self.order)
        self._default_order = ((column, False), *self._default_order)

    def put_after(self, column: str) -> None:
        """Order the rows by a column where all other sort keys are equal."""
        self.order = (*self.order, (column, False))
        self._default_order = (*self._default_order, (column, False))

    def group(self, *steps: Step) -> None:
        """Add the steps of stats, the first of which groups the rows."""
        self._grouped.append((self.scope, len(self._steps)))
        self._steps += steps

    def lacks(self, field: Field) -> bool:
        """Tell whether a field is not among the results of the last stats."""
        owners = (owner for owner, _ in _splits(field.name))
        known = any(name in self.scope.fields for name in (field.name, *owners))
        return bool(self._grouped) and not known

    @contextmanager
    def rows_of_stats(self) -> Iterator[None]:
        """Add steps before the last stats for a while, over the fields of the rows there."""
        scope, place = self._grouped.pop()
        results, later = self.scope, self._steps[place:]
        self.scope, self._steps = scope, self._steps[:place]
        yield
        self._grouped.append((scope, len(self._steps)))
        self.scope, self._steps = results, self._steps + later

    def begin_results(self, fields: dict[str, str], order: Order) -> None:
        """Replace all fields by the results of a command."""
        self.scope = _ResultScope(fields, self)
        self.before_stats = False
        self.bins = None
        self.order = self._default_order = order
        self._implied, self._displayed = (), {}
        self._selected = dict.fromkeys(fields)
        self._shown = dict.fromkeys(fields)

    # Columns

    def new_column(self) -> str:
        """Return an unused column name."""
        return f"c{next(self._columns)}"

    def column(self, expression: Expression) -> str:
        """Return the column of an expression; add a step unless the expression is a column."""
        return self.column_of(self.resolve(expression), self._steps)

    def column_of(self, value: Expression, steps: list[Step]) -> str:
        """Return the column of a resolved expression; compute it in the last step if possible."""
        if isinstance(value, Column):
            return value.column
        column = self.new_column()
        last = steps[-1] if steps else None
        if isinstance(last, Extend) and not columns_of(value) & last.defines:
            steps[-1] = Extend({**last.columns, column: value})
        else:
            steps.append(Extend({column: value}))
        return column

    def define(self, name: str, column: str) -> None:
        """Name a column."""
        self.scope.fields[name] = column

    def define_items(self, items: Iterable[Item]) -> tuple[str, ...]:
        """Compute and name expressions, and return the names."""
        names = []
        for item in items:
            self.define(item.name, self.column(item.expression))
            names.append(item.name)
        return tuple(names)

    def define_captures(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return new columns with these names, and show them."""
        columns = {name: self.new_column() for name in names}
        self.scope.fields.update(columns)
        self.show(columns)
        return tuple(columns.values())

    def discover(self, field: Field) -> str:
        """Return the column of a field of the message."""
        path = field.path or field.name
        if column := self.discovered.get(path):
            return column
        column = self.discovered[path] = self.new_column()
        if field.name.startswith("@") and not is_discovered(field.name):
            hint = suggestion(nearest(field.name, self.scope.fields, 0.8))
            self.warn(field.span, f"no log has a field {field.name!r}; {hint}".rstrip("; "))
        last = self._steps[-1] if self._steps else None
        if isinstance(last, Discover):
            self._steps[-1] = Discover({**last.columns, column: path})
        else:
            self._steps.append(Discover({column: path}))
        return column

    # Expressions

    def resolve(self, expression: Expression, scope: Scope | Group | None = None) -> Expression:
        """Return an expression with columns in place of names."""
        place = scope or self.scope
        fields = place.scope if isinstance(place, Group) else place
        resolved: Expression = expression
        match expression:
            case Field():
                resolved = fields.find(expression)
            case Operation() | Call() if column := fields.fields.get(source_name(expression)):
                # An earlier stats computed this expression, such as count(*), without an alias.
                resolved = Column(expression.span, column)
            case Operation():
                self._warn_of_wildcards(expression)
                resolved = self._with_arguments(expression, place)
            case Call():
                resolved = self._call(expression, place)
            case Period():
                resolved = self.period(expression)
            case Regex():
                resolved = replace(expression, pattern=self.pattern(expression).matching())
            case Subquery():
                resolved = self._subquery(expression)
        return resolved

    def pattern(self, regex: Regex, group_names: tuple[str, ...] = ()) -> Pattern:
        """Return a regular expression, translated for RE2."""
        pattern = Pattern(regex, group_names)
        self._patterns.append(pattern)
        return pattern

    def period(self, period: Period) -> Period:
        """Return the period with its amount capped, and a warning if it is capped."""
        effective = cap(period)
        if effective != period:
            self.warn(
                period.span,
                f"Logs Insights reads {period.span.text} as {effective.amount}{effective.unit}, "
                "the largest amount of this unit",
            )
        return effective

    def _warn_of_wildcards(self, operation: Operation) -> None:
        match operation:
            case Operation(operator="like", arguments=[_, Text(value=text) as pattern]) if (
                text.startswith("%") or text.endswith("%")
            ):
                self.warn(
                    pattern.span,
                    "% is an ordinary character in Logs Insights; "
                    f"write like {quoted(text.strip('%'))} to find the text anywhere",
                )

    def _with_arguments(self, expression: Applied, place: Scope | Group) -> Applied:
        arguments = tuple(self.resolve(each, place) for each in expression.arguments)
        return replace(expression, arguments=arguments)

    def _call(self, call: Call, place: Scope | Group) -> Expression:
        if call.function == "bin" and len(call.arguments) == 2:
            # Public dashboards write bin(@timestamp, 1h).
            call = replace(call, function="datefloor")
        function = FUNCTIONS.get(call.function)
        if function is None:
            raise unknown_function(call.function, call.span)
        _check_arguments(call, function)
        if not function.aggregate:
            fields = place.scope if isinstance(place, Group) else place
            complete = _with_patterns(_with_implied(call, function, fields), function)
            return self._with_arguments(complete, place)
        if not isinstance(place, Group):
            raise QueryError(
                f"{call.function} is accepted only in stats, and not inside another aggregate",
                call.span,
            )
        column = self.new_column()
        place.aggregates[column] = self._with_arguments(
            _with_implied(call, function, place.rows), place.rows
        )
        return Column(call.span, column)

    def _subquery(self, subquery: Subquery) -> Members:
        inner = self.enter(subquery)
        plan = inner.plan()
        # AWS documentation, CloudWatch Logs Insights query syntax: subqueries.
        values = inner.selected() or [name for name in plan.outputs if name != "@ptr"]
        if len(values) != 1:
            raise QueryError(
                f"a subquery after 'in' must have one field, this one has {', '.join(values)}; "
                "choose one with fields",
                subquery.span,
            )
        return Members(subquery.span, inner.scope.fields[values[0]], plan)


def _splits(name: str) -> Iterator[tuple[str, str]]:
    """Yield every split of a dotted name into a field and a path, the longest field first."""
    at = name.rfind(".")
    while at > 0:
        yield name[:at], name[at + 1 :]
        at = name.rfind(".", 0, at)


def _with_implied(call: Call, function: Function, scope: Scope) -> Call:
    missing = [name for name in function.implied if name not in scope.fields]
    if missing:
        raise QueryError(
            f"{call.function} needs {missing[0]}, which is not a result of stats", call.span
        )
    implied = (Field(call.span, name) for name in function.implied)
    return replace(call, arguments=(*implied, *call.arguments))


def _with_patterns(call: Call, function: Function) -> Call:
    """Return a call with regular expressions in place of texts where the function takes them."""

    def read(place: int, argument: Expression) -> Expression:
        if function.reads_as(place) is not Type.REGEX:
            return argument
        if not isinstance(argument, Text):
            raise QueryError(
                f"{call.function} takes a regular expression in quotes here", argument.span
            )
        return Regex(argument.span, argument.value)

    return replace(call, arguments=tuple(map(read, count(), call.arguments)))


def _check_arguments(call: Call, function: Function) -> None:
    fewest, most = function.arity
    number = len(call.arguments)
    if number < fewest or (most is not None and number > most):
        arity = str(fewest) if fewest == most else f"{fewest} to {most or 'any number of'}"
        arguments = "argument" if arity == "1" else "arguments"
        raise QueryError(f"{call.function} takes {arity} {arguments}, not {number}", call.span)
    if function is FUNCTIONS["pct"]:
        percent = call.arguments[1]
        if not isinstance(percent, Number) or not 0 <= percent.value <= 100:
            raise QueryError(
                f"{call.function} takes a number from 0 to 100 after the field", percent.span
            )
