"""CloudFormation types that moto lacks or mimics: Glue, Athena, schedules, SNS and SQS.

Source: AWS documentation, CloudFormation: the resource types of each service.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from typing import Any

from moto.athena.models import athena_backends
from moto.cloudformation.exceptions import ValidationError
from moto.core.common_models import CloudFormationModel
from moto.core.utils import camelcase_to_underscores
from moto.glue.models import glue_backends
from moto.s3.models import s3_backends
from moto.scheduler.models import scheduler_backends
from moto.sns.models import sns_backends
from moto.sqs.models import sqs_backends

from cwli import insights
from onebox.app import ACCOUNT, REGION
from onebox.cloud.log_queries import save
from onebox.cloud.replacements import refuse_unknown

Create = Callable[[str, Mapping[str, Any]], "str | tuple[str, Mapping[str, str]]"]
"""Creates a resource, and returns its Ref and, if any, the values for Fn::GetAtt.

It takes a unique name, for a resource without a name in the template, and the properties: numbers
and booleans are texts in a template.
"""


def invalid(message: str) -> ValidationError:
    """Return the error of a template that cannot be used."""
    return ValidationError(message=message)


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
                *_: object,
                **__: object,
            ) -> Resource:
                requested = cloudformation_json["Properties"]
                refuse_unknown(kind, requested, properties, invalid)
                result = create(resource_name, requested)
                ref, values = (result, {}) if isinstance(result, str) else result
                return cls(ref, values)

        return Resource

    return register


_EFFECTIVE_ENGINE = "WorkGroupConfiguration.EngineVersion.EffectiveEngineVersion"


@resource_type("AWS::Glue::Database", {"CatalogId", "DatabaseInput"})
def glue_database(name: str, properties: Mapping[str, Any]) -> str:
    """Create a database; its Ref is its name."""
    database = properties["DatabaseInput"]
    name = str(database.get("Name", name.lower()))
    glue_backends[ACCOUNT][REGION].create_database(name, database)
    return name


@resource_type("AWS::Glue::Table", {"CatalogId", "DatabaseName", "TableInput"})
def glue_table(name: str, properties: Mapping[str, Any]) -> str:
    """Create a table in its database; its Ref is its name."""
    table = properties["TableInput"]
    name = str(table.get("Name", name.lower()))
    backend = glue_backends[ACCOUNT][REGION]
    backend.create_table(properties["DatabaseName"], name, table)
    return name


@resource_type(
    "AWS::Athena::WorkGroup",
    # RecursiveDeleteOption has no effect: no resource here is ever deleted.
    {"Description", "Name", "RecursiveDeleteOption", "Tags", "WorkGroupConfiguration"},
    {_EFFECTIVE_ENGINE},
)
def athena_workgroup(name: str, properties: Mapping[str, Any]) -> tuple[str, Mapping[str, str]]:
    """Create a workgroup; its Ref is its name."""
    name = str(properties["Name"])
    configuration = dict(properties.get("WorkGroupConfiguration", {}))
    if limit := configuration.get("BytesScannedCutoffPerQuery"):
        configuration["BytesScannedCutoffPerQuery"] = int(limit)
    athena_backends[ACCOUNT][REGION].create_work_group(
        name, configuration, properties.get("Description", ""), properties.get("Tags", [])
    )
    return name, {_EFFECTIVE_ENGINE: "Athena engine version 3"}


@resource_type(
    "AWS::Athena::NamedQuery",
    {"Database", "Description", "Name", "QueryString", "WorkGroup"},
    {"NamedQueryId"},
)
def athena_named_query(name: str, properties: Mapping[str, Any]) -> tuple[str, Mapping[str, str]]:
    """Save a query in its workgroup; its Ref is its id."""
    query = str(
        athena_backends[ACCOUNT][REGION].create_named_query(
            properties.get("Name", name),
            properties.get("Description", ""),
            properties["Database"],
            properties["QueryString"],
            properties.get("WorkGroup", "primary"),
        )
    )
    return query, {"NamedQueryId": query}


@resource_type("AWS::Logs::QueryDefinition", {"LogGroupNames", "Name", "QueryString"})
def query_definition(name: str, properties: Mapping[str, Any]) -> str:
    """Save a query for DescribeQueryDefinitions; its Ref is its id."""
    definition = {
        "name": properties.get("Name", name),
        "queryString": properties["QueryString"],
        "logGroupNames": properties.get("LogGroupNames"),
    }
    try:
        save(definition, name)
    except insights.QueryError as error:
        raise invalid(f"QueryString of {name}: {error}") from None
    return name


_SCHEDULE = {
    "Description", "EndDate", "FlexibleTimeWindow", "GroupName", "KmsKeyArn", "Name",
    "ScheduleExpression", "ScheduleExpressionTimezone", "StartDate", "State", "Target",
}  # fmt: skip
_LONGEST_NAME = 64


@resource_type("AWS::Scheduler::Schedule", _SCHEDULE, {"Arn"})
def schedule(name: str, properties: Mapping[str, Any]) -> tuple[str, Mapping[str, str]]:
    """Create a schedule; its Ref is its name."""
    properties = {"Name": name[-_LONGEST_NAME:], **properties}
    parameters: dict[str, Any] = {
        camelcase_to_underscores(field): properties.get(field) for field in _SCHEDULE
    }
    backend = scheduler_backends[ACCOUNT][REGION]
    new_schedule = backend.create_schedule(**parameters, action_after_completion=None)
    return new_schedule.name, {"Arn": new_schedule.arn}


@resource_type("AWS::S3::BucketPolicy", {"Bucket", "PolicyDocument"})
def bucket_policy(name: str, properties: Mapping[str, Any]) -> str:
    """Put a policy on its bucket; its Ref is the bucket's name."""
    bucket = str(properties["Bucket"])
    policy = json.dumps(properties["PolicyDocument"]).encode()
    s3_backends[ACCOUNT]["aws"].put_bucket_policy(bucket, policy)
    return bucket


@resource_type("AWS::SNS::TopicPolicy", {"PolicyDocument", "Topics"})
def topic_policy(name: str, properties: Mapping[str, Any]) -> str:
    """Put a policy on its topics."""
    policy = json.dumps(properties["PolicyDocument"])
    for topic in properties["Topics"]:
        sns_backends[ACCOUNT][REGION].get_topic(topic).policy = policy
    return name


@resource_type("AWS::SNS::Subscription", {"Endpoint", "Protocol", "TopicArn"})
def topic_subscription(name: str, properties: Mapping[str, Any]) -> str:
    """Subscribe to a topic; its Ref is its ARN. One machine sends no mail."""
    backend = sns_backends[ACCOUNT][REGION]
    return str(
        backend.subscribe(
            properties["TopicArn"], properties["Endpoint"], properties["Protocol"]
        ).arn
    )


@resource_type("AWS::SQS::QueuePolicy", {"PolicyDocument", "Queues"})
def queue_policy(name: str, properties: Mapping[str, Any]) -> str:
    """Put a policy on its queues, which it names by URL."""
    policy = json.dumps(properties["PolicyDocument"])
    for url in properties["Queues"]:
        queue = sqs_backends[ACCOUNT][REGION].get_queue(url.rsplit("/", 1)[-1])
        queue.policy = policy
    return name
