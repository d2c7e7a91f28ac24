"""Command ``stats``: one row from many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cwli.insights import printing
from cwli.insights.expressions import Reader, check_names
from cwli.insights.functions import FUNCTIONS
from cwli.insights.names import Names
from cwli.insights.periods import cap, milliseconds
from cwli.insights.plan import Step, columns_of
from cwli.insights.scopes import Group, Scope
from cwli.insights.sql import Writer
from cwli.insights.syntax import (
    Call,
    Column,
    Command,
    Expression,
    Item,
    Number,
    Operation,
    Period,
    QueryError,
    Span,
)
from cwli.insights.values import Type

# The most stats in a query. AWS documents two (CloudWatch Logs Insights query syntax: stats), and
# announced ten later: a query with more than two gets a warning.
MOST_STATS = 10
_LONG_DOCUMENTED = 2


@dataclass(frozen=True)
class Stats(Command):
    """``stats avg(a), count(*) by b``."""

    items: tuple[Item, ...]
    keys: tuple[Item, ...]
    offset: Period | None = None

    @classmethod
    def read(cls, reader: Reader, start: Span) -> Stats:
        """Read the arguments of ``stats``; ``group by`` is accepted in place of ``by``."""
        if reader.at_word("by", "group"):
            raise reader.expected("an aggregate such as count(*) before the groups")
        items = reader.items("by", "group")
        keys: tuple[Item, ...] = ()
        if reader.take_word("group"):
            reader.need_word("by")
            keys = reader.items()
        elif reader.take_word("by"):
            keys = reader.items()
        check_names((*keys, *items))
        offset = reader.period() if reader.take_word("offset") else None
        return cls(reader.since(start), items, keys, offset)

    def resolve(self, names: Names) -> None:
        """Aggregate the rows, then compute the expressions over aggregates.

        An item may use the keys and the items before it (AWS documentation, CloudWatch Logs
        Insights sample queries).
        """
        self._check(names)
        keys = {item.name: names.column(self._shift(item.expression)) for item in self.keys}
        group = Group(Scope(dict(keys)), names.scope, {})
        derived: list[Step] = []
        for item in self.items:
            value = names.resolve(item.expression, group)
            group.scope.fields[item.name] = names.column_of(value, derived)
        if not group.aggregates:
            raise QueryError("stats takes at least one aggregate, such as count(*)", self.span)
        names.group(Aggregate(tuple(keys.values()), group.aggregates), *derived)
        names.begin_results(group.scope.fields, tuple((key, False) for key in keys.values()))
        names.bins = self._bins(names, tuple(keys.values()))

    def _shift(self, key: Expression) -> Expression:
        """Return a key, with the offset added if it is bin(…)."""
        if self.offset is None or not _is_bin(key):
            return key
        length = Number(self.offset.span, milliseconds(self.offset) or 0)
        later = Operation(key.span, (key, length), "+")
        return Call(key.span, (later,), "frommillis")

    def _bins(self, names: Names, columns: tuple[str, ...]) -> tuple[str, Period] | None:
        """Return the column and the period of a single key bin(…), None for other keys."""
        match [key.expression for key in self.keys]:
            case [Call(function="bin", arguments=[Period() as period])]:
                return columns[0], cap(period)
        return None

    def _check(self, names: Names) -> None:
        if self.offset and not any(_is_bin(key.expression) for key in self.keys):
            raise QueryError("offset needs stats with a key bin(…)", self.offset.span)
        if self.offset and milliseconds(self.offset) is None:
            raise QueryError("offset takes days or shorter", self.offset.span)
        earlier = names.seen.count("Stats")
        if earlier == MOST_STATS:
            raise QueryError(f"a query has at most {MOST_STATS} stats", self.span)
        if earlier == _LONG_DOCUMENTED:
            names.warn(
                self.span,
                f"the query has more than {_LONG_DOCUMENTED} stats, the number that AWS documents",
            )
        if earlier and {"Sort", "Limit", "Tail"} & set(names.seen):
            # AWS documentation, CloudWatch Logs Insights query syntax: stats.
            raise QueryError("sort and limit are accepted only after the last stats", self.span)

    def __str__(self) -> str:
        by = f" by {printing.items(self.keys)}" if self.keys else ""
        offset = f" offset {printing.expression(self.offset)}" if self.offset else ""
        return f"stats {printing.items(self.items)}{by}{offset}"


def _is_bin(key: Expression) -> bool:
    return isinstance(key, Call) and key.function == "bin"


@dataclass(frozen=True)
class Aggregate(Step):
    """A step that makes one row of all rows with the same ``keys``."""

    keys: tuple[str, ...]
    columns: Mapping[str, Call]

    @property
    def defines(self) -> frozenset[str]:
        """The columns of the aggregates; the keys keep their columns."""
        return frozenset(self.columns)

    @property
    def reads(self) -> frozenset[str]:
        """The columns of the keys and of the aggregates' arguments."""
        return frozenset(self.keys) | columns_of(*self.columns.values())

    @property
    def numbers(self) -> frozenset[str]:
        """The columns whose numbers are aggregated."""
        return frozenset(
            argument.column
            for call in self.columns.values()
            for place, argument in enumerate(call.arguments)
            if isinstance(argument, Column)
            and FUNCTIONS[call.function].reads_as(place) is Type.NUMBER
        )

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Write a GROUP BY clause."""
        values = {name: writer.value_of(call) for name, call in self.columns.items()}
        # Without input rows the result is empty, not one row of nulls.
        clause = f"GROUP BY {', '.join(self.keys)}" if self.keys else "HAVING count(*) > 0"
        writer.group(frozenset(self.keys), values, clause)
