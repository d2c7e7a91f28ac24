"""The permissions of ECS tasks: a system under test is not trusted.

A task may do what the deployed policies of its role allow with objects of S3, tables of DynamoDB
and queues of SQS, and nothing else. Here moto evaluates those policies; on AWS it is IAM.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from moto.ecs.models import ecs_backends
from moto.iam.access_control import IAMPolicy, PermissionResult
from moto.iam.models import iam_backends

from local.account import ACCOUNT, REGION
from local.cloud.access_keys import access_key_id
from local.cloud.forbidden import Forbidden
from local.cloud.iam_actions import Permission, permissions

if TYPE_CHECKING:
    from wsgiref.types import WSGIEnvironment


def check_task(environ: WSGIEnvironment, key_id: str) -> None:
    """Refuse a request that a task may not make; requests of others pass.

    Raises
    ------
    Forbidden
        If the access key belongs to a role of tasks, and the role is not allowed to do this.

    """
    if key_id not in _roles_of_tasks():
        return
    needed = permissions(environ)
    lacking = [f"{one.action} on {one.resource}" for one in needed if not _allows(key_id, one)]
    if lacking or not needed:
        request = f"{environ['REQUEST_METHOD']} {environ['REQUEST_URI']}"
        asked = lacking[0] if lacking else environ.get("HTTP_X_AMZ_TARGET", request)
        raise Forbidden("AccessDenied", f"The role {key_id} of a task is not allowed: {asked}.")


def _roles_of_tasks() -> set[str]:
    families = list(ecs_backends[ACCOUNT][REGION].task_definitions.values())
    definitions = [each for revisions in families for each in list(revisions.values())]
    # A definition without a role has no such attribute in moto.
    arns = (getattr(definition, "task_role_arn", "") for definition in definitions)
    return {access_key_id(arn) for arn in arns if arn}


def _allows(role: str, needed: Permission) -> bool:
    results = {IAMPolicy(text).is_action_permitted(*needed) for text in _policies(role)}
    return PermissionResult.PERMITTED in results and PermissionResult.DENIED not in results


def _policies(role: str) -> list[str]:
    known = {each.name: each for each in list(iam_backends[ACCOUNT]["aws"].get_roles())}
    return list(known[role].policies.values()) if role in known else []
