"""The app as it is deployed: what a program outside of the cloud needs to know of its stack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# AWS documentation, "Understand CloudFormation stack creation events": in these a stack is whole.
_WHOLE = {
    "CREATE_COMPLETE",
    "UPDATE_COMPLETE",
    "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS",
    "UPDATE_ROLLBACK_COMPLETE",
    "IMPORT_COMPLETE",
}


class DeploymentFailed(RuntimeError):
    """A stack that cannot be made, or not be used as it is; says why."""


@dataclass(frozen=True)
class Stack:
    """A deployed stack."""

    arn: str
    """Its StackId, which no other stack has, not even of the same name."""
    outputs: Mapping[str, str]

    @property
    def state_machine(self) -> str:
        """ARN of the state machine of a run."""
        return self.outputs["StateMachine"]

    @property
    def bucket(self) -> str:
        """Name of the results bucket."""
        return self.outputs["ResultsBucket"]


def find_stack(cloudformation: Any, name: str) -> Stack:  # noqa: ANN401 (boto3 makes its clients at run time)
    """Return a stack by its name or ARN.

    Raises
    ------
    DeploymentFailed
        If it is not whole: it is being made, changed or deleted, or that failed.
    botocore.exceptions.ClientError
        If it is not there.

    """
    (stack,) = cloudformation.describe_stacks(StackName=name)["Stacks"]
    if stack["StackStatus"] not in _WHOLE:
        raise DeploymentFailed(f"stack {name} is {stack['StackStatus']}")
    outputs = {output["OutputKey"]: output["OutputValue"] for output in stack.get("Outputs", ())}
    return Stack(stack["StackId"], outputs)
