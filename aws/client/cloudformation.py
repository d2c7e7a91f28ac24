"""Stacks of AWS CloudFormation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.client.ports import DeploymentFailed, Stack

if TYPE_CHECKING:
    from mypy_boto3_cloudformation import CloudFormationClient

# AWS documentation, "Understand CloudFormation stack creation events": the states of a whole stack.
_WHOLE = {
    "CREATE_COMPLETE",
    "UPDATE_COMPLETE",
    "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS",
    "UPDATE_ROLLBACK_COMPLETE",
    "IMPORT_COMPLETE",
}


def find_stack(cloudformation: CloudFormationClient, name: str) -> Stack:
    """Return a stack by its name or ARN.

    Raises
    ------
    DeploymentFailed
        If the stack is being created, changed or deleted, or if that failed.
    botocore.exceptions.ClientError
        If there is no such stack.

    """
    (stack,) = cloudformation.describe_stacks(StackName=name)["Stacks"]
    if stack["StackStatus"] not in _WHOLE:
        raise DeploymentFailed(f"stack {name} is {stack['StackStatus']}")
    outputs = {output["OutputKey"]: output["OutputValue"] for output in stack.get("Outputs", ())}
    return Stack(stack["StackId"], outputs)
