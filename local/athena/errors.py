"""What goes wrong with a query, in the words that Athena uses where it has some."""

from __future__ import annotations

from sqlglot import exp


class QueryError(Exception):
    """A query that cannot be answered; the text is what Athena gives as StateChangeReason.

    Parameters
    ----------
    code
        Athena's (Trino's) name of the error, such as ``TYPE_MISMATCH``, '' if it gives none;
        ``NOT_SUPPORTED`` for what Athena would do and one machine does not.
    text
        What is wrong, one sentence.
    near
        What it is about, if the query has it: its place begins the text.
    """

    def __init__(self, code: str, text: str, near: exp.Expr | None = None) -> None:
        place = _place(near) if near is not None else None
        where = f"line {place[0]}:{place[1]}" if place else ""
        super().__init__(": ".join(part for part in (code, where, text) if part))


class MalformedQuery(QueryError):
    """A text that is not one query; Athena refuses to start it."""


class ScanLimitExceeded(QueryError):
    """A query that would read more bytes than it may; Athena cancels it."""

    def __init__(self) -> None:
        super().__init__("", "Bytes scanned limit was exceeded")


def not_supported(what: str, near: exp.Expr | None = None) -> QueryError:
    """Return the refusal of what Athena would do."""
    return QueryError("NOT_SUPPORTED", f"{what} is not supported on one machine", near)


def _place(node: exp.Expr) -> tuple[int, int] | None:
    """Return the line and the column, both from 1, where the leftmost name of a node begins."""
    tokens = [part.meta for part in node.walk() if "start" in part.meta]
    if not tokens:
        return None
    first = min(tokens, key=lambda token: token["start"])
    return first["line"], first["col"] - (first["end"] - first["start"])
