"""Commands ``pattern`` and ``diff``: the structures that texts share, and their counts.

Source: AWS documentation, CloudWatch Logs Insights query syntax: pattern, diff.
"""

from __future__ import annotations

from dataclasses import dataclass

from cwli.insights import printing
from cwli.insights.clusters import without_variables
from cwli.insights.expressions import Reader
from cwli.insights.names import Names
from cwli.insights.plan import PERIODS, Comparison, Step, columns_of
from cwli.insights.sql import Writer
from cwli.insights.syntax import (
    Call,
    Column,
    Command,
    Expression,
    Field,
    Number,
    Operation,
    QueryError,
    Span,
    Text,
)
from cwli.insights.tokens import Kind
from cwli.insights.values import Type, Value

_SEEN = {"Pattern", "Diff"}


@dataclass(frozen=True)
class Pattern(Command):
    """``pattern @message``: a row for each pattern, the most frequent first."""

    source: Expression

    @classmethod
    def read(cls, reader: Reader, start: Span) -> Pattern:
        """Read the argument of ``pattern``."""
        source = reader.expression()
        return cls(reader.since(start), source)

    def resolve(self, names: Names) -> None:
        """Replace the rows by the patterns."""
        if _SEEN & set(names.seen):
            raise QueryError("a query takes only one pattern", self.span)
        names.warn(self.span, "pattern is an approximation; AWS does not publish its own")
        source = names.resolve(self.source)
        columns = (names.new_column() for _ in range(5))
        rows = Clusters(names.comparisons, source, *columns)
        names.step(rows)
        fields = {
            "@pattern": rows.pattern,
            "@ratio": rows.ratio,
            "@sampleCount": rows.count,
            "@severityLabel": rows.label,
        }
        names.begin_results(fields, rows.order)
        names.sort(((rows.count, True),))

    def __str__(self) -> str:
        return f"pattern {printing.expression(self.source)}"


@dataclass(frozen=True)
class Diff(Command):
    """``diff previousDay``: the patterns, and how many more events have each than earlier."""

    period: str

    @classmethod
    def read(cls, reader: Reader, start: Span) -> Diff:
        """Read the argument of ``diff``."""
        period = reader.one_of(*PERIODS) if reader.token.kind is Kind.NAME else ""
        return cls(reader.since(start), period)

    def resolve(self, names: Names) -> None:
        """Add the differences; without ``pattern``, find the patterns of the message first."""
        if not (_SEEN & set(names.seen) or names.before_stats):
            raise QueryError("diff must come before stats, or after pattern", self.span)
        if not _SEEN & set(names.seen):
            Pattern(self.span, Field(self.span, "@message")).resolve(names)
        rows = names.last_step()
        if not isinstance(rows, Clusters) or names.comparisons:
            raise QueryError("diff must follow pattern, and only once", self.span)
        names.comparisons.append(Comparison(self.span, self.period))
        count, earlier = Column(self.span, rows.count), Column(self.span, rows.earlier)
        difference = names.column(Operation(self.span, (count, earlier), "-"))
        fields = {
            "@pattern": rows.pattern,
            "@sampleCount": rows.count,
            "@differenceEventCount": difference,
            "@differenceDescription": names.column(_description(self.span, count, earlier)),
            "@severityLabel": rows.label,
        }
        size = names.column(Call(self.span, (Column(self.span, difference),), "abs"))
        names.begin_results(fields, rows.order)
        names.sort(((size, True),))

    def __str__(self) -> str:
        return f"diff {self.period}".rstrip()


def _description(span: Span, count: Column, earlier: Column) -> Expression:
    """Return the words for a change: new, gone, more, fewer, same."""
    none = Number(span, 0)
    cases = (
        (Operation(span, (earlier, none), "="), "new"),
        (Operation(span, (count, none), "="), "gone"),
        (Operation(span, (count, earlier), ">"), "more"),
        (Operation(span, (count, earlier), "<"), "fewer"),
    )
    branches = (part for condition, word in cases for part in (condition, Text(span, word)))
    return Call(span, (*branches, Text(span, "same")), "case")


@dataclass(frozen=True)
class Clusters(Step):
    """A step that makes one row of all texts with the same structure, in five columns.

    ``comparisons`` has the comparison with an earlier time range, if a later ``diff`` adds one;
    ``earlier`` is the number of the events in that range.
    """

    comparisons: list[Comparison]
    source: Expression
    pattern: str
    ratio: str
    count: str
    label: str
    earlier: str

    @property
    def order(self) -> tuple[tuple[str, bool], ...]:
        """The order of patterns with equal counts."""
        return (self.pattern, False), (self.label, False)

    @property
    def defines(self) -> frozenset[str]:
        """The columns of the patterns."""
        return frozenset({self.pattern, self.ratio, self.count, self.label, self.earlier})

    @property
    def reads(self) -> frozenset[str]:
        """The columns of the texts, and the times of the events to compare."""
        return columns_of(self.source) | self._times

    @property
    def _times(self) -> frozenset[str]:
        return frozenset({"timestamp"} if self.comparisons else ())

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Count texts without their variables, and read the table of their patterns."""
        source = writer.text_column(self.source, self._times)
        template = writer.temporary()
        writer.define(self._times, {template: Value(without_variables(source), Type.TEXT)})
        numbers = {writer.temporary(): Value(sql, Type.NUMBER) for sql in self._counts()}
        writer.group(frozenset({template}), numbers, f"GROUP BY {template}")
        writer.define(frozenset({template, *numbers}), {}, f"WHERE {template} IS NOT NULL")
        writer.cluster(", ".join((template, *numbers)))
        columns = {
            self.pattern: Value("pattern", Type.TEXT),
            self.ratio: Value("n / sum(n) OVER ()", Type.NUMBER),
            self.count: Value("n", Type.NUMBER),
            self.label: Value("label", Type.TEXT),
            self.earlier: Value("earlier", Type.NUMBER),
        }
        writer.define(frozenset(), columns)

    def _counts(self) -> tuple[str, str]:
        """Return SQL for the number of events in the time range of the query, and earlier."""
        if not self.comparisons:
            return "count(*)", "0"
        now = "count(*) FILTER (WHERE timestamp >= getvariable('first_ms'))"
        return now, f"count(*) - {now}"
