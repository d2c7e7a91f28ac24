"""CloudFormation types of SNS, SQS and CloudWatch that moto lacks, and resource policies.

Source: AWS documentation, CloudFormation: Amazon S3, SNS, SQS and CloudWatch resource types.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from moto.cloudformation.exceptions import ValidationError
from moto.cloudwatch.models import cloudwatch_backends
from moto.s3.models import s3_backends
from moto.sns.models import sns_backends
from moto.sqs.models import sqs_backends

from onebox.cloud.resource import TemplateResource, resource_type

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
            raise ValidationError(
                message=f"{name} {properties.get(name)} of AWS::CloudWatch::Alarm is not supported "
                f"on one machine; accepted: {accepted}."
            )
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
