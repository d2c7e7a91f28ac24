"""A deployed stack over boto3 clients of its cloud."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from aws.bucket import S3Bucket
from tidemark.client.deployed import Deployed, FunctionFailed, FunctionPublisher, Stack
from tidemark.client.runs import RunClient
from tidemark.client.tables import Answer, StatementFailed, Value, literal
from tidemark.model.refusal import Refused

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


_STOPPED = "Run.stopped"


class StepFunctionsMachines:
    """The state machines of one account and region."""

    def __init__(self, client: Any) -> None:  # noqa: ANN401 (boto3 makes its clients at run time)
        self._states = client

    def start(self, machine: str, name: str, execution_input: str) -> tuple[str, datetime]:
        """Start an execution of the machine with this ARN; return its own ARN and start in UTC."""
        arguments = {"name": name} if name else {}
        execution = self._states.start_execution(
            stateMachineArn=machine, input=execution_input, **arguments
        )
        return execution["executionArn"], execution["startDate"].astimezone(UTC)

    def status(self, execution: str) -> tuple[str, str]:
        """Return an execution's status and the cause of its failure, '' if there is none."""
        try:
            answer = self._states.describe_execution(executionArn=execution)
        except self._states.exceptions.ExecutionDoesNotExist:
            return "GONE", ""
        return answer["status"], answer.get("cause", "")

    def stop(self, execution: str, cause: str) -> None:
        """Stop an execution."""
        self._states.stop_execution(executionArn=execution, error=_STOPPED, cause=cause)

    def any_running(self, machine: str) -> bool:
        """Tell whether a state machine has a running execution."""
        answer = self._states.list_executions(stateMachineArn=machine, statusFilter="RUNNING")
        return bool(answer["executions"])

    def states_entered(self, execution: str) -> list[str] | None:
        """Return the names of the states that an execution entered, None if it does not exist."""
        try:
            history = self._states.get_execution_history(
                executionArn=execution, maxResults=1000, includeExecutionData=False
            )
        except self._states.exceptions.ExecutionDoesNotExist:
            return None
        return [
            event["stateEnteredEventDetails"]["name"]
            for event in history["events"]
            if "stateEnteredEventDetails" in event
        ]


class LambdaFunctions:
    """The functions of one account and region."""

    def __init__(self, client: Any) -> None:  # noqa: ANN401 (boto3 makes its clients at run time)
        self._lambda = client

    def invoke(self, name: str, event: Mapping[str, Any]) -> dict[str, Any]:
        """Return a function's answer to an event.

        Raises
        ------
        Refused
            If the function refused the event; the message is the function's.
        FunctionFailed
            If the function failed.

        """
        answer = self._lambda.invoke(FunctionName=name, Payload=json.dumps(event))
        payload: dict[str, Any] = json.loads(answer["Payload"].read())
        if "FunctionError" in answer:
            if payload["errorType"] == "Refused":
                raise Refused(payload["errorMessage"])
            raise FunctionFailed(
                f"{name} failed: {payload['errorType']}: {payload['errorMessage']}"
            )
        return payload

    def send(self, name: str, event: Mapping[str, Any]) -> None:
        """Send a function an event without waiting for it."""
        self._lambda.invoke(FunctionName=name, InvocationType="Event", Payload=json.dumps(event))


def deployed_stack(
    client: Callable[[str], Any],
    stack: Stack,
    poll_seconds: float,
    reported: Callable[[str], None] = lambda _: None,
) -> Deployed:
    """Return a deployed stack; ``client`` gives a boto3 client by the service's name.

    ``poll_seconds`` is the time between two requests for the state of a run [s]. ``reported`` is
    called with sentences about damaged objects that are read, and those that Athena adds to its
    answers.
    """
    machines = StepFunctionsMachines(client("stepfunctions"))
    functions = LambdaFunctions(client("lambda"))
    results = S3Bucket(client("s3"), stack.bucket, reported)
    database, workgroup = stack.outputs["Database"], stack.outputs["WorkGroup"]
    return Deployed(
        results,
        AthenaTables(client("athena"), database, workgroup, reported),
        FunctionPublisher(functions, machines, stack),
        RunClient(machines, functions, results, stack, poll_seconds),
        stack,
    )
