"""The errors of queries, in the words of Athena if it has some."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp


_MOST_SHOWN = 1_000  # characters: a reason may name a word of the query, which may have 262,144
TOO_DEEP = "A query with this many brackets is not supported on one machine"


class QueryError(Exception):
    """A query that cannot be answered; the message is Athena's StateChangeReason.

    Parameters
    ----------
    code
        The name of the error in Athena (Trino), such as ``TYPE_MISMATCH``, '' if it has none;
        ``NOT_SUPPORTED`` for a feature of Athena that one machine lacks.
    text
        The problem in one sentence.
    near
        The part of the query with the problem, if known; the message names its place.
    """

    def __init__(self, code: str, text: str, near: exp.Expr | None = None) -> None:
        place = _place(near) if near is not None else None
        position = f"line {place[0]}:{place[1]}" if place else ""
        reason = ": ".join(part for part in (code, position, text) if part)
        rest = len(reason) - _MOST_SHOWN
        super().__init__(f"{reason[:_MOST_SHOWN]}… and {rest:,} more" if rest > 0 else reason)


class MalformedQuery(QueryError):
    """A text that is not one query; Athena refuses to start it."""


class ScanLimitExceeded(QueryError):
    """A query that would read more bytes than its limit; Athena cancels it."""

    def __init__(self) -> None:
        super().__init__("", "Bytes scanned limit was exceeded")


def not_supported(feature: str, near: exp.Expr | None = None) -> QueryError:
    """Return the error for a feature of Athena that one machine lacks."""
    return QueryError("NOT_SUPPORTED", f"{feature} is not supported on one machine", near)


def _place(node: exp.Expr) -> tuple[int, int] | None:
    """Return the line and the column, both from 1, of the leftmost name of a node."""
    tokens = [part.meta for part in node.walk() if "start" in part.meta]
    if not tokens:
        return None
    first = min(tokens, key=lambda token: token["start"])
    return first["line"], first["col"] - (first["end"] - first["start"])
