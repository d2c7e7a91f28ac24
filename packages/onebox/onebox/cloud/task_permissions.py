"""The permissions of ECS tasks: a system under test is not trusted.

A task may do what the deployed policies of its role allow with objects and buckets of S3, tables of
DynamoDB and queues of SQS. It may ask for its account, and nothing else. The managed policies and
the permissions boundary of a role are not read: those may allow or deny more, this allows less.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from moto.ecs.models import ecs_backends
from moto.iam.models import iam_backends

from onebox.account import ACCOUNT, REGION
from onebox.cloud.access_keys import access_key_id
from onebox.cloud.forbidden import Forbidden
from onebox.cloud.iam_actions import asks_who_it_is, permissions
from onebox.cloud.policy_evaluation import (
    Statement,
    Unsupported,
    allowed,
    read_statements,
)

if TYPE_CHECKING:
    from wsgiref.types import WSGIEnvironment


def check_task(environ: WSGIEnvironment, key_id: str) -> None:
    """Refuse a request that a task may not make; requests of others pass.

    Raises
    ------
    Forbidden
        If the access key belongs to a role of tasks, and the role is not allowed to do this or
        has a policy that is not supported.

    """
    if key_id not in _roles_of_tasks():
        return
    _check_place(environ)
    if asks_who_it_is(environ):
        return
    needed = permissions(environ)
    granted = _statements(key_id)
    lacking = [f"{one.action} on {one.resource}" for one in needed if not allowed(one, granted)]
    if lacking or not needed:
        request = f"{environ['REQUEST_METHOD']} {environ['REQUEST_URI']}"
        asked = lacking[0] if lacking else environ.get("HTTP_X_AMZ_TARGET", request)
        raise Forbidden("AccessDenied", f"The role {key_id} of a task is not allowed: {asked}.")


def _check_place(environ: WSGIEnvironment) -> None:
    """Refuse headers with which moto would use another account or region than the cloud's."""
    if "HTTP_X_MOTO_ACCOUNT_ID" in environ:
        raise Forbidden("AccessDenied", "The header X-Moto-Account-Id is not accepted from a task.")
    agent = environ.get("HTTP_USER_AGENT", "")
    if "region/" in agent:
        message = f"The User-Agent of a task is {agent!r}; accepted: one without 'region/'."
        raise Forbidden("AccessDenied", message)


def _roles_of_tasks() -> set[str]:
    families = list(ecs_backends[ACCOUNT][REGION].task_definitions.values())
    definitions = [each for revisions in families for each in list(revisions.values())]
    # A definition without a role has no such attribute in moto.
    arns = (getattr(definition, "task_role_arn", "") for definition in definitions)
    return {access_key_id(arn) for arn in arns if arn}


def _statements(role: str) -> list[Statement]:
    known = {each.name: each for each in list(iam_backends[ACCOUNT]["aws"].get_roles())}
    policies = list(known[role].policies.values()) if role in known else []
    try:
        return [statement for text in policies for statement in _supported(json.loads(text))]
    except Unsupported as error:
        message = f"The policies of the role {role} have {error}."
        raise Forbidden("AccessDenied", message) from None


def _supported(policy: dict[str, Any]) -> list[Statement]:
    statements = read_statements(policy)
    if any(each.effect == "Deny" and each.conditions for each in statements):
        # It would deny nothing by a key that requests do not have here.
        raise Unsupported("a Deny with a Condition; accepted: one without")
    return statements
