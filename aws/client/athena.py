"""SQL statements in Amazon Athena."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tidemark.client.tables import Answer, StatementFailed, Value, literal

_FIRST_POLL_SECONDS = 0.02
_POLL_GROWTH = 1.25  # the wait is at most a fourth longer than the query
_SLOWEST_POLL_SECONDS = 1.0
_UNFINISHED = {"QUEUED", "RUNNING"}


class AthenaTables:
    """The tables of one database, queried in one workgroup.

    ``reported`` is called with the reason that Athena gives for the state of a query that
    succeeded: the one-machine cloud names damaged objects there.
    """

    def __init__(
        self,
        client: Any,  # noqa: ANN401 (boto3 makes its clients at run time)
        database: str,
        workgroup: str,
        reported: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._athena, self._database, self._workgroup = client, database, workgroup
        self._reported = reported

    def ask(self, statement: str, parameters: Sequence[Value] = ()) -> Answer:
        """Return the answer to a statement; each ``?`` in it stands for a parameter.

        Raises
        ------
        StatementFailed
            If Athena refuses the statement or cannot execute it; the message is Athena's reason.

        """
        try:
            query_id = self._start(statement, parameters)
        except self._athena.exceptions.InvalidRequestException as error:
            raise StatementFailed(error.response["Error"]["Message"]) from None
        try:
            statistics = self._await(query_id)
        except KeyboardInterrupt:
            # Athena would go on without its client.
            self._athena.stop_query_execution(QueryExecutionId=query_id)
            raise
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

    def _start(self, statement: str, parameters: Sequence[Value]) -> str:
        literals = [literal(value) for value in parameters]
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
                if reason := status.get("StateChangeReason"):
                    self._reported(reason)
                statistics: Mapping[str, int] = execution["Statistics"]
                return statistics
            if status["State"] not in _UNFINISHED:
                raise StatementFailed(status.get("StateChangeReason", status["State"]))
            time.sleep(pause)
            pause = min(_POLL_GROWTH * pause, _SLOWEST_POLL_SECONDS)
