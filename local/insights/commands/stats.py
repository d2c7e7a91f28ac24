"""``stats``: one row of many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from local.insights import printing
from local.insights.expressions import Reader
from local.insights.names import Group, Names, Scope
from local.insights.periods import capped, milliseconds
from local.insights.plan import Step, columns_of
from local.insights.sql import Writer
from local.insights.syntax import (
    Call,
    Command,
    Expression,
    Item,
    Number,
    Operation,
    Period,
    QueryError,
    Span,
)

# How many stats a query may have. AWS documents two (CloudWatch Logs Insights query syntax: stats),
# and its newest announcements ten: a query with more than two gets a warning.
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
        """Read what follows the word ``stats``; people also write ``group by``."""
        items = reader.items()
        keys: tuple[Item, ...] = ()
        if reader.take_word("group"):
            reader.need_word("by")
            keys = reader.items()
        elif reader.take_word("by"):
            keys = reader.items()
        offset = reader.period() if reader.take_word("offset") else None
        return cls(reader.since(start), items, keys, offset)

    def resolve(self, names: Names) -> None:
        """Aggregate the rows, then compute what is made of aggregates.

        An item may use the keys and the items before it (AWS documentation, CloudWatch Logs
        Insights sample queries).
        """
        self._check(names)
        keys = {item.name: names.column(self._shifted(item.expression)) for item in self.keys}
        group = Group(Scope(dict(keys)), names.scope, {})
        derived: list[Step] = []
        for item in self.items:
            value = names.resolved(item.expression, group)
            group.scope.fields[item.name] = names.column_of(value, derived)
        if not group.aggregates:
            raise QueryError("stats takes at least one aggregate, such as count(*)", self.span)
        names.step(Aggregate(tuple(keys.values()), group.aggregates), *derived)
        names.begin_results(group.scope.fields, tuple((key, False) for key in keys.values()))
        names.bins = self._bins(names, tuple(keys.values()))

    def _shifted(self, key: Expression) -> Expression:
        """Return a key, later by the offset if it is bin(…)."""
        if self.offset is None or not _is_bin(key):
            return key
        length = Number(self.offset.span, milliseconds(self.offset) or 0)
        later = Operation(key.span, (key, length), "+")
        return Call(key.span, (later,), "frommillis")

    def _bins(self, names: Names, columns: tuple[str, ...]) -> tuple[str, Period] | None:
        """Return the column and the period of the only key, if that is bin(…)."""
        match [key.expression for key in self.keys]:
            case [Call(function="bin", arguments=[Period() as period])]:
                return columns[0], capped(period)
        return None

    def _check(self, names: Names) -> None:
        if self.offset and not any(_is_bin(key.expression) for key in self.keys):
            raise QueryError("offset follows stats by bin(…)", self.offset.span)
        if self.offset and milliseconds(self.offset) is None:
            raise QueryError("offset takes days or shorter", self.offset.span)
        earlier = names.seen.count("Stats")
        if earlier == MOST_STATS:
            raise QueryError(f"a query has at most {MOST_STATS} stats", self.span)
        if earlier == _LONG_DOCUMENTED:
            names.warn(
                self.span, f"AWS documents {_LONG_DOCUMENTED} stats a query, this is one more"
            )
        if earlier and {"Sort", "Limit", "Tail"} & set(names.seen):
            # AWS documentation, CloudWatch Logs Insights query syntax: stats.
            raise QueryError("sort and limit may follow the last stats only", self.span)

    def __str__(self) -> str:
        by = f" by {printing.items(self.keys)}" if self.keys else ""
        offset = f" offset {printing.expression(self.offset)}" if self.offset else ""
        return f"stats {printing.items(self.items)}{by}{offset}"


def _is_bin(key: Expression) -> bool:
    return isinstance(key, Call) and key.function == "bin"


@dataclass(frozen=True)
class Aggregate(Step):
    """Make one row of all rows that are equal in the columns ``keys``."""

    keys: tuple[str, ...]
    columns: Mapping[str, Call]

    @property
    def defines(self) -> frozenset[str]:
        """The aggregates; the keys keep their columns."""
        return frozenset(self.columns)

    @property
    def reads(self) -> frozenset[str]:
        """The keys, and what the aggregates use."""
        return frozenset(self.keys) | columns_of(*self.columns.values())

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Write a GROUP BY."""
        values = {name: writer.of(call) for name, call in self.columns.items()}
        # No row, instead of a row of nothing, when nothing was aggregated.
        clause = f"GROUP BY {', '.join(self.keys)}" if self.keys else "HAVING count(*) > 0"
        writer.group(frozenset(self.keys), values, clause)
