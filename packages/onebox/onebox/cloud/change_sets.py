"""Change sets that create stacks, which the CDK CLI deploys with; changes of stacks are refused.

moto executes a change set on a stack without a template, so that the stack has no outputs and no
exports. moto also reports deletions of resources (``deletions.py``) that it mostly leaves in place.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import NoReturn

from moto.cloudformation import parsing
from moto.cloudformation.exceptions import (
    AlreadyExistsException,
    CloudFormationError,
    ValidationError,
)
from moto.cloudformation.models import ChangeSet, CloudFormationBackend, Stack
from moto.cloudformation.responses import CloudFormationResponse
from moto.core.responses import ActionResult, EmptyResult

from onebox.cloud.deletions import RETAINED, Resources, delete_resources, refuse_undeletable
from onebox.cloud.replacements import Replacements

_EXECUTED = "EXECUTE_COMPLETE"
_PLANNED = "REVIEW_IN_PROGRESS"


class ChangeSetNotFound(CloudFormationError):
    """The answer of CloudFormation to the name of no change set; the CDK CLI expects it."""

    code = "ChangeSetNotFound"


class InvalidChangeSetStatus(CloudFormationError):
    """The answer of CloudFormation to the execution of what cannot be executed, or was."""

    code = "InvalidChangeSetStatus"


def replace_methods(replacements: Replacements) -> None:
    """Make change sets create stacks, and deletions delete resources."""

    def plan(backend: CloudFormationBackend, stack_name: str, **options: object) -> tuple[str, str]:
        for stack in _stacks_named(backend, stack_name):
            _check_name(backend, stack, options["change_set_name"])
        if options["change_set_type"] != "CREATE":
            _refuse("A change", stack_name)
        _discard_planned(backend, stack_name)
        ids: tuple[str, str] = original_create(backend, stack_name, **options)
        return ids

    def delete(backend: CloudFormationBackend, name_or_stack_id: str) -> None:
        for stack in _stacks_named(backend, name_or_stack_id):
            if stack.enable_termination_protection:
                raise ValidationError(
                    message=f"Stack [{stack.name}] cannot be deleted while TerminationProtection "
                    "is enabled"
                )
            _check_exports_unused(backend, stack)
            # moto forgets the stack before it deletes the resources.
            if stack.status != _PLANNED:
                refuse_undeletable(f"DeleteStack of {stack.name}", _going(stack))
            original_delete(backend, stack.stack_id)
            _forget_all(backend, stack)

    def delete_all(stack: Stack) -> None:
        if stack.status != _PLANNED:
            delete_resources(_going(stack), stack.resource_map)
        stack._add_stack_event("DELETE_COMPLETE")
        stack.status = "DELETE_COMPLETE"

    replacements.set(Stack, "delete", delete_all)
    original_create = replacements.set(CloudFormationBackend, "create_change_set", plan)
    original_delete = replacements.set(CloudFormationBackend, "delete_stack", delete)
    replacements.set(CloudFormationResponse, "describe_change_set", _describe)
    replacements.set(CloudFormationResponse, "execute_change_set", _execute)
    replacements.set(CloudFormationResponse, "delete_change_set", _forget)
    replacements.set(CloudFormationBackend, "update_stack", _update)
    replacements.set(CloudFormationResponse, "update_termination_protection", _protect)


def _going(stack: Stack) -> Resources:
    """Return the parts of a stack's template that are deleted with the stack."""
    parts = stack.template_dict["Resources"].items()
    return {key: part for key, part in parts if part.get("DeletionPolicy") not in RETAINED}


def _check_exports_unused(backend: CloudFormationBackend, stack: Stack) -> None:
    """Refuse to delete a stack while another stack imports one of its exports."""
    outputs = stack.template_dict.get("Outputs", {}).values()
    exports = [output["Export"]["Name"] for output in outputs if "Export" in output]
    names = {parsing.clean_json(name, stack.resource_map) for name in exports}
    for other in backend.stacks.values():
        imported = re.findall(r'"Fn::ImportValue": "([^"]+)"', json.dumps(other.template_dict))
        if used := sorted(names & {*imported}):
            raise ValidationError(
                message=f"Export {used[0]} cannot be deleted as it is in use by {other.name}"
            )


def _discard_planned(backend: CloudFormationBackend, name: str) -> None:
    """Delete a stack of which only a plan is there; refuse to create one that exists."""
    for stack in _stacks_named(backend, name):
        if stack.status != _PLANNED:
            raise ValidationError(message=f"Stack [{name}] already exists.")
        del backend.stacks[stack.stack_id]
        _forget_all(backend, stack)


def _check_name(backend: CloudFormationBackend, stack: Stack, name: object) -> None:
    """Refuse the name of a change set that a stack has and has not executed."""
    for change_set in _change_sets(backend, stack):
        if change_set.execution_status == _EXECUTED:
            del backend.change_sets[change_set.change_set_id]
        elif change_set.change_set_name == name:
            raise AlreadyExistsException(f"ChangeSet {name} already exists")


def _forget_all(backend: CloudFormationBackend, stack: Stack) -> None:
    """Delete the change sets of a stack, which are for its earlier state."""
    for change_set in _change_sets(backend, stack):
        del backend.change_sets[change_set.change_set_id]


def _change_sets(backend: CloudFormationBackend, stack: Stack) -> list[ChangeSet]:
    return [each for each in backend.change_sets.values() if each.stack_id == stack.stack_id]


def _describe(response: CloudFormationResponse) -> ActionResult:
    return ActionResult(_found(response))


def _execute(response: CloudFormationResponse) -> ActionResult:
    """Create the stack of a change set, with the id that its plan has."""
    backend, change_set = response.cloudformation_backend, _found(response)
    if change_set.execution_status != "AVAILABLE":
        raise InvalidChangeSetStatus(
            f"ChangeSet [{change_set.change_set_id}] cannot be executed in its current status of "
            f"[{change_set.execution_status}]"
        )
    stack = backend.stacks[change_set.stack_id]
    stack.cross_stack_resources = backend.exports
    _create(stack, change_set)
    backend.exports.update({export.name: export for export in stack.exports})
    change_set.execution_status = _EXECUTED
    _forget_all(backend, stack)
    backend.change_sets[change_set.change_set_id] = change_set
    return EmptyResult()


def _forget(response: CloudFormationResponse) -> ActionResult:
    """Delete a change set; do nothing if it does not exist."""
    with suppress(ChangeSetNotFound):
        del response.cloudformation_backend.change_sets[_found(response).change_set_id]
    return EmptyResult()


def _found(response: CloudFormationResponse) -> ChangeSet:
    """Return the change set of a request, by its ARN, or by its name and stack."""
    # moto looks for a name in all stacks.
    name, stack = response._get_param("ChangeSetName"), response._get_param("StackName")
    for arn, change_set in response.cloudformation_backend.change_sets.items():
        of_stack = stack in {change_set.stack_name, change_set.stack_id}
        if name == arn or (name == change_set.change_set_name and of_stack):
            return change_set
    raise ChangeSetNotFound(f"ChangeSet [{name}] does not exist")


def _create(stack: Stack, change_set: ChangeSet) -> None:
    stack.template = change_set.template
    stack._parse_template()
    stack.resource_map = stack._create_resource_map()
    stack.output_map = stack._create_output_map()
    stack._add_stack_event("CREATE_IN_PROGRESS", resource_status_reason="User Initiated")
    stack.create_resources()


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
    raise ValidationError(
        message=f"{action} of {stack} is not supported: on one machine a stack keeps its template; "
        "start another cloud, or delete the stack first."
    )
