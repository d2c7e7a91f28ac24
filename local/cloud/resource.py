"""What the CloudFormation types that we add to moto have in common."""

from __future__ import annotations


class Resource:
    """A resource whose Ref is its name, and that has no attributes unless it says so."""

    def __init__(self, name: str) -> None:
        self.physical_resource_id = name

    @staticmethod
    def cloudformation_name_type() -> str:
        """Return '': names are read where the resource is created."""
        return ""

    @classmethod
    def has_cfn_attr(cls, attr: str) -> bool:
        """Tell whether Fn::GetAtt may ask for an attribute."""
        return False

    def is_created(self) -> bool:
        """Tell that it is there."""
        return True
