import json

import pytest
from botocore.exceptions import ClientError
from moto.cloudwatch.models import cloudwatch_backends

from onebox.app import ACCOUNT, REGION
from onebox.cloud import alarms

WATCHED = [{"Name": "suite", "Value": "rocksdb"}]
NOON = 1_795_262_400


@pytest.fixture
def cloud(endpoint, formation):
    return endpoint


def alarm(**changed):
    return {
        "Type": "AWS::CloudWatch::Alarm",
        "Properties": {
            "AlarmName": "failed", "AlarmActions": ["arn:aws:sns:us-east-1:123456789012:t"],
            "OKActions": ["arn:aws:sns:us-east-1:123456789012:t"],
            "ComparisonOperator": "GreaterThanOrEqualToThreshold", "DatapointsToAlarm": 1,
            "EvaluationPeriods": 1, "Statistic": "Maximum", "TreatMissingData": "ignore",
            "Namespace": "Tidemark", "MetricName": "RunFailed", "Dimensions": WATCHED,
            "Period": 60, "Threshold": 1, **changed,
        },
    }  # fmt: skip


def create(cloud, **resources):
    cloud.client("sns").create_topic(Name="t")
    template = json.dumps({"Resources": resources})
    cloud.client("cloudformation").create_stack(StackName="s", TemplateBody=template)


def put(cloud, value, minute=0, dimensions=WATCHED):
    datum = {
        "MetricName": "RunFailed", "Dimensions": dimensions, "Value": value,
        "Timestamp": NOON + 60 * minute,
    }  # fmt: skip
    cloud.client("cloudwatch").put_metric_data(Namespace="Tidemark", MetricData=[datum])


def state(cloud, name="failed"):
    (found,) = cloud.client("cloudwatch").describe_alarms(AlarmNames=[name])["MetricAlarms"]
    return found["StateValue"]


def test_an_alarm_is_raised_once_and_taken_back_once(cloud):
    create(cloud, Alarm=alarm())
    assert state(cloud) == "INSUFFICIENT_DATA"
    states = []
    for minute, value in enumerate([0, 1, 1, 0]):
        put(cloud, value, minute)
        states.append(state(cloud))

    assert states == ["OK", "ALARM", "ALARM", "OK"]


def test_the_topic_of_an_alarm_gets_only_changes(cloud):
    create(cloud, Alarm=alarm())
    queue = cloud.client("sqs").create_queue(QueueName="changes")["QueueUrl"]
    cloud.client("sns").subscribe(
        TopicArn="arn:aws:sns:us-east-1:123456789012:t",
        Protocol="sqs",
        Endpoint="arn:aws:sqs:us-east-1:123456789012:changes",
    )
    for minute, value in enumerate([0, 1, 1, 0]):
        put(cloud, value, minute)

    answer = cloud.client("sqs").receive_message(QueueUrl=queue, MaxNumberOfMessages=10)
    bodies = [json.loads(message["Body"]) for message in answer["Messages"]]
    assert [json.loads(body["Message"])["NewStateValue"] for body in bodies] == [
        "OK", "ALARM", "OK",
    ]  # fmt: skip


def test_only_the_largest_value_of_the_newest_period_counts(cloud):
    create(cloud, Alarm=alarm())
    put(cloud, 1)
    put(cloud, 0)
    assert state(cloud) == "ALARM"
    put(cloud, 0, minute=1)
    assert state(cloud) == "OK"


def test_the_oldest_values_are_forgotten(cloud, monkeypatch):
    monkeypatch.setattr(alarms, "_MOST_VALUES", 2)
    create(cloud, Alarm=alarm())
    for minute, value in enumerate([1, 1, 1, 0]):
        put(cloud, value, minute)

    kept = cloudwatch_backends[ACCOUNT][REGION].metric_data
    assert [datum.value for datum in kept] == [1, 1, 0]
    assert state(cloud) == "OK"


def test_a_value_of_another_metric_sets_no_alarm(cloud):
    create(cloud, Alarm=alarm())
    put(cloud, 1, dimensions=[{"Name": "suite", "Value": "other"}])
    put(cloud, 1, dimensions=[*WATCHED, {"Name": "version", "Value": "1"}])

    assert state(cloud) == "INSUFFICIENT_DATA"


def test_a_queue_reports_its_messages(cloud):
    queue = cloud.client("sqs").create_queue(QueueName="q")["QueueUrl"]
    held = {
        "AlarmName": "held", "Namespace": "AWS/SQS", "Period": 300,
        "MetricName": "ApproximateNumberOfMessagesVisible",
        "Dimensions": [{"Name": "QueueName", "Value": "q"}],
    }  # fmt: skip
    create(cloud, Alarm=alarm(**held))
    cloud.client("sqs").send_message(QueueUrl=queue, MessageBody="undelivered")

    assert state(cloud, "held") == "ALARM"


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"TreatMissingData": "breaching"}, 'TreatMissingData "breaching".*; accepted: ignore'),
        ({"EvaluationPeriods": 3}, "EvaluationPeriods 3.*; accepted: 1"),
        ({"Unit": "Count"}, 'Unit "Count", which one machine does not honour'),
    ],
)
def test_an_alarm_with_another_evaluation_is_refused_by_name(cloud, changed, sentence):
    with pytest.raises(ClientError, match=f"AWS::CloudWatch::Alarm has {sentence}"):
        create(cloud, Alarm=alarm(**changed))


def test_a_template_creates_policies_and_subscriptions(cloud):
    policy = {"Statement": [{"Effect": "Deny", "Principal": "*", "Action": "sqs:*"}]}
    create(
        cloud,
        Queue={"Type": "AWS::SQS::Queue", "Properties": {"QueueName": "q"}},
        Policy={
            "Type": "AWS::SQS::QueuePolicy",
            "Properties": {"Queues": [{"Ref": "Queue"}], "PolicyDocument": policy},
        },
        Subscription={
            "Type": "AWS::SNS::Subscription",
            "Properties": {
                "TopicArn": "arn:aws:sns:us-east-1:123456789012:t",
                "Protocol": "email",
                "Endpoint": "perf@example.com",
            },
        },
    )

    sqs, sns = cloud.client("sqs"), cloud.client("sns")
    url = sqs.get_queue_url(QueueName="q")["QueueUrl"]
    kept = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["Policy"])["Attributes"]
    (subscription,) = sns.list_subscriptions()["Subscriptions"]
    assert json.loads(kept["Policy"]) == policy
    assert subscription["Endpoint"] == "perf@example.com"
