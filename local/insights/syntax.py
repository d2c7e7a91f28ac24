"""What a query says: expressions, each with the place it was written at, and its errors."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from local.insights.names import Names
    from local.insights.plan import Plan


@dataclass(frozen=True)
class Span:
    """A part of a query's text, from ``start`` up to but not including ``end``."""

    query: str
    start: int
    end: int

    @property
    def text(self) -> str:
        """The characters of this part."""
        return self.query[self.start : self.end]

    @property
    def line(self) -> int:
        """The line of the first character, from 1."""
        return self.query.count("\n", 0, self.start) + 1

    @property
    def column(self) -> int:
        """The column of the first character, from 1."""
        return self.start - self.query.rfind("\n", 0, self.start)

    def to(self, other: Span) -> Span:
        """Return the part from here to the end of ``other``."""
        return Span(self.query, self.start, other.end)

    def __repr__(self) -> str:
        return f"{self.line}:{self.column}"


class QueryError(Exception):
    """A query that is not accepted.

    Attributes
    ----------
    message : str
        What is wrong and what would be accepted.
    line, column : int
        Where, from 1; a column counts characters.
    """

    def __init__(self, message: str, span: Span) -> None:
        self.message = message
        self.line = span.line
        self.column = span.column
        self._span = span
        super().__init__(f"line {self.line}, column {self.column}: {message}")

    def excerpt(self) -> str:
        """Return the line of the query with a caret under the column; '' if the line is blank."""
        source = self._span.query.split("\n")[self.line - 1]
        if not source.strip():
            return ""
        # A tab stays a tab, so that the caret stands under its column whatever a tab's width is.
        margin = "".join("\t" if c == "\t" else " " for c in source[: self.column - 1])
        return f"{source}\n{margin}^"


@dataclass(frozen=True)
class Node:
    """Anything that was written at one place of the query; equal wherever it was written."""

    span: Span = field(compare=False)

    @property
    def depth(self) -> int:
        """How many operations are nested in each other."""
        return 0


@dataclass(frozen=True)
class Number(Node):
    """``200`` or ``0.5``."""

    value: float


@dataclass(frozen=True)
class Text(Node):
    """``"to S3"``, without quotes and escapes."""

    value: str


@dataclass(frozen=True)
class Regex(Node):
    r"""``/Duration: (?<ms>\S+)/``, without slashes, otherwise as written."""

    pattern: str


@dataclass(frozen=True)
class Period(Node):
    """``5m``; the unit is one of `local.insights.periods`."""

    amount: int
    unit: str


@dataclass(frozen=True)
class Field(Node):
    """``@message``, ``requestParameters.userName`` or ```Duration (us)```."""

    name: str


@dataclass(frozen=True)
class Column(Node):
    """A field after its name was resolved."""

    column: str


@dataclass(frozen=True)
class Missing(Node):
    """A field that no row has."""


@dataclass(frozen=True)
class Attribute(Node):
    """``a.0.b`` of a column that holds a map or a list, after the name was resolved."""

    column: str
    path: str


@dataclass(frozen=True)
class _Application(Node):
    arguments: tuple[Expression, ...]

    @cached_property
    def depth(self) -> int:
        """How many operations are nested in each other."""
        return 1 + max((argument.depth for argument in self.arguments), default=0)


@dataclass(frozen=True)
class Operation(_Application):
    """``a + b``, ``a like "b"``, ``not a``; `local.insights.operators` lists them."""

    operator: str


@dataclass(frozen=True)
class Call(_Application):
    """``strlen(@message)``; ``count(*)`` has no arguments."""

    function: str


class Command(Node):
    """One command of a query; each kind stands in `local.insights.commands`, with how it is read.

    As text it is written as a query would.
    """

    def resolve(self, names: Names) -> None:
        """Say what the command does to the rows, by the names that it finds.

        Raises
        ------
        QueryError
            If a name means nothing, or the command stands where it may not.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class Subquery(Node):
    """``(SOURCE 'group' | fields a)``, after ``in``."""

    commands: tuple[Command, ...]

    @property
    def depth(self) -> int:
        """How many operations are nested in each other: those inside count for themselves."""
        return 0


@dataclass(frozen=True)
class Members(Node):
    """A subquery after its names were resolved: the values of one of its columns."""

    column: str
    plan: Plan


Expression = (
    Number
    | Text
    | Regex
    | Period
    | Field
    | Column
    | Missing
    | Attribute
    | Subquery
    | Members
    | Operation
    | Call
)


@dataclass(frozen=True)
class Item(Node):
    """An expression and the name that its value gets; ``aliased`` if the query says which."""

    expression: Expression
    name: str
    aliased: bool = field(compare=False)


@dataclass(frozen=True)
class SortKey(Node):
    """What to sort by, and which way."""

    expression: Expression
    descending: bool

    @property
    def direction(self) -> str:
        """``asc`` or ``desc``."""
        return "desc" if self.descending else "asc"
