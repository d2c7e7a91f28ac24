"""A deployed stack over boto3 clients of its cloud."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from aws.bucket import S3Bucket
from aws.client.athena import AthenaTables
from tidemark.client.deployed import Deployed
from tidemark.client.ports import FunctionFailed
from tidemark.client.publisher import FunctionPublisher
from tidemark.client.runs import RunClient
from tidemark.client.stack import Stack
from tidemark.model.refusal import Refused

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
