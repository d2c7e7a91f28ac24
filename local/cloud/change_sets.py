"""Change sets, which the CDK CLI deploys with: executed as in CloudFormation, or refused.

moto executes a change set on a stack without a template, so that the stack has no outputs and no
exports. moto also reports updates of resources that it mostly leaves unchanged, and deletions
(``deletions.py``).
"""

from __future__ import annotations

import json
import re
from typing import NoReturn

from moto.cloudformation.exceptions import ValidationError
from moto.cloudformation.models import CloudFormationBackend, Stack
from moto.cloudformation.responses import CloudFormationResponse
from moto.core.responses import ActionResult

from local.cloud.deletions import delete_resources
from local.cloud.replacements import Replacements

_PLANNED = "REVIEW_IN_PROGRESS"
_ONCE = "one machine never changes a stack; `tidemark up --empty` starts anew"


def replace_methods(replacements: Replacements) -> None:
    """Make change sets create stacks, and deletions delete resources; refuse to change a stack."""

    def plan(backend: CloudFormationBackend, stack_name: str, **options: object) -> tuple[str, str]:
        if options["change_set_type"] == "CREATE":
            for stack in _stacks_named(backend, stack_name):
                if stack.status != _PLANNED:
                    raise ValidationError(message=f"Stack [{stack_name}] already exists.")
                del backend.stacks[stack.stack_id]
        ids: tuple[str, str] = original_create(backend, stack_name, **options)
        return ids

    def delete(backend: CloudFormationBackend, name_or_stack_id: str) -> None:
        for stack in _stacks_named(backend, name_or_stack_id):
            if stack.enable_termination_protection:
                raise ValidationError(
                    message=f"Stack [{stack.name}] cannot be deleted while TerminationProtection "
                    "is enabled"
                )
            _check_unused(backend, stack)
            original_delete(backend, stack.stack_id)

    def delete_all(stack: Stack) -> None:
        if stack.status != _PLANNED:
            delete_resources(stack)
        stack._add_stack_event("DELETE_COMPLETE")
        stack.status = "DELETE_COMPLETE"

    replacements.set(Stack, "delete", delete_all)
    original_create = replacements.set(CloudFormationBackend, "create_change_set", plan)
    original_delete = replacements.set(CloudFormationBackend, "delete_stack", delete)
    replacements.set(CloudFormationBackend, "execute_change_set", _execute)
    replacements.set(CloudFormationBackend, "delete_change_set", _forget)
    replacements.set(CloudFormationBackend, "update_stack", _update)
    replacements.set(CloudFormationResponse, "update_termination_protection", _protect)


def _check_unused(backend: CloudFormationBackend, stack: Stack) -> None:
    """Refuse to delete a stack while another imports one of its exports."""
    names = {export.name for export in stack.exports}
    for other in backend.stacks.values():
        imported = re.findall(r'"Fn::ImportValue": "([^"]+)"', json.dumps(other.template_dict))
        if used := sorted(names & {*imported}):
            raise ValidationError(
                message=f"Export {used[0]} cannot be deleted as it is in use by {other.name}"
            )


def _execute(
    backend: CloudFormationBackend, change_set_name: str, stack_name: str | None = None
) -> None:
    """Create the stack of a change set, under the id that its plan has."""
    change_set = backend.describe_change_set(change_set_name)
    assert change_set, "moto raises an error for an unknown change set"
    if change_set.change_set_type != "CREATE":
        _refuse("ExecuteChangeSet", change_set.stack_name)
    stack = backend.stacks[change_set.stack_id]
    stack.template = change_set.template
    stack._parse_template()
    stack.cross_stack_resources = backend.exports
    stack.resource_map = stack._create_resource_map()
    stack.output_map = stack._create_output_map()
    stack._add_stack_event("CREATE_IN_PROGRESS", resource_status_reason="User Initiated")
    stack.create_resources()
    backend.exports.update({export.name: export for export in stack.exports})
    change_set.execution_status = "EXECUTE_COMPLETE"


def _forget(backend: CloudFormationBackend, change_set_name: str) -> None:
    """Delete a change set by name or ARN; do nothing if it does not exist."""
    for arn, change_set in list(backend.change_sets.items()):
        if change_set_name in {arn, change_set.change_set_name}:
            del backend.change_sets[arn]


def _update(backend: CloudFormationBackend, name: str, **_: object) -> NoReturn:
    _refuse("UpdateStack", name)


def _protect(response: CloudFormationResponse) -> ActionResult:
    """Carry out UpdateTerminationProtection, which moto lacks."""
    name = response._get_param("StackName")
    stack = response.cloudformation_backend.get_stack(name)
    stack.enable_termination_protection = response._get_bool_param("EnableTerminationProtection")
    return ActionResult({"StackId": stack.stack_id})


def _stacks_named(backend: CloudFormationBackend, name_or_id: str) -> list[Stack]:
    stacks = backend.stacks.values()
    return [stack for stack in stacks if name_or_id in {stack.name, stack.stack_id}]


def _refuse(action: str, stack: str) -> NoReturn:
    raise ValidationError(message=f"{action} of {stack} is not supported: {_ONCE}.")
