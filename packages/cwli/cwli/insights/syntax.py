"""Syntax tree of a query, with the place of each node, and the errors of queries."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from cwli.insights.names import Names
    from cwli.insights.plan import Plan

# The characters of a line that are shown before and after an error.
_MOST_BEFORE, _MOST_AFTER = 500, 500


class Span(NamedTuple):
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
        The error and the accepted form.
    line, column : int
        The place of the error, from 1; a column counts characters.
    """

    def __init__(self, message: str, span: Span) -> None:
        self.message = message
        self.line = span.line
        self.column = span.column
        self._span = span
        super().__init__(f"line {self.line}, column {self.column}: {message}")

    def excerpt(self) -> str:
        """Return the line of the query with a caret under the column, '' if the line is blank."""
        source = self._span.query.split("\n")[self.line - 1]
        if not source.strip():
            return ""
        first = max(0, self.column - _MOST_BEFORE)
        before, after = source[first : self.column - 1], source[self.column - 1 :][:_MOST_AFTER]
        # Tabs stay tabs, so that the caret is under its column for any width of a tab.
        margin = "".join("\t" if c == "\t" else " " for c in before)
        return f"{before}{after}\n{margin}^"


class LookupTableError(Exception):
    """A failure to read a lookup table."""


@dataclass(frozen=True)
class Node:
    """A part of a query; its place does not count when two nodes are compared."""

    span: Span = field(compare=False)

    @property
    def depth(self) -> int:
        """The number of levels of nested operations."""
        return 0


@dataclass(frozen=True)
class Number(Node):
    """``200`` or ``0.5``; an ``int`` is an integer that a double may not hold."""

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
    """``5m``; the unit is one of `cwli.insights.times`."""

    amount: int
    unit: str


@dataclass(frozen=True)
class Field(Node):
    """``@message``, ``requestParameters.userName`` or ```Duration (us)```.

    ``path`` is the name with backticks around each key that the query has in them: AWS's names of
    JSON fields have a dot between keys, and a key may contain dots itself.
    """

    name: str
    path: str = ""


@dataclass(frozen=True)
class Column(Node):
    """A field with its name resolved."""

    column: str


@dataclass(frozen=True)
class Missing(Node):
    """A field that no row has."""


@dataclass(frozen=True)
class Attribute(Node):
    """``a.0.b`` in a column that holds a map or a list, with the name resolved."""

    column: str
    path: str


@dataclass(frozen=True)
class _Application(Node):
    arguments: tuple[Expression, ...]

    @cached_property
    def depth(self) -> int:
        """The number of levels of nested operations."""
        return 1 + max((argument.depth for argument in self.arguments), default=0)


@dataclass(frozen=True)
class Operation(_Application):
    """``a + b``, ``a like "b"``, ``not a``; `cwli.insights.values` lists them."""

    operator: str


@dataclass(frozen=True)
class Call(_Application):
    """``strlen(@message)``; ``count(*)`` has no arguments."""

    function: str


class Command(Node):
    """One command of a query; `cwli.insights.commands` defines and reads each kind."""

    @property
    def kind(self) -> str:
        """The name of the class: its module is imported only with a query that needs it."""
        return type(self).__name__

    def resolve(self, names: Names) -> None:
        """Add the steps of the command to ``names``, and the names that it defines.

        Raises
        ------
        QueryError
            If a name is unknown, or the command is not accepted at its place.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class Subquery(Node):
    """``(SOURCE 'group' | fields a)``, after ``in``."""

    commands: tuple[Command, ...]

    @property
    def depth(self) -> int:
        """The number of levels of nested operations; the levels of the subquery do not count."""
        return 0


@dataclass(frozen=True)
class Members(Node):
    """The values of one column of a subquery, with its names resolved."""

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
    """An expression and the name of its value."""

    expression: Expression
    name: str


@dataclass(frozen=True)
class SortKey(Node):
    """An expression to sort by, and its direction."""

    expression: Expression
    descending: bool


def source_name(node: Node) -> str:
    """Return the name of an expression's value when the query gives it no alias."""
    return node.name if isinstance(node, Field) else " ".join(node.span.text.split())
