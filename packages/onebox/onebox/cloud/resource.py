"""CloudFormation types that moto lacks, each created by one function."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from moto.cloudformation.exceptions import ValidationError
from moto.core.common_models import CloudFormationModel


@dataclass(frozen=True)
class TemplateResource:
    """A resource of a template."""

    name: str
    """A unique name, for a resource without a name in the template."""
    properties: Mapping[str, Any]
    """Property values; numbers and booleans are texts in a template."""
    account: str
    region: str


# A function that creates a resource; it returns the Ref and, if any, the values for Fn::GetAtt.
Create = Callable[[TemplateResource], "str | tuple[str, Mapping[str, str]]"]


def refuse_unknown(kind: str, names: Collection[str], accepted: Collection[str]) -> None:
    """Refuse, by name, a property that has no effect."""
    if unknown := sorted(set(names) - set(accepted)):
        raise ValidationError(
            message=f"{unknown[0]} of {kind} is not supported on one machine; "
            f"accepted: {', '.join(sorted(accepted))}."
        )


def resource_type(
    kind: str, properties: Collection[str], attributes: Collection[str] = ()
) -> Callable[[Create], type[CloudFormationModel]]:
    """Register a type; the decorated function creates its resources from these properties.

    ``attributes`` are the names for Fn::GetAtt; the function returns their values with the Ref.
    """

    def register(create: Create) -> type[CloudFormationModel]:
        # moto finds its types among the direct subclasses of its model.
        class Resource(CloudFormationModel):
            def __init__(self, ref: str, attributes: Mapping[str, str]) -> None:
                self.physical_resource_id = ref
                self._attributes = attributes

            @staticmethod
            def cloudformation_name_type() -> str:
                return ""

            @staticmethod
            def cloudformation_type() -> str:
                return kind

            @classmethod
            def has_cfn_attr(cls, attr: str) -> bool:
                return attr in attributes

            def get_cfn_attribute(self, attribute_name: str) -> str:
                return self._attributes[attribute_name]

            def is_created(self) -> bool:
                return True

            @classmethod
            def create_from_cloudformation_json(
                cls,
                resource_name: str,
                cloudformation_json: Mapping[str, Any],
                account_id: str,
                region_name: str,
                **_: object,
            ) -> Resource:
                requested = cloudformation_json["Properties"]
                refuse_unknown(kind, requested, properties)
                result = create(TemplateResource(resource_name, requested, account_id, region_name))
                ref, values = (result, {}) if isinstance(result, str) else result
                return cls(ref, values)

        return Resource

    return register
