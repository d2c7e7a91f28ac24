"""Asking Athena, as any program outside the cloud would."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from local.stack import Stack
from suites.files import ROOT

SAVED = ROOT / "queries" / "sql"
_FIRST_POLL_SECONDS = 0.02
_POLL_GROWTH = 1.25  # nobody waits more than a fourth longer than the query takes
_SLOWEST_POLL_SECONDS = 1.0
_UNFINISHED = {"QUEUED", "RUNNING"}
_ORDER = "\nORDER BY"

Value = str | int
EVERYTHING: Mapping[str, Value] = {}


class StatementFailed(RuntimeError):
    """A statement that Athena refused or that failed; its text is Athena's reason."""


@dataclass(frozen=True)
class Answer:
    """What a statement gave: each row a value for each column, as text; None is NULL."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str | None]]
    bytes_scanned: int
    milliseconds: int
    """How long the engine took."""

    def records(self) -> list[dict[str, str | None]]:
        """Return the rows by column name."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


class SqlClient:
    """Athena over the tables of one deployed stack."""

    def __init__(self, client: Callable[[str], Any], stack: Stack) -> None:
        self._athena = client("athena")
        self._database = stack.outputs["Database"]
        self._workgroup = stack.outputs["WorkGroup"]

    def ask(self, statement: str, parameters: Sequence[Value] = ()) -> Answer:
        """Return the answer to a statement; each ``?`` in it stands for a parameter.

        Raises
        ------
        StatementFailed
            With Athena's reason.

        """
        try:
            query_id = self._start(statement, parameters)
        except self._athena.exceptions.InvalidRequestException as error:
            raise StatementFailed(error.response["Error"]["Message"]) from None
        statistics = self._await(query_id)
        pages = self._athena.get_paginator("get_query_results").paginate(QueryExecutionId=query_id)
        results = [page["ResultSet"] for page in pages]
        columns = [column["Name"] for column in results[0]["ResultSetMetadata"]["ColumnInfo"]]
        rows = [
            [cell.get("VarCharValue") for cell in row["Data"]]
            for result in results
            for row in result["Rows"]
        ]
        # The first row of a SELECT repeats the names of its columns.
        return Answer(
            columns,
            rows[1:],
            statistics["DataScannedInBytes"],
            statistics["EngineExecutionTimeInMillis"],
        )

    def saved(
        self, name: str, equal: Mapping[str, Value] = EVERYTHING, limit: int | None = None
    ) -> Answer:
        """Return the first rows of ``queries/sql/<name>.sql`` whose columns equal values."""
        text = (SAVED / f"{name}.sql").read_text(encoding="utf-8")
        # Trino sorts the outermost query only: the order of what is in brackets is lost.
        query, order = text.rsplit(_ORDER, 1)
        conditions = " AND ".join(f"{column} = ?" for column in equal) or "true"
        # Columns are our own words; what a person gave is a parameter.
        statement = f"SELECT * FROM (\n{query}\n) WHERE {conditions}{_ORDER}{order}"  # noqa: S608
        if limit is not None:
            statement += f"LIMIT {limit}"
        return self.ask(statement, list(equal.values()))

    def _start(self, statement: str, parameters: Sequence[Value]) -> str:
        literals = [_literal(value) for value in parameters]
        started = self._athena.start_query_execution(
            QueryString=statement,
            QueryExecutionContext={"Database": self._database},
            WorkGroup=self._workgroup,
            **({"ExecutionParameters": literals} if literals else {}),
        )
        return str(started["QueryExecutionId"])

    def _await(self, query_id: str) -> Mapping[str, int]:
        """Wait for the end of a query; return its statistics."""
        pause = _FIRST_POLL_SECONDS
        while True:
            execution = self._athena.get_query_execution(QueryExecutionId=query_id)[
                "QueryExecution"
            ]
            status = execution["Status"]
            if status["State"] == "SUCCEEDED":
                statistics: Mapping[str, int] = execution["Statistics"]
                return statistics
            if status["State"] not in _UNFINISHED:
                raise StatementFailed(status.get("StateChangeReason", status["State"]))
            time.sleep(pause)
            pause = min(_POLL_GROWTH * pause, _SLOWEST_POLL_SECONDS)


def _literal(value: Value) -> str:
    """Return a value as Athena takes an execution parameter: a text in single quotes."""
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)
