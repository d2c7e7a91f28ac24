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
from local.cloud.forbidden import Forbidden, signed_for_s3

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
    families = list(ecs_backends[ACCOUNT][REGION].task_definitions.values())
    definitions = [each for revisions in families for each in list(revisions.values())]
    # A definition without a role has no such attribute in moto.
    arns = (getattr(definition, "task_role_arn", "") for definition in definitions)
    return {access_key_id(arn) for arn in arns if arn}


def _allowed(environ: WSGIEnvironment, role: str) -> bool:
    action, uri = _ACTIONS.get(environ["REQUEST_METHOD"]), environ["REQUEST_URI"]
    copies = "HTTP_X_AMZ_COPY_SOURCE" in environ  # a copy reads another object
    if action is None or copies or not (signed_for_s3(environ) and _OBJECT.fullmatch(uri)):
        return False
    resource = f"arn:aws:s3:::{unquote(uri[1:])}"
    results = {IAMPolicy(text).is_action_permitted(action, resource) for text in _policies(role)}
    return PermissionResult.PERMITTED in results and PermissionResult.DENIED not in results


def _policies(role: str) -> list[str]:
    known = {each.name: each for each in list(iam_backends[ACCOUNT]["aws"].get_roles())}
    return list(known[role].policies.values()) if role in known else []
