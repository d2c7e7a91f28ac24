"""CloudFormation types that moto lacks: the Glue catalogue, Athena and saved queries.

Source: AWS documentation, CloudFormation: AWS Glue, Amazon Athena and CloudWatch Logs resource
types.
"""

from __future__ import annotations

from collections.abc import Mapping

from moto.athena.models import athena_backends
from moto.cloudformation.exceptions import ValidationError
from moto.glue.models import glue_backends

from cwli import insights
from onebox.cloud.resource import TemplateResource, resource_type

_EFFECTIVE_ENGINE = "WorkGroupConfiguration.EngineVersion.EffectiveEngineVersion"


@resource_type("AWS::Glue::Database", {"CatalogId", "DatabaseInput"})
def glue_database(resource: TemplateResource) -> str:
    """Create a database; its Ref is its name."""
    database = resource.properties["DatabaseInput"]
    name = str(database.get("Name", resource.name.lower()))
    glue_backends[resource.account][resource.region].create_database(name, database)
    return name


@resource_type("AWS::Glue::Table", {"CatalogId", "DatabaseName", "TableInput"})
def glue_table(resource: TemplateResource) -> str:
    """Create a table in its database; its Ref is its name."""
    table = resource.properties["TableInput"]
    name = str(table.get("Name", resource.name.lower()))
    backend = glue_backends[resource.account][resource.region]
    backend.create_table(resource.properties["DatabaseName"], name, table)
    return name


@resource_type(
    "AWS::Athena::WorkGroup",
    # RecursiveDeleteOption has no effect: no resource here is ever deleted.
    {"Description", "Name", "RecursiveDeleteOption", "Tags", "WorkGroupConfiguration"},
    {_EFFECTIVE_ENGINE},
)
def athena_workgroup(resource: TemplateResource) -> tuple[str, Mapping[str, str]]:
    """Create a workgroup; its Ref is its name."""
    name = str(resource.properties["Name"])
    configuration = dict(resource.properties.get("WorkGroupConfiguration", {}))
    if limit := configuration.get("BytesScannedCutoffPerQuery"):
        configuration["BytesScannedCutoffPerQuery"] = int(limit)
    athena_backends[resource.account][resource.region].create_work_group(
        name,
        configuration,
        resource.properties.get("Description", ""),
        resource.properties.get("Tags", []),
    )
    return name, {_EFFECTIVE_ENGINE: "Athena engine version 3"}


@resource_type(
    "AWS::Athena::NamedQuery",
    {"Database", "Description", "Name", "QueryString", "WorkGroup"},
    {"NamedQueryId"},
)
def athena_named_query(resource: TemplateResource) -> tuple[str, Mapping[str, str]]:
    """Save a query in its workgroup; its Ref is its id."""
    query = str(
        athena_backends[resource.account][resource.region].create_named_query(
            resource.properties.get("Name", resource.name),
            resource.properties.get("Description", ""),
            resource.properties["Database"],
            resource.properties["QueryString"],
            resource.properties.get("WorkGroup", "primary"),
        )
    )
    return query, {"NamedQueryId": query}


@resource_type("AWS::Logs::QueryDefinition", {"LogGroupNames", "Name", "QueryString"})
def query_definition(resource: TemplateResource) -> str:
    """Check a saved query, which no API here lists; its Ref is an id."""
    try:
        insights.compile(resource.properties["QueryString"])
    except insights.QueryError as error:
        raise ValidationError(message=f"QueryString of {resource.name}: {error}") from None
    return resource.name
