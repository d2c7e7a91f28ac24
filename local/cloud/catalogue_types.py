"""CloudFormation's types of the Glue catalogue and of Athena, which moto lacks.

Source: AWS documentation, CloudFormation: AWS Glue and Amazon Athena resource types.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moto.athena.models import athena_backends
from moto.core.common_models import CloudFormationModel
from moto.glue.models import glue_backends

from local.cloud.resource import Resource

_EFFECTIVE_ENGINE = "WorkGroupConfiguration.EngineVersion.EffectiveEngineVersion"


# moto looks for types among the direct subclasses of its model.
class GlueDatabase(Resource, CloudFormationModel):
    """AWS::Glue::Database; its Ref is its name."""

    @staticmethod
    def cloudformation_type() -> str:
        """Return the template's name of the type."""
        return "AWS::Glue::Database"

    @classmethod
    def create_from_cloudformation_json(
        cls,
        resource_name: str,
        cloudformation_json: Mapping[str, Any],
        account_id: str,
        region_name: str,
        **_: object,
    ) -> GlueDatabase:
        """Create the database."""
        database = cloudformation_json["Properties"]["DatabaseInput"]
        name = database.get("Name", resource_name.lower())
        glue_backends[account_id][region_name].create_database(name, database)
        return cls(name)


class GlueTable(Resource, CloudFormationModel):
    """AWS::Glue::Table; its Ref is its name."""

    @staticmethod
    def cloudformation_type() -> str:
        """Return the template's name of the type."""
        return "AWS::Glue::Table"

    @classmethod
    def create_from_cloudformation_json(
        cls,
        resource_name: str,
        cloudformation_json: Mapping[str, Any],
        account_id: str,
        region_name: str,
        **_: object,
    ) -> GlueTable:
        """Create the table in its database."""
        properties = cloudformation_json["Properties"]
        table = properties["TableInput"]
        name = table.get("Name", resource_name.lower())
        backend = glue_backends[account_id][region_name]
        backend.create_table(properties["DatabaseName"], name, table)
        return cls(name)


class AthenaWorkGroup(Resource, CloudFormationModel):
    """AWS::Athena::WorkGroup; its Ref is its name."""

    @staticmethod
    def cloudformation_type() -> str:
        """Return the template's name of the type."""
        return "AWS::Athena::WorkGroup"

    @classmethod
    def has_cfn_attr(cls, attr: str) -> bool:
        """Tell whether Fn::GetAtt may ask for an attribute."""
        return attr == _EFFECTIVE_ENGINE

    def get_cfn_attribute(self, attribute_name: str) -> str:
        """Return what Fn::GetAtt gives."""
        assert attribute_name == _EFFECTIVE_ENGINE, "moto asks first"
        return "Athena engine version 3"

    @classmethod
    def create_from_cloudformation_json(
        cls,
        resource_name: str,
        cloudformation_json: Mapping[str, Any],
        account_id: str,
        region_name: str,
        **_: object,
    ) -> AthenaWorkGroup:
        """Create the workgroup; numbers and truths are texts in a template."""
        properties = cloudformation_json["Properties"]
        configuration = dict(properties.get("WorkGroupConfiguration", {}))
        if limit := configuration.get("BytesScannedCutoffPerQuery"):
            configuration["BytesScannedCutoffPerQuery"] = int(limit)
        athena_backends[account_id][region_name].create_work_group(
            properties["Name"], configuration, properties.get("Description", ""), []
        )
        return cls(properties["Name"])


class AthenaNamedQuery(Resource, CloudFormationModel):
    """AWS::Athena::NamedQuery; its Ref is its id."""

    @staticmethod
    def cloudformation_type() -> str:
        """Return the template's name of the type."""
        return "AWS::Athena::NamedQuery"

    @classmethod
    def has_cfn_attr(cls, attr: str) -> bool:
        """Tell whether Fn::GetAtt may ask for an attribute."""
        return attr == "NamedQueryId"

    def get_cfn_attribute(self, attribute_name: str) -> str:
        """Return what Fn::GetAtt gives."""
        assert attribute_name == "NamedQueryId", "moto asks first"
        return self.physical_resource_id

    @classmethod
    def create_from_cloudformation_json(
        cls,
        resource_name: str,
        cloudformation_json: Mapping[str, Any],
        account_id: str,
        region_name: str,
        **_: object,
    ) -> AthenaNamedQuery:
        """Save the query in its workgroup."""
        properties = cloudformation_json["Properties"]
        return cls(
            athena_backends[account_id][region_name].create_named_query(
                properties.get("Name", resource_name),
                properties.get("Description", ""),
                properties["Database"],
                properties["QueryString"],
                properties.get("WorkGroup", "primary"),
            )
        )
