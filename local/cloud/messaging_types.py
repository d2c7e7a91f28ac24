"""CloudFormation's types of SNS, SQS and CloudWatch that moto lacks, and policies of resources.

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

from local.cloud.resource import Wanted, resource_type

# How alarms are evaluated here (``alarms.py``).
_EVALUATED = {
    "ComparisonOperator": "GreaterThanOrEqualToThreshold",
    "DatapointsToAlarm": "1",
    "EvaluationPeriods": "1",
    "Statistic": "Maximum",
    "TreatMissingData": "ignore",
}


@resource_type("AWS::S3::BucketPolicy", {"Bucket", "PolicyDocument"})
def bucket_policy(wanted: Wanted) -> str:
    """Put a policy on its bucket."""
    policy = json.dumps(wanted.properties["PolicyDocument"]).encode()
    s3_backends[wanted.account]["aws"].put_bucket_policy(wanted.properties["Bucket"], policy)
    return wanted.name


@resource_type("AWS::SNS::TopicPolicy", {"PolicyDocument", "Topics"})
def topic_policy(wanted: Wanted) -> str:
    """Put a policy on its topics."""
    policy = json.dumps(wanted.properties["PolicyDocument"])
    for topic in wanted.properties["Topics"]:
        sns_backends[wanted.account][wanted.region].get_topic(topic).policy = policy
    return wanted.name


@resource_type("AWS::SNS::Subscription", {"Endpoint", "Protocol", "TopicArn"})
def topic_subscription(wanted: Wanted) -> str:
    """Subscribe to a topic; nobody gets mail from one machine. Its Ref is its ARN."""
    backend = sns_backends[wanted.account][wanted.region]
    given = wanted.properties
    return str(backend.subscribe(given["TopicArn"], given["Endpoint"], given["Protocol"]).arn)


@resource_type("AWS::SQS::QueuePolicy", {"PolicyDocument", "Queues"})
def queue_policy(wanted: Wanted) -> str:
    """Put a policy on its queues, given by their URLs."""
    policy = json.dumps(wanted.properties["PolicyDocument"])
    for url in wanted.properties["Queues"]:
        queue = sqs_backends[wanted.account][wanted.region].get_queue(url.rsplit("/", 1)[-1])
        queue.policy = policy
    return wanted.name


@resource_type(
    "AWS::CloudWatch::Alarm",
    {
        "AlarmActions", "AlarmDescription", "AlarmName", "Dimensions", "MetricName", "Namespace",
        "OKActions", "Period", "Tags", "Threshold", *_EVALUATED,
    },
    {"Arn"},
)  # fmt: skip
def alarm(wanted: Wanted) -> tuple[str, Mapping[str, str]]:
    """Create an alarm that is evaluated as all are here; its Ref is its name."""
    given = wanted.properties
    for name, accepted in _EVALUATED.items():
        if str(given.get(name)) != accepted:
            raise ValidationError(
                message=f"{name} {given.get(name)} of AWS::CloudWatch::Alarm is not supported on "
                f"one machine; accepted: {accepted}."
            )
    created = cloudwatch_backends[wanted.account][wanted.region].put_metric_alarm(
        name=given.get("AlarmName", wanted.name),
        namespace=given["Namespace"],
        metric_name=given["MetricName"],
        comparison_operator=given["ComparisonOperator"],
        evaluation_periods=int(given["EvaluationPeriods"]),
        datapoints_to_alarm=int(given["DatapointsToAlarm"]),
        period=int(given["Period"]),
        threshold=float(given["Threshold"]),
        statistic=given["Statistic"],
        description=given.get("AlarmDescription", ""),
        dimensions=given.get("Dimensions", []),
        alarm_actions=given.get("AlarmActions", []),
        ok_actions=given.get("OKActions", []),
        treat_missing_data=given["TreatMissingData"],
        tags=given.get("Tags"),
    )
    # moto takes an alarm that no value has set yet to be OK.
    created.state_value = "INSUFFICIENT_DATA"
    return created.name, {"Arn": created.alarm_arn}
