"""CloudFormation on one machine: moto's, with what it lacks added and its silence ended."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from moto.cloudformation import parsing
from moto.cloudformation.exceptions import ValidationError
from moto.cloudformation.models import Stack
from moto.cloudformation.parsing import ResourceMap
from moto.core.common_models import CloudFormationModel
from moto.iam.access_control import PermissionResult
from moto.logs.models import LogGroup
from moto.s3.models import FakeBucket

from local.cloud import (
    alarms,
    catalogue_types,  # noqa: F401 (moto finds its classes)
    change_sets,
    lifecycle,
    messaging_types,  # noqa: F401
    properties,
    schedule_types,  # noqa: F401
)
from local.cloud.replacements import Replacements
from suites.refusal import listed

_FAILED = "ROLLBACK_FAILED"


def install() -> Replacements:
    """Let a template fail that has a type nobody creates, and keep the names of buckets."""
    replacements = Replacements()
    _refuse_unsupported(replacements)
    _keep_names(replacements)
    _follow_policies(replacements)
    change_sets.replace_methods(replacements)
    alarms.replace_methods(replacements)
    lifecycle.replace_methods(replacements)
    return replacements


def _refuse_unsupported(replacements: Replacements) -> None:
    """Let a stack fail for what moto would leave out of it."""
    class_of = parsing.resource_class_from_type

    def known_class(resource_type: str) -> type[CloudFormationModel]:
        # moto only warns and reports CREATE_COMPLETE.
        if resource_type.startswith("Custom::") or not (found := class_of(resource_type)):
            raise ValidationError(message=f"{resource_type} is not supported on one machine.")
        return found

    def checked(resource: dict[str, Any], resources: ResourceMap) -> Any:  # noqa: ANN401 (moto's)
        found = parse(resource, resources)
        properties.check(resource["Type"], found[1]["Properties"])
        return found

    def create_all(stack: Stack) -> None:
        with ExitStack() as failed:
            failed.callback(setattr, stack, "status", _FAILED)
            create(stack)
            # moto reports success for less than was asked for.
            if missing := _not_created(stack):
                raise ValidationError(message=f"{listed(missing)} of {stack.name} was not created.")
            failed.pop_all()

    replacements.set(parsing, "resource_class_from_type", known_class)
    parse = replacements.set(parsing, "parse_resource", checked)
    create = replacements.set(Stack, "create_resources", create_all)


def _keep_names(replacements: Replacements) -> None:
    """Name what outlives the process, and what that names, alike in every process."""

    def stable_name(resource_type: str, stack_name: str, logical_id: str) -> str:
        # Results and logs outlive the process that made them, and claims name its executions.
        if resource_type == "AWS::S3::Bucket":
            # Once there was one stack: the results that it left are where they were.
            return f"{stack_name.removesuffix('-Data')}-{logical_id}"[:63].lower()
        if resource_type in {"AWS::Logs::LogGroup", "AWS::StepFunctions::StateMachine"}:
            return f"{stack_name}-{logical_id}"
        return str(name_of(resource_type, stack_name, logical_id))

    name_of = replacements.set(parsing, "generate_resource_name", stable_name)


def _follow_policies(replacements: Replacements) -> None:
    """Let policies name log groups as they do on AWS, and not refuse what they would not."""

    def log_group_attribute(group: LogGroup, name: str) -> str:
        # The ARN that a template is given has the streams with it, as the policies of logs do.
        value: str = attribute_of(group, name)
        return f"{value}:*" if name == "Arn" else value

    attribute_of = replacements.set(LogGroup, "get_cfn_attribute", log_group_attribute)
    # moto leaves a policy's conditions out, so that a refusal of plain HTTP refuses everything.
    replacements.set(FakeBucket, "get_permission", lambda *_: PermissionResult.NEUTRAL)


def _not_created(stack: Stack) -> list[str]:
    wanted = stack.template_dict["Resources"].items()
    return [f"{key} ({one['Type']})" for key, one in wanted if stack.resource_map[key] is None]
