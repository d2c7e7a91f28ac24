"""State machines of AWS Step Functions, as a client starts and follows them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

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
