"""The update of a stack by a change set: in place, or by new resources, or refused by name.

An update changes nothing if it is refused for a type, or for a property that ``_updates`` or
``accepted_properties`` does not have. An update that fails later leaves UPDATE_ROLLBACK_FAILED, and
the stack takes no other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from moto.awslambda.models import LambdaFunction
from moto.cloudformation import parsing
from moto.cloudformation.exceptions import ValidationError
from moto.cloudformation.models import ChangeSet, Stack
from moto.core.common_models import CloudFormationModel
from moto.events.models import events_backends
from moto.glue.models import glue_backends
from moto.logs.models import logs_backends

from local.account import ACCOUNT, REGION
from local.cloud import accepted_properties
from local.cloud.deletions import RETAINED, delete_resources, refuse_undeletable
from local.cloud.stack_changes import ResourceChange, Resources

_OF_RULES = {"Description", "EventPattern", "ScheduleExpression", "State", "Targets"}
_OF_MACHINES = {
    "DefinitionString", "DefinitionSubstitutions", "LoggingConfiguration", "RoleArn",
    "TracingConfiguration",
}  # fmt: skip
_REPLACED = {"AWS::Athena::NamedQuery", "AWS::ECS::TaskDefinition"}
"""The types whose new resource may have the name of the old one: both are there for a moment."""


@dataclass(frozen=True)
class Changed:
    """A resource that changes in place."""

    resource: Any
    kind: Any
    """Its class."""
    part: Mapping[str, Any]
    """Its new part of the template, with values in place of references."""

    @property
    def name(self) -> str:
        """The name that the resource keeps."""
        return str(self.resource.physical_resource_id)


Update = Callable[[Changed], CloudFormationModel]
"""A function that changes a resource, and returns it."""


def update(stack: Stack, change_set: ChangeSet) -> None:
    """Change the resources of a stack as a change set says; the others keep what they hold.

    Raises
    ------
    ValidationError
        If a change is not supported; the stack is as before, unless its creation or change failed.

    """
    changes: Any = change_set.changes
    parts, resources = stack.template_dict["Resources"], stack.resource_map
    for change in changes:
        _refuse_unsupported(stack, change)
        if change.action != "Remove":
            _refuse_unknown(change_set.template_dict["Resources"][change.logical_resource_id])
    going = _going(parts, changes)
    refuse_undeletable(f"ExecuteChangeSet of {stack.name}", going)
    with ExitStack() as on_failure:
        on_failure.callback(setattr, stack, "status", "UPDATE_ROLLBACK_FAILED")
        stack._add_stack_event("UPDATE_IN_PROGRESS", resource_status_reason="User Initiated")
        _change(stack, change_set.template, changes)
        delete_resources(going, resources)
        on_failure.pop_all()
    stack.status = "UPDATE_COMPLETE"
    stack._add_stack_event("UPDATE_COMPLETE")


def _change(stack: Stack, template: str, changes: list[ResourceChange]) -> None:
    """Create the new resources of a stack, then change those that stay."""
    old = stack.resource_map
    stack.template = template
    stack._parse_template()
    stack.resource_map = new = stack._create_resource_map()
    created = {each.logical_resource_id for each in changes if each.is_replaced}
    kept = ({*new} & {*old}) - created
    new._parsed_resources |= {name: old[name] for name in kept}
    new.create(stack.template_dict)
    for change in changes:
        if change.action == "Modify" and change.logical_resource_id in kept:
            _modify(new, change)
    stack.output_map = stack._create_output_map()
    stack.description = stack.template_dict.get("Description")


def _modify(resources: Any, change: ResourceChange) -> None:  # noqa: ANN401 (moto's)
    name = change.logical_resource_id
    if change.properties:
        kind, part, _ = parsing.parse_resource(resources._resource_json_map[name], resources)
        put, _ = _updates()[change.resource_type]
        resource: Any = put(Changed(resources[name], kind, part))
        resource.cf_resource_type, resource.logical_resource_id = change.resource_type, name
        resources._parsed_resources[name] = resource


def _going(parts: Resources, changes: list[ResourceChange]) -> Resources:
    """Return the parts whose resources are deleted: not those that a policy retains."""
    return {
        name: parts[name]
        for change in changes
        for name in [change.logical_resource_id]
        if (change.action == "Remove" and parts[name].get("DeletionPolicy") not in RETAINED)
        or (change.is_replaced and parts[name].get("UpdateReplacePolicy") != "Retain")
    }


def _refuse_unsupported(stack: Stack, change: ResourceChange) -> None:
    name, kind = change.logical_resource_id, change.resource_type
    refused = f"ExecuteChangeSet of {stack.name} is not supported: one machine cannot"
    if change.is_replaced and kind not in _REPLACED:
        raise ValidationError(message=f"{refused} replace {name} ({kind}).")
    if change.replacement != "False":
        return
    _, supported = _updates().get(kind, (None, ()))
    for key in change.properties:
        if supported is not None and key not in supported:
            raise ValidationError(message=f"{refused} change {key} of {name} ({kind}).")


def _refuse_unknown(part: Mapping[str, Any]) -> None:
    parsing.resource_class_from_type(part["Type"])
    accepted_properties.check(part["Type"], part.get("Properties", {}))


def _updates() -> Mapping[str, tuple[Update, set[str] | None]]:
    """Return the update of each type that can change in place, and its properties; None: all."""
    return {
        "AWS::CloudWatch::Dashboard": (_put, None),
        "AWS::Events::Rule": (_replace_rule, _OF_RULES),
        "AWS::Glue::Table": (_replace_table, None),
        "AWS::IAM::Policy": (_by_its_class, None),
        "AWS::Lambda::Function": (_put_function, None),
        "AWS::Logs::LogGroup": (_put_retention, {"RetentionInDays"}),
        "AWS::Logs::QueryDefinition": (_put, None),
        "AWS::S3::BucketPolicy": (_put, None),
        "AWS::SNS::TopicPolicy": (_put, None),
        "AWS::SQS::QueuePolicy": (_put, None),
        "AWS::StepFunctions::StateMachine": (_by_its_class, _OF_MACHINES),
    }


def _put(changed: Changed) -> CloudFormationModel:
    """Create a resource again under its name, which changes the one that is there."""
    resource: CloudFormationModel = changed.kind.create_from_cloudformation_json(
        changed.name, changed.part, ACCOUNT, REGION
    )
    return resource


def _by_its_class(changed: Changed) -> CloudFormationModel:
    resource: CloudFormationModel = changed.kind.update_from_cloudformation_json(
        changed.resource, changed.name, changed.part, ACCOUNT, REGION
    )
    return resource


def _put_function(changed: Changed) -> CloudFormationModel:
    """Put a function's new code and settings; its permissions are resources of their own."""
    function = _put(changed)
    assert isinstance(function, LambdaFunction)
    function.policy = changed.resource.policy
    return function


def _put_retention(changed: Changed) -> CloudFormationModel:
    days = changed.part["Properties"].get("RetentionInDays")
    logs = logs_backends[ACCOUNT][REGION]
    logs.put_retention_policy(changed.name, days)
    return logs.groups[changed.name]


def _replace_rule(changed: Changed) -> CloudFormationModel:
    # A rule that is put again would keep the targets that it no longer has.
    targets = [target["Id"] for target in changed.resource.targets]
    events_backends[ACCOUNT][REGION].remove_targets(changed.name, None, targets)
    return _put(changed)


def _replace_table(changed: Changed) -> CloudFormationModel:
    database = changed.part["Properties"]["DatabaseName"]
    glue_backends[ACCOUNT][REGION].delete_table(database, changed.name)
    return _put(changed)
