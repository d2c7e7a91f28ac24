"""The permissions of ECS tasks: a system under test is not trusted.

A task may read and store whole objects where the deployed policies of its role allow it, and do
nothing else. Here moto evaluates those policies; on AWS it is IAM.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from moto.ecs.models import ecs_backends
from moto.iam.access_control import IAMPolicy, PermissionResult
from moto.iam.models import iam_backends

from local.account import ACCOUNT, REGION
from local.cloud.access_keys import access_key_id
from local.cloud.refusals import Forbidden

if TYPE_CHECKING:
    from wsgiref.types import WSGIEnvironment

_ACTIONS = {"GET": "s3:GetObject", "HEAD": "s3:GetObject", "PUT": "s3:PutObject"}
_OBJECT = re.compile(r"/[^/?]+/[^?]+")  # a query would name another action


def check_task(environ: WSGIEnvironment, key_id: str) -> None:
    """Refuse a request that a task may not make; requests of others pass.

    Raises
    ------
    Forbidden
        If the access key belongs to a role of tasks, and the role is not allowed to do this.

    """
    if key_id in _roles_of_tasks() and not _allowed(environ, key_id):
        request = f"{environ['REQUEST_METHOD']} {environ['REQUEST_URI']}"
        raise Forbidden("AccessDenied", f"The role {key_id} of a task is not allowed: {request}.")


def _roles_of_tasks() -> set[str]:
    families = ecs_backends[ACCOUNT][REGION].task_definitions.values()
    # A definition without a role has no such attribute in moto.
    return {
        access_key_id(definition.task_role_arn)
        for revisions in families
        for definition in revisions.values()
        if getattr(definition, "task_role_arn", "")
    }


def _allowed(environ: WSGIEnvironment, role: str) -> bool:
    service = "/s3/aws4_request" in environ["HTTP_AUTHORIZATION"]
    action = _ACTIONS.get(environ["REQUEST_METHOD"])
    # A copy reads another object.
    copies = "HTTP_X_AMZ_COPY_SOURCE" in environ
    if not service or action is None or copies or not _OBJECT.fullmatch(environ["REQUEST_URI"]):
        return False
    resource = f"arn:aws:s3:::{unquote(environ['REQUEST_URI'][1:])}"
    results = {IAMPolicy(text).is_action_permitted(action, resource) for text in _policies(role)}
    return PermissionResult.PERMITTED in results and PermissionResult.DENIED not in results


def _policies(role: str) -> list[str]:
    iam = iam_backends[ACCOUNT]["aws"]
    known = {each.name: each for each in iam.get_roles()}
    return list(known[role].policies.values()) if role in known else []
