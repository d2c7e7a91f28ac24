"""CloudFormation types that moto lacks or mimics: Glue, Athena, schedules, SNS, SQS and alarms.

Source: AWS documentation, CloudFormation: the resource types of each service.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from moto.athena.models import athena_backends
from moto.cloudformation.exceptions import ValidationError
from moto.cloudwatch.models import cloudwatch_backends
from moto.core.common_models import CloudFormationModel
from moto.glue.models import glue_backends
from moto.s3.models import s3_backends
from moto.scheduler.models import scheduler_backends
from moto.sns.models import sns_backends
from moto.sqs.models import sqs_backends

from cwli import insights
from onebox.cloud.log_queries import save
from onebox.cloud.replacements import not_honoured, refuse_unknown


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
                account_id: str,
                region_name: str,
                **_: object,
            ) -> Resource:
                requested = cloudformation_json["Properties"]
                refuse_unknown(kind, requested, properties, invalid)
                result = create(TemplateResource(resource_name, requested, account_id, region_name))
                ref, values = (result, {}) if isinstance(result, str) else result
                return cls(ref, values)

        return Resource

    return register


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
    """Save a query for DescribeQueryDefinitions; its Ref is its id."""
    properties = resource.properties
    definition = {
        "name": properties.get("Name", resource.name),
        "queryString": properties["QueryString"],
        "logGroupNames": properties.get("LogGroupNames"),
    }
    try:
        save(definition, resource.name)
    except insights.QueryError as error:
        raise invalid(f"QueryString of {resource.name}: {error}") from None
    return resource.name


# The parameters of CreateSchedule, by property of the template.
_PROPERTIES = {
    "Description": "description",
    "EndDate": "end_date",
    "FlexibleTimeWindow": "flexible_time_window",
    "GroupName": "group_name",
    "KmsKeyArn": "kms_key_arn",
    "Name": "name",
    "ScheduleExpression": "schedule_expression",
    "ScheduleExpressionTimezone": "schedule_expression_timezone",
    "StartDate": "start_date",
    "State": "state",
    "Target": "target",
}
_LONGEST_NAME = 64


@resource_type("AWS::Scheduler::Schedule", _PROPERTIES, {"Arn"})
def schedule(resource: TemplateResource) -> tuple[str, Mapping[str, str]]:
    """Create a schedule; its Ref is its name."""
    properties = {"Name": resource.name[-_LONGEST_NAME:], **resource.properties}
    parameters: dict[str, Any] = {
        parameter: properties.get(name) for name, parameter in _PROPERTIES.items()
    }
    backend = scheduler_backends[resource.account][resource.region]
    new_schedule = backend.create_schedule(**parameters, action_after_completion=None)
    return new_schedule.name, {"Arn": new_schedule.arn}


# The one evaluation that alarms have here (``alarms.py``).
_EVALUATED = {
    "ComparisonOperator": "GreaterThanOrEqualToThreshold",
    "DatapointsToAlarm": "1",
    "EvaluationPeriods": "1",
    "Statistic": "Maximum",
    "TreatMissingData": "ignore",
}


@resource_type("AWS::S3::BucketPolicy", {"Bucket", "PolicyDocument"})
def bucket_policy(resource: TemplateResource) -> str:
    """Put a policy on its bucket; its Ref is the bucket's name."""
    bucket = str(resource.properties["Bucket"])
    policy = json.dumps(resource.properties["PolicyDocument"]).encode()
    s3_backends[resource.account]["aws"].put_bucket_policy(bucket, policy)
    return bucket


@resource_type("AWS::SNS::TopicPolicy", {"PolicyDocument", "Topics"})
def topic_policy(resource: TemplateResource) -> str:
    """Put a policy on its topics."""
    policy = json.dumps(resource.properties["PolicyDocument"])
    for topic in resource.properties["Topics"]:
        sns_backends[resource.account][resource.region].get_topic(topic).policy = policy
    return resource.name


@resource_type("AWS::SNS::Subscription", {"Endpoint", "Protocol", "TopicArn"})
def topic_subscription(resource: TemplateResource) -> str:
    """Subscribe to a topic; its Ref is its ARN. One machine sends no mail."""
    backend = sns_backends[resource.account][resource.region]
    properties = resource.properties
    return str(
        backend.subscribe(
            properties["TopicArn"], properties["Endpoint"], properties["Protocol"]
        ).arn
    )


@resource_type("AWS::SQS::QueuePolicy", {"PolicyDocument", "Queues"})
def queue_policy(resource: TemplateResource) -> str:
    """Put a policy on its queues, which it names by URL."""
    policy = json.dumps(resource.properties["PolicyDocument"])
    for url in resource.properties["Queues"]:
        queue = sqs_backends[resource.account][resource.region].get_queue(url.rsplit("/", 1)[-1])
        queue.policy = policy
    return resource.name


@resource_type(
    "AWS::CloudWatch::Alarm",
    {
        "AlarmActions", "AlarmDescription", "AlarmName", "Dimensions", "MetricName", "Namespace",
        "OKActions", "Period", "Tags", "Threshold", *_EVALUATED,
    },
    {"Arn"},
)  # fmt: skip
def alarm(resource: TemplateResource) -> tuple[str, Mapping[str, str]]:
    """Create an alarm with the one evaluation that is supported here; its Ref is its name."""
    properties = resource.properties
    for name, accepted in _EVALUATED.items():
        if str(properties.get(name)) != accepted:
            kind = "AWS::CloudWatch::Alarm"
            raise invalid(not_honoured(kind, name, properties.get(name), accepted))
    new_alarm = cloudwatch_backends[resource.account][resource.region].put_metric_alarm(
        name=properties.get("AlarmName", resource.name),
        namespace=properties["Namespace"],
        metric_name=properties["MetricName"],
        comparison_operator=properties["ComparisonOperator"],
        evaluation_periods=int(properties["EvaluationPeriods"]),
        datapoints_to_alarm=int(properties["DatapointsToAlarm"]),
        period=int(properties["Period"]),
        threshold=float(properties["Threshold"]),
        statistic=properties["Statistic"],
        description=properties.get("AlarmDescription", ""),
        dimensions=properties.get("Dimensions", []),
        alarm_actions=properties.get("AlarmActions", []),
        ok_actions=properties.get("OKActions", []),
        treat_missing_data=properties["TreatMissingData"],
        tags=properties.get("Tags"),
    )
    # In moto a new alarm is OK before its first value.
    new_alarm.state_value = "INSUFFICIENT_DATA"
    return new_alarm.name, {"Arn": new_alarm.alarm_arn}
