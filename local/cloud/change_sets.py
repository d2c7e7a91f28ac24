"""Change sets, which the CDK CLI deploys with: executed as in CloudFormation, or refused.

moto executes a change set on a stack without a template, so that the stack has no outputs and no
exports. moto also reports updates (``updates.py``) and deletions (``deletions.py``) of resources
that it mostly leaves unchanged.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any, NoReturn

from moto.cloudformation.exceptions import (
    AlreadyExistsException,
    CloudFormationError,
    ValidationError,
)
from moto.cloudformation.models import ChangeSet, CloudFormationBackend, Stack
from moto.cloudformation.responses import CloudFormationResponse
from moto.core.responses import ActionResult, EmptyResult

from local.cloud import exports
from local.cloud.deletions import RETAINED, delete_resources, refuse_undeletable
from local.cloud.replacements import Replacements
from local.cloud.stack_changes import (
    ResourceChange,
    Resources,
    UnknownChange,
    changes_between,
)
from local.cloud.updates import update

_EXECUTED = "EXECUTE_COMPLETE"
_PLANNED = "REVIEW_IN_PROGRESS"
_UNCHANGED = (
    "The submitted information didn't contain changes. Submit different information to create a "
    "change set."
)


_CHANGEABLE = {"CREATE_COMPLETE", "UPDATE_COMPLETE"}
_WITHOUT_EFFECT = ("Conditions", "Mappings", "Parameters", "Rules", "Transform")
"""The parts of a template whose change ``changes_between`` does not see."""


class ChangeSetNotFound(CloudFormationError):
    """The answer of CloudFormation to the name of no change set; the CDK CLI expects it."""

    code = "ChangeSetNotFound"


class InvalidChangeSetStatus(CloudFormationError):
    """The answer of CloudFormation to the execution of what cannot be executed, or was."""

    code = "InvalidChangeSetStatus"


def replace_methods(replacements: Replacements) -> None:
    """Make change sets create and change stacks, and deletions delete resources."""

    def plan(backend: CloudFormationBackend, stack_name: str, **options: object) -> tuple[str, str]:
        for stack in _stacks_named(backend, stack_name):
            _check_name(backend, stack, options["change_set_name"])
        if options["change_set_type"] == "CREATE":
            _discard_planned(backend, stack_name)
        else:
            stack = backend.get_stack(stack_name)
            _check_whole(stack)
            _check_same_inputs(stack, options)
        ids: tuple[str, str] = original_create(backend, stack_name, **options)
        _note_without_changes(backend.change_sets[ids[0]])
        return ids

    def delete(backend: CloudFormationBackend, name_or_stack_id: str) -> None:
        for stack in _stacks_named(backend, name_or_stack_id):
            if stack.enable_termination_protection:
                raise ValidationError(
                    message=f"Stack [{stack.name}] cannot be deleted while TerminationProtection "
                    "is enabled"
                )
            exports.check_deletion(backend, stack)
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
    replacements.set(ChangeSet, "diff", _diff)
    replacements.set(CloudFormationResponse, "describe_change_set", _describe)
    replacements.set(CloudFormationResponse, "execute_change_set", _execute)
    replacements.set(CloudFormationResponse, "delete_change_set", _forget)
    replacements.set(CloudFormationBackend, "update_stack", _update)
    replacements.set(CloudFormationResponse, "update_termination_protection", _protect)


def _going(stack: Stack) -> Resources:
    """Return the parts of a stack's template that are deleted with the stack."""
    parts = stack.template_dict["Resources"].items()
    return {key: part for key, part in parts if part.get("DeletionPolicy") not in RETAINED}


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


def _check_whole(stack: Stack) -> None:
    """Refuse to change a stack that is not as its template says."""
    if stack.status not in _CHANGEABLE:
        raise ValidationError(
            message=f"Stack:{stack.stack_id} is in {stack.status} state and can not be updated."
        )


def _check_same_inputs(stack: Stack, options: dict[str, Any]) -> None:
    """Refuse what changes more than resources and outputs; leave the parameters as they are."""
    known = {**stack.stack_parameters, **stack.parameters}
    if options["parameters"].items() - known.items():
        _refuse("A change of the parameters", stack.name)
    if options["tags"] != stack.tags:
        _refuse("A change of the tags", stack.name)
    old, new = stack.template_dict, Stack.parse_template(options["template"])
    for part in _WITHOUT_EFFECT:
        if old.get(part) != new.get(part):
            _refuse(f"A change of {part}", stack.name)
    options["parameters"] = stack.parameters


def _note_without_changes(change_set: ChangeSet) -> None:
    """Make a change set fail whose template is that of its stack, as CloudFormation does."""
    if change_set.template_dict == change_set.stack.template_dict:
        change_set.status, change_set.execution_status = "FAILED", "UNAVAILABLE"
        change_set.status_reason = _UNCHANGED


def _diff(change_set: ChangeSet) -> list[ResourceChange]:
    """Return the changes of a change set, as DescribeChangeSet lists them."""
    resources: Any = change_set.stack.resource_map
    old = change_set.stack.template_dict.get("Resources", {})
    try:
        changes = changes_between(old, change_set.template_dict["Resources"])
    except UnknownChange as error:
        raise ValidationError(message=str(error)) from None
    return [
        # moto's permissions of functions have no id.
        replace(change, physical_resource_id=getattr(resources[name], "physical_resource_id", None))
        if (name := change.logical_resource_id) in old
        else change
        for change in changes
    ]


def _describe(response: CloudFormationResponse) -> ActionResult:
    return ActionResult(_found(response))


def _execute(response: CloudFormationResponse) -> ActionResult:
    """Create or change the stack of a change set; a new one has the id that its plan has."""
    backend, change_set = response.cloudformation_backend, _found(response)
    if change_set.execution_status != "AVAILABLE":
        raise InvalidChangeSetStatus(
            f"ChangeSet [{change_set.change_set_id}] cannot be executed in its current status of "
            f"[{change_set.execution_status}]"
        )
    stack = backend.stacks[change_set.stack_id]
    stack.cross_stack_resources = backend.exports
    if change_set.change_set_type == "CREATE":
        _create(stack, change_set)
    else:
        _check_whole(stack)
        exports.check_update(backend, stack, change_set)
        update(stack, change_set)
    exports.replace_exports(backend, stack)
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
        message=f"{action} of {stack} is not supported on one machine; accepted: a change set with "
        "another template."
    )
