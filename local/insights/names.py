"""From commands to steps: what each name means where it is used.

A name is, in this order, a field that the query made, one that every event has, an attribute of a
map that the query made, or a field discovered in the message. After ``stats`` only its results
have names (AWS documentation, CloudWatch Logs Insights query syntax: stats).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import TypeVar

from local.insights.discovery import Discover, is_discovered
from local.insights.expressions import source_name
from local.insights.foreign import meant, nearest, unknown_function
from local.insights.functions import FUNCTIONS, Function
from local.insights.lookups import Lookup
from local.insights.periods import capped
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
from local.insights.sources import Among, Groups
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
    names = Names()
    for command in commands:
        names.add(command)
    return names.plan()


class Scope:
    """The fields that an expression may use, and their columns."""

    def __init__(self, fields: dict[str, str]) -> None:
        self.fields = fields

    def find(self, used: Field) -> Expression:
        """Return what a field means.

        Raises
        ------
        QueryError
            If it means nothing.
        """
        if column := self.fields.get(used.name):
            return Column(used.span, column)
        for owner, path in _splits(used.name):
            if column := self.structure(owner):
                return Attribute(used.span, column, path)
        return self.unknown(used)

    def structure(self, owner: str) -> str | None:
        """Return the column of a field that may hold a map or a list."""
        return self.fields.get(owner)

    def unknown(self, used: Field) -> Expression:
        """Return what a field means that is none of these fields; here, nothing."""
        if used.name.lower() in FUNCTIONS:
            raise QueryError(f"a function has parentheses: {used.name}(…)", used.span)
        raise QueryError(
            f"{used.name!r} is neither a key of this stats nor an item before: "
            f"{', '.join(self.fields) or 'there are none'}",
            used.span,
        )


class _ResultScope(Scope):
    """The results of stats: any other name is missing in every row."""

    def __init__(self, fields: dict[str, str], names: Names) -> None:
        super().__init__(fields)
        self._names = names

    def unknown(self, used: Field) -> Expression:
        """Return what is missing, with a warning."""
        near = meant(nearest(used.name, self.fields)) or f"its results: {', '.join(self.fields)}"
        self._names.warn(used.span, f"stats gives no {used.name!r}, which no row has then; {near}")
        return Missing(used.span)


class _EventScope(Scope):
    """The fields of events: any name may be one that is discovered in the message."""

    def __init__(self, names: Names) -> None:
        super().__init__(dict(SYSTEM_FIELDS))
        self._names = names

    def structure(self, owner: str) -> str | None:
        """Return the column of a field that the query made itself."""
        made = owner not in SYSTEM_FIELDS and owner not in self._names.discovered
        return self.fields.get(owner) if made else None

    def unknown(self, used: Field) -> Expression:
        """Return a discovered field."""
        return Column(used.span, self._names.discover(used))


@dataclass(frozen=True)
class Group:
    """What an item of stats may use: keys and earlier items; an aggregate sees the rows."""

    scope: Scope
    rows: Scope
    aggregates: dict[str, Call]


class Names:
    """What the names of a query mean so far, and the steps so far."""

    def __init__(self, columns: Iterator[int] | None = None) -> None:
        self._columns = count(1) if columns is None else columns
        self._steps: list[Step] = []
        self._patterns: list[Pattern] = []
        self._warnings: dict[str, None] = {}
        self.discovered: dict[str, str] = {}
        self.scope: Scope = _EventScope(self)
        self.before_stats = True
        self.order = self._default_order = _NEWEST_FIRST
        # Names in the order in which results show them; a dictionary, since a set has no order.
        self._implied: tuple[str, ...] = ("@timestamp", "@message")
        self._shown: dict[str, None] = {}
        self._displayed: dict[str, None] = {}
        self._selected: dict[str, None] = {}
        self.bins: tuple[str, Period] | None = None
        self.sources: list[Groups] = []
        self._inside: list[Names] = []
        self.lookups: list[Lookup] = []
        self.seen: list[str] = []

    def add(self, command: Command) -> None:
        """Add what a command does."""
        kind = type(command).__name__
        if "Dedup" in self.seen and kind != "Limit":
            # AWS documentation, CloudWatch Logs Insights query syntax: dedup.
            raise QueryError("only limit may follow dedup", command.span)
        command.resolve(self)
        if sum(step.selects for step in self._steps) > MOST_SELECTS:
            raise QueryError("the query has more commands or * than are accepted", command.span)
        self.seen.append(kind)

    def plan(self) -> Plan:
        """Return what the commands so far do."""
        shown = self._displayed or dict.fromkeys((*self._implied, *self._shown))
        outputs = {name: self.scope.fields[name] for name in shown}
        if self.before_stats:
            outputs.setdefault("@ptr", "ptr")
        among = (Among(tuple(self.sources)),) if self.sources else ()
        inside = [names.plan() for names in self._inside]
        return Plan(
            (*among, *self._steps),
            outputs,
            self.order,
            (*self._patterns, *chain.from_iterable(plan.patterns for plan in inside)),
            (*self._warnings, *chain.from_iterable(plan.warnings for plan in inside)),
            limited="Limit" in self.seen,
            discovered=self.discovered,
            sources=tuple(self.sources),
            named=(*self.sources, *chain.from_iterable(plan.named for plan in inside)),
            lookups=(*self.lookups, *chain.from_iterable(plan.lookups for plan in inside)),
        )

    def inside(self, subquery: Subquery) -> Names:
        """Return the names of a subquery; it is about the same log groups unless it says which."""
        inner = Names(self._columns)
        for command in subquery.commands:
            inner.add(command)
        inner.sources = inner.sources or self.sources
        self._inside.append(inner)
        return inner

    def selected(self) -> list[str]:
        """Return the fields that the last ``fields``, ``display`` or ``stats`` names."""
        return list(self._selected)

    def chosen(self) -> tuple[str, ...]:
        """Return the fields that commands said to show, not the usual ones."""
        return tuple(self._displayed or self._shown)

    # What commands do

    def step(self, *steps: Step) -> None:
        """Add steps."""
        self._steps += steps

    def warn(self, span: Span, message: str) -> None:
        """Tell the writer of the query what they may not expect."""
        self._warnings[f"line {span.line}, column {span.column}: {message}"] = None

    def show(self, names: Iterable[str], *, alone: bool = False) -> None:
        """Let the result have these fields, besides those so far; ``alone``, without the usual."""
        shown = dict.fromkeys(names)
        self._shown |= shown
        if alone:
            self._implied = ()
            self._selected = shown

    def display(self, names: Iterable[str]) -> None:
        """Let the result have these fields only, unless another command says so later."""
        self._displayed = self._selected = dict.fromkeys(names)

    def sort(self, keys: Order) -> None:
        """Sort by columns, then by the default order, so that equal logs give equal rows."""
        self.order = (*keys, *self._default_order)

    def put_last(self, column: str) -> None:
        """Put the rows for which a column holds last, unless a later sort says otherwise."""
        self.order = ((column, False), *self.order)
        self._default_order = ((column, False), *self._default_order)

    def put_after(self, column: str) -> None:
        """Order the rows by a column where they are alike otherwise."""
        self.order = (*self.order, (column, False))
        self._default_order = (*self._default_order, (column, False))

    def begin_results(self, fields: dict[str, str], order: Order) -> None:
        """Let these be the only fields from here on."""
        self.scope = _ResultScope(fields, self)
        self.before_stats = False
        self.bins = None
        self.order = self._default_order = order
        self._implied, self._displayed = (), {}
        self._selected = dict.fromkeys(fields)
        self._shown = dict.fromkeys(fields)

    # Columns

    def new_column(self) -> str:
        """Return a name that no column has."""
        return f"c{next(self._columns)}"

    def column(self, expression: Expression) -> str:
        """Return the column of an expression, computed by a further step unless it is one."""
        return self.column_of(self.resolved(expression), self._steps)

    def column_of(self, value: Expression, steps: list[Step]) -> str:
        """Return the column of a resolved expression, computed by the last step if it can be."""
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
        """Let a column have a name."""
        self.scope.fields[name] = column

    def define_items(self, items: Iterable[Item]) -> tuple[str, ...]:
        """Let expressions have their names, and return these."""
        names = []
        for item in items:
            self.define(item.name, self.column(item.expression))
            names.append(item.name)
        return tuple(names)

    def define_captures(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return new columns that have these names and are shown."""
        columns = {name: self.new_column() for name in names}
        self.scope.fields.update(columns)
        self.show(columns)
        return tuple(columns.values())

    def discover(self, used: Field) -> str:
        """Return the column of a field that is taken from the message."""
        if column := self.discovered.get(used.name):
            return column
        column = self.discovered[used.name] = self.new_column()
        if used.name.startswith("@") and not is_discovered(used.name):
            near = meant(nearest(used.name, self.scope.fields, 0.8))
            self.warn(used.span, f"no log has a field {used.name!r}; {near}".rstrip("; "))
        last = self._steps[-1] if self._steps else None
        if isinstance(last, Discover):
            self._steps[-1] = Discover({**last.columns, column: used.name})
        else:
            self._steps.append(Discover({column: used.name}))
        return column

    # Expressions

    def resolved(self, expression: Expression, scope: Scope | Group | None = None) -> Expression:
        """Return an expression over columns."""
        place = scope or self.scope
        fields = place.scope if isinstance(place, Group) else place
        resolved: Expression = expression
        match expression:
            case Field():
                resolved = fields.find(expression)
            case Operation() | Call() if column := fields.fields.get(source_name(expression)):
                # Such as count(*), which an earlier stats computed and gave no other name.
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

    def pattern(self, regex: Regex, given: tuple[str, ...] = ()) -> Pattern:
        """Return a regular expression, made ready, whose groups have the names ``given``."""
        pattern = Pattern(regex, given)
        self._patterns.append(pattern)
        return pattern

    def period(self, period: Period) -> Period:
        """Return the period that is really used, with a warning if it is another."""
        used = capped(period)
        if used != period:
            self.warn(
                period.span,
                f"{period.span.text} is {used.amount}{used.unit}, "
                "the most that Logs Insights takes of this unit",
            )
        return used

    def _warn_of_wildcards(self, operation: Operation) -> None:
        match operation:
            case Operation(operator="like", arguments=[_, Text(value=text) as pattern]) if (
                text.startswith("%") or text.endswith("%")
            ):
                self.warn(
                    pattern.span,
                    "% is a character like any other to Logs Insights; "
                    f"like {quoted(text.strip('%'))} finds this anywhere",
                )

    def _with_arguments(self, expression: Applied, place: Scope | Group) -> Applied:
        arguments = tuple(self.resolved(each, place) for each in expression.arguments)
        return replace(expression, arguments=arguments)

    def _call(self, call: Call, place: Scope | Group) -> Expression:
        function = FUNCTIONS.get(call.function)
        if function is None:
            raise unknown_function(call.function, call.span)
        _check_arguments(call, function)
        if not function.aggregate:
            fields = place.scope if isinstance(place, Group) else place
            whole = _with_patterns(_with_implied(call, function, fields), function)
            return self._with_arguments(whole, place)
        if not isinstance(place, Group):
            raise QueryError(
                f"{call.function} is accepted in stats only, and not inside another aggregate",
                call.span,
            )
        column = self.new_column()
        place.aggregates[column] = self._with_arguments(
            _with_implied(call, function, place.rows), place.rows
        )
        return Column(call.span, column)

    def _subquery(self, subquery: Subquery) -> Members:
        inner = self.inside(subquery)
        plan = inner.plan()
        # AWS documentation, CloudWatch Logs Insights query syntax: subqueries.
        values = inner.selected() or [name for name in plan.outputs if name != "@ptr"]
        if len(values) != 1:
            raise QueryError(
                f"a subquery after 'in' gives one field, this one {', '.join(values)}; "
                "say which by fields",
                subquery.span,
            )
        return Members(subquery.span, inner.scope.fields[values[0]], plan)


def _splits(name: str) -> Iterator[tuple[str, str]]:
    """Yield a dotted name's ways to be a field and a path in it, the longest field first."""
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
    """Return a call whose texts are regular expressions where the function takes such."""

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
    given = len(call.arguments)
    if call.function == "bin" and given == 2:
        raise QueryError(
            "bin takes a period only, as in bin(5m); datefloor(field, 5m) is of another time",
            call.span,
        )
    if given < fewest or (most is not None and given > most):
        wanted = str(fewest) if fewest == most else f"{fewest} to {most or 'any number of'}"
        arguments = "argument" if wanted == "1" else "arguments"
        raise QueryError(f"{call.function} takes {wanted} {arguments}, not {given}", call.span)
    if call.function == "pct":
        percent = call.arguments[1]
        if not isinstance(percent, Number) or not 0 <= percent.value <= 100:
            raise QueryError("pct takes a number from 0 to 100 second", percent.span)
