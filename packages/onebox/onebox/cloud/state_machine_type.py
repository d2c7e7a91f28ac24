"""The CloudFormation type of Step Functions on one machine, with what moto's own ignores.

Source: AWS documentation, CloudFormation: AWS::StepFunctions::StateMachine.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moto.core.utils import pascal_to_camelcase, remap_nested_keys
from moto.stepfunctions.models import StateMachine, stepfunctions_backends
from moto.stepfunctions.utils import cfn_to_api_tags

from onebox.asl.payload import dump
from onebox.cloud.replacements import Replacements


def replace_methods(replacements: Replacements) -> None:
    """Make templates create state machines with all of their properties."""

    def attribute(machine: StateMachine, name: str) -> object:
        return machine.arn if name == "Arn" else attribute_of(machine, name)

    def has_attribute(name: str) -> bool:
        return name == "Arn" or bool(has_other(name))

    replacements.set(StateMachine, "create_from_cloudformation_json", classmethod(_create))
    attribute_of = replacements.set(StateMachine, "get_cfn_attribute", attribute)
    has_other = replacements.set(StateMachine, "has_cfn_attr", has_attribute)


def _create(
    _: type, /, name: str, template: dict[str, Any], account: str, region: str, **__: object
) -> StateMachine:
    properties = template["Properties"]
    return stepfunctions_backends[account][region].create_state_machine(
        properties.get("StateMachineName", name),
        _definition(properties),
        properties["RoleArn"],
        tags=cfn_to_api_tags(properties.get("Tags", [])),
        loggingConfiguration=_configuration(properties, "LoggingConfiguration"),
        tracingConfiguration=_configuration(properties, "TracingConfiguration"),
        sm_type=properties.get("StateMachineType"),
    )


def _definition(properties: Mapping[str, Any]) -> str:
    definition: str = properties["DefinitionString"]
    for key, value in properties.get("DefinitionSubstitutions", {}).items():
        text = value if isinstance(value, str) else dump(value)
        definition = definition.replace(f"${{{key}}}", text)
    return definition


def _configuration(properties: Mapping[str, Any], name: str) -> Any:  # noqa: ANN401 (moto's)
    return remap_nested_keys(properties.get(name), pascal_to_camelcase)
