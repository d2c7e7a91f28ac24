"""The role by which ECS manages the network of tasks: an account needs it before its first cluster.

ECS creates it with the first cluster, but that cluster may fail meanwhile: "Unable to assume the
service linked role" (aws/containers-roadmap#2614). A template cannot own it, since
AWS::IAM::ServiceLinkedRole fails if the role exists. `make deploy` runs this module.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import boto3
from botocore.exceptions import BotoCoreError, ClientError

if TYPE_CHECKING:
    from mypy_boto3_iam import IAMClient

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


def main(arguments: Sequence[str]) -> int:
    """Ensure the role in the account of the CDK's arguments; return the exit code.

    A refusal is no error: the account may have the role, and the CDK's roles may do more.
    """
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--profile")
    options, _ = parser.parse_known_args(arguments)
    try:
        if ensure_role(boto3.Session(profile_name=options.profile).client("iam")):
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
