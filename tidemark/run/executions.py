"""The state of an execution: the fields of DescribeExecution and of the status change event."""

from datetime import datetime, timedelta
from typing import Literal

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from tidemark.run.ports import Executions
from tidemark.store.claims import Claim

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


def look_up(executions: Executions, arn: str) -> ExecutionState:
    """Return the current state of an execution."""
    description = executions.describe(arn)
    if description is None:
        return ExecutionState(execution_arn=arn, status="GONE")
    return ExecutionState.model_validate(description)


def with_cause(executions: Executions, state: ExecutionState) -> ExecutionState:
    """Return a state with its error and cause; the event of the end may lack them."""
    if state.error or state.cause:
        return state
    # DescribeExecution is eventually consistent: the status of the event is newer.
    return look_up(executions, state.execution_arn).model_copy(update={"status": state.status})


def holder(executions: Executions, claim: Claim, now: datetime) -> ExecutionState:
    """Return the state of a claim's execution: running if it is unknown and the claim is new."""
    state = look_up(executions, claim.execution_arn)
    if state.status == "GONE" and now - claim.claimed_at < _UNKNOWN_AT_FIRST:
        return state.model_copy(update={"status": "RUNNING"})
    return state
