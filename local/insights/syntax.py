"""What a query says: commands made of expressions, each with the place it was written at."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property


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
        """Return the line of the query with a caret under the column."""
        source = self._span.query.split("\n")[self.line - 1]
        # A tab stays a tab, so that the caret stands under its column whatever a tab's width is.
        margin = "".join("\t" if c == "\t" else " " for c in source[: self.column - 1])
        return f"{source}\n{margin}^"


@dataclass(frozen=True)
class Node:
    """Anything that was written at one place of the query."""

    span: Span

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


Expression = Number | Text | Regex | Period | Field | Column | Operation | Call


@dataclass(frozen=True)
class Item(Node):
    """An expression and the name that its value gets."""

    expression: Expression
    name: str


@dataclass(frozen=True)
class SortKey(Node):
    """What to sort by, and which way."""

    expression: Expression
    descending: bool


@dataclass(frozen=True)
class Fields(Node):
    """``fields a, b + c as d``."""

    items: tuple[Item, ...]


@dataclass(frozen=True)
class Display(Node):
    """``display a, b``."""

    items: tuple[Item, ...]


@dataclass(frozen=True)
class Filter(Node):
    """``filter a = 1``."""

    condition: Expression


@dataclass(frozen=True)
class ParseGlob(Node):
    """``parse source "a * b" as name``: one name for each star."""

    source: Expression
    glob: Text
    names: tuple[str, ...]


@dataclass(frozen=True)
class ParseRegex(Node):
    """``parse source /a (?<name>.) b/``."""

    source: Expression
    regex: Regex


@dataclass(frozen=True)
class Stats(Node):
    """``stats avg(a), count(*) by b``."""

    items: tuple[Item, ...]
    keys: tuple[Item, ...]


@dataclass(frozen=True)
class Sort(Node):
    """``sort a, b desc``."""

    keys: tuple[SortKey, ...]


@dataclass(frozen=True)
class Limit(Node):
    """``limit 20``."""

    count: int


@dataclass(frozen=True)
class Dedup(Node):
    """``dedup a, b``."""

    fields: tuple[Field, ...]


Command = Fields | Display | Filter | ParseGlob | ParseRegex | Stats | Sort | Limit | Dedup
