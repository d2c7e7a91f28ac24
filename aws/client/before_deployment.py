"""Check the account before a deployment: no run is active, and ECS has its role.

A deployment replaces task definitions, and ECS runs no task of a replaced one: an active run would
lose the trials that were prepared before.

ECS creates its role with the first cluster of an account, but that cluster may fail meanwhile:
"Unable to assume the service linked role" (aws/containers-roadmap#2614). A template cannot own it,
since AWS::IAM::ServiceLinkedRole fails if the role exists.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from tidemark.model.checkout import written_stack

if TYPE_CHECKING:
    from mypy_boto3_cloudformation import CloudFormationClient
    from mypy_boto3_iam import IAMClient
    from mypy_boto3_stepfunctions import SFNClient

_ROLE = "AWSServiceRoleForECS"
_SERVICE = "ecs.amazonaws.com"


def ensure_role(iam: IAMClient) -> bool:
    """Create the role unless the account has it; tell whether it was created."""
    try:
        iam.get_role(RoleName=_ROLE)
    except iam.exceptions.NoSuchEntityException:
        iam.create_service_linked_role(AWSServiceName=_SERVICE)
        return True
    return False


def active_runs(
    cloudformation: CloudFormationClient, states: SFNClient, stack: str
) -> Sequence[str]:
    """Return the ARNs of the executions of a stack's runs that have not ended."""
    try:
        (found,) = cloudformation.describe_stacks(StackName=stack)["Stacks"]
    except ClientError as error:
        if "does not exist" in error.response["Error"]["Message"]:
            return ()
        raise
    outputs = {each["OutputKey"]: each["OutputValue"] for each in found.get("Outputs", ())}
    if "StateMachine" not in outputs:
        return ()
    machine = outputs["StateMachine"]
    running = states.list_executions(stateMachineArn=machine, statusFilter="RUNNING")
    return [each["executionArn"] for each in running["executions"]]


def main(arguments: Sequence[str]) -> int:
    """Check the account of the CDK's arguments; return the exit code.

    It is 2 while a run is active, or if nobody can know. A refused call for the role is accepted:
    the account may have it, and the CDK's roles may do more.
    """
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--profile")
    parser.add_argument("--during-runs", action="store_true")
    parser.add_argument("-c", "--context", action="append", default=[])
    options, _ = parser.parse_known_args(arguments)
    named = dict(each.partition("=")[::2] for each in options.context)
    stack = named.get("stackName") or written_stack()
    region = os.environ.get("AWS_REGION")
    try:
        session = boto3.Session(profile_name=options.profile, region_name=region)
        cloudformation, states = session.client("cloudformation"), session.client("stepfunctions")
        runs = () if options.during_runs else active_runs(cloudformation, states, stack)
    except (BotoCoreError, ClientError) as error:
        print(
            f"make: whether a run of {stack} is active is not known: {error}. DURING_RUNS=yes "
            "deploys without the answer",
            file=sys.stderr,
        )
        return 2
    if runs:
        print(
            f"make: {runs[0]} is active, and would lose the trials that are prepared: wait for "
            "its end, stop it with `tidemark stop --aws`, or deploy with DURING_RUNS=yes",
            file=sys.stderr,
        )
        return 2
    try:
        if ensure_role(session.client("iam")):
            print(f"The account has the role {_ROLE} from now on.")
    except (BotoCoreError, ClientError) as error:
        print(
            f"make: whether the account has the role {_ROLE} is not known: {error}. If the "
            f"cluster fails: aws iam create-service-linked-role --aws-service-name {_SERVICE}",
            file=sys.stderr,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
