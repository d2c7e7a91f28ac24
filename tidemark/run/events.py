"""Inputs that several functions take from the states: executions, runs, trials and failures."""

import json
import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

if TYPE_CHECKING:  # ClassifyStop starts without the store
    from tidemark.run.ports import Executions
    from tidemark.store.claims import Claim


class ExecutionEvent(BaseModel):
    """An execution: its ARN, name, start and input."""

    execution_arn: str
    execution_name: str
    started_at: datetime
    input: Any


class RunEvent(BaseModel):
    """A run, by its id."""

    run_id: str


class TrialEvent(RunEvent):
    """One trial of a run, or the trials of a round, whose versions take turns in its tasks."""

    trial: int
    """The trial; of a round the first one."""
    trials: tuple[int, ...] = ()
    """The trials of a round in their order; empty for a trial alone."""

    @property
    def every_trial(self) -> tuple[int, ...]:
        """All trials whose results the tasks have."""
        return self.trials or (self.trial,)


CUT_SHORT = "CutShort"
_DECIDED = {"Refused", CUT_SHORT}
_MESSAGE = re.compile(r'errorMessage\\*": *\\*"([^"\\]+)\\*"')


class Failure(BaseModel):
    """The ``$states.errorOutput`` of a Catch; the cause is a text, which may be JSON."""

    Error: str
    Cause: str = ""

    def __str__(self) -> str:
        """Return the failure in words: a Lambda function's own sentence if there is one."""
        message = _message(self.Cause)
        # Our own decisions have whole sentences, which need no name of the error.
        return message if self.Error in _DECIDED else f"{self.Error}: {message}"


def _message(cause: str) -> str:
    """Return a function's error message, a child execution's failure, or else the cause."""
    try:
        content = json.loads(cause)
    except (ValueError, RecursionError):
        # The state machine cuts the cause of a lost round, perhaps behind a function's own message.
        found = _MESSAGE.search(cause)
        return found[1] if found else cause
    match content:
        case {"errorMessage": message}:
            return str(message)
        case {"ExecutionArn": _, "Status": status}:
            # DescribeExecution's answer; a stopped child may have neither error nor cause.
            error, child_cause = content.get("Error") or status, content.get("Cause") or ""
            return str(Failure(Error=str(error), Cause=str(child_cause)))
    return cause


# AWS Step Functions API reference, DescribeExecution: "eventually consistent".
_UNKNOWN_AT_FIRST = timedelta(minutes=2)


class ExecutionState(BaseModel):
    """An execution's status, and the error and cause that ended it, '' for none.

    Source: AWS Step Functions developer guide, "Automating Step Functions event delivery with
    EventBridge". ``GONE`` is Tidemark's own: the execution does not exist any more.
    """

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True)

    execution_arn: str
    status: Literal[
        "RUNNING", "SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED", "PENDING_REDRIVE", "GONE"
    ]
    error: str | None = None
    cause: str | None = None

    @property
    def running(self) -> bool:
        """Whether the execution may still act."""
        return self.status == "RUNNING"


def look_up(executions: "Executions", arn: str) -> ExecutionState:
    """Return the current state of an execution."""
    description = executions.describe(arn)
    if description is None:
        return ExecutionState(execution_arn=arn, status="GONE")
    return ExecutionState.model_validate(description)


def with_cause(executions: "Executions", state: ExecutionState) -> ExecutionState:
    """Return a state with its error and cause; the event of the end may lack them."""
    if state.error or state.cause:
        return state
    # DescribeExecution is eventually consistent: the status of the event is newer.
    return look_up(executions, state.execution_arn).model_copy(update={"status": state.status})


def holder(executions: "Executions", claim: "Claim", now: datetime) -> ExecutionState:
    """Return the state of a claim's execution: running if it is unknown and the claim is new."""
    state = look_up(executions, claim.execution_arn)
    if state.status == "GONE" and now - claim.claimed_at < _UNKNOWN_AT_FIRST:
        return state.model_copy(update={"status": "RUNNING"})
    return state
