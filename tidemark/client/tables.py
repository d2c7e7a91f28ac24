"""The tables of results: statements over them, and the saved queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from tidemark.model.checkout import ROOT

SAVED = ROOT / "queries" / "sql"
_ORDER = "\nORDER BY"

Value = str | int
EVERYTHING: Mapping[str, Value] = {}


class StatementFailed(RuntimeError):
    """A statement that Athena refused or that failed; the message is Athena's reason."""


@dataclass(frozen=True)
class Answer:
    """The answer to a statement: rows with a text for each column, None for NULL."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str | None]]
    bytes_scanned: int
    milliseconds: int
    """The time that the engine took [ms]."""

    def records(self) -> list[dict[str, str | None]]:
        """Return the rows by column name."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


class Tables(Protocol):
    """The tables of one stack."""

    def ask(self, statement: str, parameters: Sequence[Value] = ()) -> Answer:
        """Return the answer to a statement; each ``?`` in it stands for a parameter.

        Raises
        ------
        StatementFailed
            If Athena refuses the statement or the statement fails.

        """


def ask_saved(
    tables: Tables, name: str, equal: Mapping[str, Value] = EVERYTHING, limit: int | None = None
) -> Answer:
    """Return the first ``limit`` rows of ``queries/sql/<name>.sql`` with the ``equal`` values."""
    text = (SAVED / f"{name}.sql").read_text(encoding="utf-8")
    # Trino sorts the outermost query only: the order of a query in brackets is lost.
    query, order = text.rsplit(_ORDER, 1)
    conditions = " AND ".join(f"{column} = ?" for column in equal) or "true"
    # The column names are our own; values from outside are parameters.
    statement = f"SELECT * FROM (\n{query}\n) WHERE {conditions}{_ORDER}{order}"  # noqa: S608
    if limit is not None:
        statement += f"LIMIT {limit}"
    return tables.ask(statement, list(equal.values()))


def literal(value: Value) -> str:
    """Return a value in the form of Athena's parameters: a text in single quotes."""
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)
