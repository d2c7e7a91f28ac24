"""How an execution stands: what DescribeExecution and the status change event both tell."""

from __future__ import annotations

from typing import Literal

from aws_lambda_powertools.utilities.parser import BaseModel
from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

from lambdas.aws import Executions


class ExecutionState(BaseModel):
    """An execution's status, and the error and cause that ended it, '' for none.

    Source: AWS Step Functions developer guide, "Automating Step Functions event delivery with
    EventBridge". ``GONE`` is ours: there is no such execution any more.
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
        """Whether it may still do something."""
        return self.status == "RUNNING"


def look_up(executions: Executions, arn: str) -> ExecutionState:
    """Return how an execution stands now."""
    described = executions.describe(arn)
    if described is None:
        return ExecutionState(execution_arn=arn, status="GONE")
    return ExecutionState.model_validate(described)


def explained(executions: Executions, state: ExecutionState) -> ExecutionState:
    """Return a state with its error and cause, which the event of its end may leave out."""
    if state.error or state.cause:
        return state
    # DescribeExecution is eventually consistent: of the status the event knows more.
    return look_up(executions, state.execution_arn).model_copy(update={"status": state.status})
