"""CloudFormation types that moto lacks, each made by one function."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from moto.cloudformation.exceptions import ValidationError
from moto.core.common_models import CloudFormationModel


@dataclass(frozen=True)
class Wanted:
    """A resource of a template."""

    name: str
    """A name that no other resource has, for one that is given none."""
    properties: Mapping[str, Any]
    """Numbers and truths are texts in a template."""
    account: str
    region: str


# Creates a resource; returns its Ref, and what Fn::GetAtt gives, if there is more.
Create = Callable[[Wanted], "str | tuple[str, Mapping[str, str]]"]


def refuse_unknown(kind: str, given: Collection[str], accepted: Collection[str]) -> None:
    """Refuse, by name, a property that would have no effect."""
    if unknown := sorted(set(given) - set(accepted)):
        raise ValidationError(
            message=f"{unknown[0]} of {kind} is not supported on one machine; "
            f"accepted: {', '.join(sorted(accepted))}."
        )


def resource_type(
    kind: str, properties: Collection[str], attributes: Collection[str] = ()
) -> Callable[[Create], type[CloudFormationModel]]:
    """Have a type made by the decorated function, which honours these properties.

    ``attributes`` are what Fn::GetAtt may ask for; the function returns them beside the Ref.
    """

    def register(create: Create) -> type[CloudFormationModel]:
        # moto finds its types among the direct subclasses of its model.
        class Made(CloudFormationModel):
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
            ) -> Made:
                given = cloudformation_json["Properties"]
                refuse_unknown(kind, given, properties)
                made = create(Wanted(resource_name, given, account_id, region_name))
                ref, values = (made, {}) if isinstance(made, str) else made
                return cls(ref, values)

        return Made

    return register
