"""Resolve the names in commands, and turn the commands into steps."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import is_dataclass, replace
from itertools import chain, count
from typing import TYPE_CHECKING, TypeVar

from cwli.insights.discovery import Discover, is_discovered
from cwli.insights.functions import FUNCTIONS
from cwli.insights.hints import nearest, suggestion, unknown_function
from cwli.insights.plan import (
    SYSTEM_FIELDS,
    Comparison,
    Extend,
    Order,
    Plan,
    Step,
    UndefinedField,
    columns_of,
)
from cwli.insights.regexes import Pattern
from cwli.insights.scopes import (
    EventScope,
    Group,
    ResultScope,
    Scope,
    Selection,
    check_arguments,
    splits,
    with_implied,
    with_patterns,
)
from cwli.insights.source import GroupFilter, Groups
from cwli.insights.syntax import (
    Call,
    Column,
    Command,
    Expression,
    Field,
    Item,
    Members,
    Operation,
    Period,
    QueryError,
    Regex,
    Span,
    Subquery,
    Text,
    source_name,
)
from cwli.insights.times import cap

if TYPE_CHECKING:
    from cwli.insights.commands.lookup import Lookup

Applied = TypeVar("Applied", Operation, Call)

# DuckDB binds nested selects by recursion; its limit is well above this.
MOST_SELECTS = 200
# The commands whose names AWS's users report as refused if an earlier command gave them.
_NAMING = ("Fields", "Display", "ParseGlob", "ParseRegex", "ParseFormat")
# The functions that return maps or lists, and the commands that take none (AWS documentation,
# CloudWatch Logs Insights query syntax: structure types).
_MAKING = ("jsonparse", "split")
_FLAT = ("Dedup", "Pattern", "Sort", "Stats")
# AWS documents an order for dedup only: newest first.
_NEWEST_FIRST: Order = (("timestamp", True), ("ptr", False))
# A line end or a tab as other languages write it, not behind an escaped backslash.
_LETTER = re.compile(r"(?:[^\\]|\\[^nrt])*(\\[nrt])", re.DOTALL)


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


def _in_quotes(text: str) -> str:
    """Return a text as a query has it."""
    return "'" + re.sub(r"([\\'])", r"\\\1", text) + "'"


def _fields_of(part: object) -> Iterator[Field]:
    """Yield the fields of a part of a query, but for arguments of functions of single rows."""
    if isinstance(part, Field):
        yield part
    elif isinstance(part, tuple):
        yield from chain.from_iterable(map(_fields_of, part))
    elif is_dataclass(part):
        function = FUNCTIONS.get(part.function) if isinstance(part, Call) else None
        if function is None or function.aggregate:
            yield from _fields_of(tuple(vars(part).values()))


class Names:
    """The names and steps of a query up to the current command."""

    def __init__(self, columns: Iterator[int] | None = None) -> None:
        self._columns = count(1) if columns is None else columns
        self._steps: list[Step] = []
        self._patterns: list[Pattern] = []
        self._warnings: dict[str, None] = {}
        self._undefined: list[UndefinedField] = []
        self._captured: list[str] = []
        self.discovered: dict[str, str] = {}
        self.compared: set[str] = set()
        self.indexed: set[str] = set()
        self._structures: set[str] = set()
        self.scope: Scope = EventScope(self.discovered, self.discover)
        self.before_stats = True
        # The fields of the rows that each stats groups, and the number of steps before it.
        self._grouped: list[tuple[Scope, int]] = []
        self.order = self._default_order = _NEWEST_FIRST
        self.selection = Selection(default=("@timestamp", "@message"))
        self.bins: tuple[str, Period] | None = None
        self.sources: list[Groups] = []
        self._subqueries: list[Names] = []
        self.limits: list[int] = []
        self.lookups: list[Lookup] = []
        self.comparisons: list[Comparison] = []
        self.seen: list[str] = []

    def add(self, command: Command) -> None:
        """Add the steps of a command."""
        kind = command.kind
        if "Dedup" in self.seen and kind != "Limit":
            # AWS documentation, CloudWatch Logs Insights query syntax: dedup.
            raise QueryError("only limit may follow dedup", command.span)
        before = dict(self.scope.fields)
        if kind in _FLAT:
            self._warn_of_structures(command)
        command.resolve(self)
        if kind in _NAMING:
            self._warn_of_hidden(before, command.span)
        if sum(step.selects for step in self._steps) > MOST_SELECTS:
            raise QueryError("the query has too many commands or * in globs", command.span)
        self.seen.append(kind)

    def _warn_of_structures(self, command: Command) -> None:
        """Warn of maps and lists, which AWS's page of structure types keeps from some commands."""
        for field in _fields_of(command):
            if self.scope.fields.get(field.name) in self._structures:
                kind = command.kind.lower()
                self.warn(
                    field.span,
                    f"{field.name!r} is a map or a list, which {kind} does not take on AWS; "
                    f"take a member such as {field.name}.a, or jsonStringify({field.name})",
                )

    def _warn_of_hidden(self, before: Mapping[str, str], span: Span) -> None:
        """Warn of the values that a command hides, since it gives their names to others."""
        for name, column in before.items():
            if name not in SYSTEM_FIELDS and self.scope.fields[name] != column:
                self.warn(
                    span,
                    f"{name!r} is another value from here on; Logs Insights refuses this: "
                    "Ephemeral field is already defined",
                )

    def plan(self) -> Plan:
        """Return the plan of the commands so far."""
        outputs = {name: self.scope.fields[name] for name in self.selection.outputs()}
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
            (*self._undefined, *chain.from_iterable(plan.undefined for plan in subplans)),
            limits=tuple(self.limits),
            discovered=self.discovered,
            compared=frozenset(self.compared),
            indexed=frozenset(self.indexed),
            sources=tuple(self.sources),
            named=(*self.sources, *chain.from_iterable(plan.named for plan in subplans)),
            lookups=(*self.lookups, *chain.from_iterable(plan.lookups for plan in subplans)),
            comparisons=tuple(self.comparisons),
            has_subqueries=bool(self._subqueries),
        )

    def enter(self, subquery: Subquery) -> Names:
        """Return the names of a subquery; without a SOURCE it reads the query's log groups."""
        inner = Names(self._columns)
        for command in subquery.commands:
            inner.add(command)
        if {"Pattern", "Diff"} & set(inner.seen):
            raise QueryError("patterns are not supported in a subquery", subquery.span)
        inner.sources = inner.sources or self.sources
        self._subqueries.append(inner)
        return inner

    # Effects of commands

    def step(self, *steps: Step) -> None:
        """Add steps."""
        self._steps += steps

    def last_step(self) -> Step | None:
        """Return the last step, None before the first."""
        return self._steps[-1] if self._steps else None

    def warn(self, span: Span, message: str) -> None:
        """Add a warning to the author of the query."""
        self._warnings[f"line {span.line}, column {span.column}: {message}"] = None

    def warn_of_missing(self, span: Span, message: str) -> None:
        """Warn of a field that no row has."""
        self.warn(span, message)
        self._undefined.append(UndefinedField(span.line, span.column, message, certain=True))

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
        """Add the steps of stats; the first one groups the rows."""
        self._grouped.append((self.scope, len(self._steps)))
        self._steps += steps

    def lacks(self, field: Field) -> bool:
        """Tell whether a field is not among the results of the last stats."""
        owners = (owner for owner, _ in splits(field.name))
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
        self.scope = ResultScope(fields, self.warn_of_missing)
        self.before_stats = False
        self.bins = None
        self.order = self._default_order = order
        self.selection = Selection(shown=fields)

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
        if isinstance(value, Call) and value.function in _MAKING:
            self._structures.add(column)
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
        self._captured += columns
        self.selection.show(columns)
        return tuple(columns.values())

    def discover(self, field: Field) -> str:
        """Return the column of a field of the message."""
        path = field.path or field.name
        if column := self.discovered.get(path):
            return column
        column = self.discovered[path] = self.new_column()
        if field.name.startswith("@") and not is_discovered(field.name):
            hint = suggestion(nearest(field.name, self.scope.fields, 0.8))
            message = f"no log has a field {field.name!r}; {hint}".rstrip("; ")
            self.warn_of_missing(field.span, message)
        elif self._captured:
            self._doubt(field)
        last = self._steps[-1] if self._steps else None
        if isinstance(last, Discover):
            self._steps[-1] = Discover({**last.columns, column: path})
        else:
            self._steps.append(Discover({column: path}))
        return column

    def _doubt(self, field: Field) -> None:
        """Note a field of the message where earlier commands took others from a text."""
        hint = suggestion(nearest(field.name, self._captured))
        message = f"no command makes {field.name!r}, so JSON in the message must have it; {hint}"
        place = field.span.line, field.span.column
        self._undefined.append(UndefinedField(*place, message.rstrip("; "), certain=False))

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
                self._note_words(expression)
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
                    f"write like {_in_quotes(text.strip('%'))} to find the text anywhere",
                )
            case Operation(operator="like", arguments=[_, Text(span=span)]) if (
                match := _LETTER.match(span.text)
            ):
                self.warn(
                    span,
                    f"{match[1]} in quotes is a backslash and a letter; write like /{match[1]}/ to "
                    "find the character",
                )

    def _note_words(self, operation: Operation) -> None:
        """Note a field that a value is compared with: its name may be a text without quotes."""
        match operation:
            case Operation(operator="=" | "!=", arguments=[_, Field(name=name)]):
                self.compared.add(name)

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
        check_arguments(call, function)
        if not function.aggregate:
            fields = place.scope if isinstance(place, Group) else place
            complete = with_patterns(with_implied(call, function, fields), function)
            return self._with_arguments(complete, place)
        if not isinstance(place, Group):
            raise QueryError(
                f"{call.function} is accepted only in stats, and not inside another aggregate",
                call.span,
            )
        column = self.new_column()
        place.aggregates[column] = self._with_arguments(
            with_implied(call, function, place.rows), place.rows
        )
        return Column(call.span, column)

    def _subquery(self, subquery: Subquery) -> Members:
        inner = self.enter(subquery)
        plan = inner.plan()
        # AWS documentation, CloudWatch Logs Insights query syntax: subqueries.
        values = inner.selection.last() or [name for name in plan.outputs if name != "@ptr"]
        if len(values) != 1:
            raise QueryError(
                f"a subquery after 'in' must have one field, this one has {', '.join(values)}; "
                "choose one with fields",
                subquery.span,
            )
        return Members(subquery.span, inner.scope.fields[values[0]], plan)
