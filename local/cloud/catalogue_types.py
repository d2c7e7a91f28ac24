"""CloudFormation's types of the Glue catalogue, of Athena and of saved queries, which moto lacks.

Source: AWS documentation, CloudFormation: AWS Glue, Amazon Athena and CloudWatch Logs resource
types.
"""

from __future__ import annotations

from collections.abc import Mapping

from moto.athena.models import athena_backends
from moto.cloudformation.exceptions import ValidationError
from moto.glue.models import glue_backends

from local import insights
from local.cloud.resource import Wanted, resource_type

_EFFECTIVE_ENGINE = "WorkGroupConfiguration.EngineVersion.EffectiveEngineVersion"


@resource_type("AWS::Glue::Database", {"CatalogId", "DatabaseInput"})
def glue_database(wanted: Wanted) -> str:
    """Create a database; its Ref is its name."""
    database = wanted.properties["DatabaseInput"]
    name = str(database.get("Name", wanted.name.lower()))
    glue_backends[wanted.account][wanted.region].create_database(name, database)
    return name


@resource_type("AWS::Glue::Table", {"CatalogId", "DatabaseName", "TableInput"})
def glue_table(wanted: Wanted) -> str:
    """Create a table in its database; its Ref is its name."""
    table = wanted.properties["TableInput"]
    name = str(table.get("Name", wanted.name.lower()))
    backend = glue_backends[wanted.account][wanted.region]
    backend.create_table(wanted.properties["DatabaseName"], name, table)
    return name


@resource_type(
    "AWS::Athena::WorkGroup",
    # Nothing that is created here is ever deleted: recursive or not makes no difference.
    {"Description", "Name", "RecursiveDeleteOption", "Tags", "WorkGroupConfiguration"},
    {_EFFECTIVE_ENGINE},
)
def athena_workgroup(wanted: Wanted) -> tuple[str, Mapping[str, str]]:
    """Create a workgroup; its Ref is its name."""
    name = str(wanted.properties["Name"])
    configuration = dict(wanted.properties.get("WorkGroupConfiguration", {}))
    if limit := configuration.get("BytesScannedCutoffPerQuery"):
        configuration["BytesScannedCutoffPerQuery"] = int(limit)
    athena_backends[wanted.account][wanted.region].create_work_group(
        name,
        configuration,
        wanted.properties.get("Description", ""),
        wanted.properties.get("Tags", []),
    )
    return name, {_EFFECTIVE_ENGINE: "Athena engine version 3"}


@resource_type(
    "AWS::Athena::NamedQuery",
    {"Database", "Description", "Name", "QueryString", "WorkGroup"},
    {"NamedQueryId"},
)
def athena_named_query(wanted: Wanted) -> tuple[str, Mapping[str, str]]:
    """Save a query in its workgroup; its Ref is its id."""
    query = str(
        athena_backends[wanted.account][wanted.region].create_named_query(
            wanted.properties.get("Name", wanted.name),
            wanted.properties.get("Description", ""),
            wanted.properties["Database"],
            wanted.properties["QueryString"],
            wanted.properties.get("WorkGroup", "primary"),
        )
    )
    return query, {"NamedQueryId": query}


@resource_type("AWS::Logs::QueryDefinition", {"LogGroupNames", "Name", "QueryString"})
def query_definition(wanted: Wanted) -> str:
    """Check a saved query, which nobody here lists; its Ref is an id."""
    try:
        insights.compile(wanted.properties["QueryString"])
    except insights.QueryError as error:
        raise ValidationError(message=f"QueryString of {wanted.name}: {error}") from None
    return wanted.name
