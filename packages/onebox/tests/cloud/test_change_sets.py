"""Stacks as the CDK CLI deploys them: created by change sets, and deleted."""

import json

import pytest
from botocore.exceptions import ClientError

TOPIC = {
    "Resources": {"Topic": {"Type": "AWS::SNS::Topic"}},
    "Outputs": {"Topic": {"Value": {"Ref": "Topic"}, "Export": {"Name": "topic"}}},
}
READER = {
    "Resources": {
        "Name": {
            "Type": "AWS::SSM::Parameter",
            "Properties": {"Name": "read", "Type": "String", "Value": {"Fn::ImportValue": "topic"}},
        }
    },
}

READER_OF_NOTHING = {
    "Name": {
        "Type": "AWS::SSM::Parameter",
        "Properties": {"Name": "read", "Type": "String", "Value": "nothing"},
    }
}


@pytest.fixture
def plan(formation):
    """Return a way to plan a stack; it returns the change set's status and ARN."""

    def plan(template, stack="s", kind="CREATE"):
        change_set = formation.create_change_set(
            StackName=stack,
            ChangeSetName=f"change-{stack}",
            ChangeSetType=kind,
            TemplateBody=json.dumps(template),
        )["Id"]
        return formation.describe_change_set(ChangeSetName=change_set)["Status"], change_set

    return plan


@pytest.fixture
def create(formation, plan):
    def create(template, stack="s"):
        _, change_set = plan(template, stack)
        formation.execute_change_set(ChangeSetName=change_set)
        (created,) = formation.describe_stacks(StackName=stack)["Stacks"]
        return created

    return create


def test_the_template_of_a_stack_may_be_an_object(endpoint, formation):
    s3 = endpoint.client("s3")
    s3.create_bucket(Bucket="assets")
    s3.put_object(Bucket="assets", Key="a/template.json", Body=json.dumps(TOPIC))

    url = f"{endpoint.url}/assets/a/template.json"
    formation.create_stack(StackName="s", TemplateURL=url)

    assert formation.describe_stacks(StackName="s")["Stacks"][0]["StackStatus"] == "CREATE_COMPLETE"


def test_an_executed_change_set_creates_the_stack_with_its_outputs_and_events(formation, create):
    created = create(TOPIC)

    assert created["StackStatus"] == "CREATE_COMPLETE"
    (output,) = created["Outputs"]
    assert output["OutputValue"].startswith("arn:aws:sns:")
    events = formation.describe_stack_events(StackName=created["StackId"])["StackEvents"]
    assert {event["ResourceStatus"] for event in events} == {
        "REVIEW_IN_PROGRESS", "CREATE_IN_PROGRESS", "CREATE_COMPLETE",
    }  # fmt: skip


def test_a_stack_imports_the_export_of_an_earlier_stack(endpoint, create):
    (topic,) = create(TOPIC)["Outputs"]
    create(READER, "reader")

    parameter = endpoint.client("ssm").get_parameter(Name="read")["Parameter"]
    assert parameter["Value"] == topic["OutputValue"]


def test_a_planned_stack_can_be_planned_again_and_deleted(formation, plan):
    _, change_set = plan(TOPIC)
    with pytest.raises(ClientError, match=r"AlreadyExistsException.*: ChangeSet change-s already"):
        plan(TOPIC)
    formation.delete_change_set(ChangeSetName=change_set)
    status, change_set = plan(TOPIC)
    assert status == "CREATE_COMPLETE"

    formation.delete_change_set(ChangeSetName=change_set)
    formation.delete_change_set(ChangeSetName=change_set)
    formation.delete_stack(StackName="s")
    assert formation.describe_stacks()["Stacks"] == []


def test_an_unsupported_type_leaves_no_complete_stack(formation, plan):
    _, change_set = plan({"Resources": {"X": {"Type": "AWS::QuickSight::Theme"}}})

    with pytest.raises(ClientError, match="AWS::QuickSight::Theme is not supported on one machine"):
        formation.execute_change_set(ChangeSetName=change_set)
    (stack,) = formation.describe_stacks()["Stacks"]
    assert stack["StackStatus"] == "ROLLBACK_FAILED"


def test_a_missing_resource_leaves_no_complete_stack(formation, plan):
    never = {"Conditions": {"Never": {"Fn::Equals": ["a", "b"]}}}
    left_out = {"Resources": {"Topic": {**TOPIC["Resources"]["Topic"], "Condition": "Never"}}}
    _, change_set = plan({**never, **left_out})

    with pytest.raises(ClientError, match=r"Topic \(AWS::SNS::Topic\) of s was not created"):
        formation.execute_change_set(ChangeSetName=change_set)
    (stack,) = formation.describe_stacks()["Stacks"]
    assert stack["StackStatus"] == "ROLLBACK_FAILED"


def test_a_change_set_is_executed_once(formation, create):
    create(TOPIC)

    with pytest.raises(formation.exceptions.InvalidChangeSetStatusException, match="EXECUTE_COMPL"):
        formation.execute_change_set(ChangeSetName="change-s", StackName="s")


def test_a_change_set_is_found_by_its_name_and_stack(formation, plan):
    plan(TOPIC)
    named = {"ChangeSetName": "change-s", "StackName": "s"}

    assert len(formation.describe_change_set(**named)["Changes"]) == 1
    for absent in ({"StackName": "other"}, {"ChangeSetName": "other"}):
        with pytest.raises(formation.exceptions.ChangeSetNotFoundException):
            formation.describe_change_set(**{**named, **absent})


def test_the_change_of_a_stack_is_refused_and_changes_nothing(endpoint, formation, create, plan):
    create(TOPIC)

    with pytest.raises(ClientError, match="UpdateStack of s is not supported: on one machine a st"):
        formation.update_stack(StackName="s", TemplateBody=json.dumps(READER))
    with pytest.raises(ClientError, match="A change of s is not supported: on one machine a stack"):
        plan(READER, kind="UPDATE")
    with pytest.raises(ClientError, match=r"Stack \[s\] already exists"):
        plan(TOPIC)
    assert len(endpoint.client("sns").list_topics()["Topics"]) == 1


def test_the_exports_of_a_deleted_stack_are_not_listed(formation, create):
    create(TOPIC)
    assert [export["Name"] for export in formation.list_exports()["Exports"]] == ["topic"]

    formation.delete_stack(StackName="s")

    assert formation.list_exports()["Exports"] == []


@pytest.mark.parametrize("policy", ["Retain", "RetainExceptOnCreate"])
def test_a_deleted_stack_leaves_none_of_its_resources_but_those_it_retains(
    endpoint, formation, create, policy
):
    kept = {"Type": "AWS::S3::Bucket", "DeletionPolicy": policy}
    create({"Resources": {**TOPIC["Resources"], "Kept": kept, "Gone": {"Type": "AWS::S3::Bucket"}}})

    formation.delete_stack(StackName="s")

    assert formation.describe_stacks()["Stacks"] == []
    assert endpoint.client("sns").list_topics()["Topics"] == []
    buckets = endpoint.client("s3").list_buckets()["Buckets"]
    assert ["gone" in bucket["Name"] for bucket in buckets] == [False]


def test_a_deleted_stack_takes_the_policy_of_a_bucket_that_it_retains_along(
    endpoint, formation, create
):
    kept = {"Type": "AWS::S3::Bucket", "DeletionPolicy": "Retain"}
    document = {"Version": "2012-10-17", "Statement": []}
    properties = {"Bucket": {"Ref": "Kept"}, "PolicyDocument": document}
    policy = {"Type": "AWS::S3::BucketPolicy", "Properties": properties}
    create({"Resources": {"Kept": kept, "Policy": policy}})
    s3 = endpoint.client("s3")
    assert json.loads(s3.get_bucket_policy(Bucket="s-kept")["Policy"]) == document

    formation.delete_stack(StackName="s")

    with pytest.raises(ClientError, match="NoSuchBucketPolicy"):
        s3.get_bucket_policy(Bucket="s-kept")


def test_a_deleted_stack_takes_its_schedule_its_queue_and_its_subscription_along(
    endpoint, formation, create
):
    policy = {"Queues": [{"Ref": "Dead"}], "PolicyDocument": {}}
    mail = {"TopicArn": {"Ref": "Topic"}, "Protocol": "email", "Endpoint": "a@example.com"}
    target = {"Arn": "arn:aws:states:us-east-1:123456789012:stateMachine:m", "RoleArn": "r"}
    rate = {
        "ScheduleExpression": "rate(1 day)",
        "FlexibleTimeWindow": {"Mode": "OFF"},
        "Target": target,
    }
    more = {
        "Dead": {"Type": "AWS::SQS::Queue"},
        "Policy": {"Type": "AWS::SQS::QueuePolicy", "Properties": policy},
        "Mail": {"Type": "AWS::SNS::Subscription", "Properties": mail},
        "Nightly": {"Type": "AWS::Scheduler::Schedule", "Properties": rate},
    }
    create({"Resources": {**TOPIC["Resources"], **more}})

    formation.delete_stack(StackName="s")

    assert endpoint.client("sqs").list_queues().get("QueueUrls", []) == []
    assert endpoint.client("sns").list_subscriptions()["Subscriptions"] == []
    assert endpoint.client("scheduler").list_schedules()["Schedules"] == []


def test_a_stack_with_a_type_that_cannot_be_deleted_is_refused_and_loses_nothing(
    endpoint, formation, create
):
    create({"Resources": {**TOPIC["Resources"], **READER_OF_NOTHING}})

    with pytest.raises(ClientError, match=r"cannot delete Name \(AWS::SSM::Parameter\)"):
        formation.delete_stack(StackName="s")
    assert len(endpoint.client("sns").list_topics()["Topics"]) == 1
    assert len(formation.describe_stacks(StackName="s")["Stacks"]) == 1


def test_a_stack_whose_export_another_stack_imports_cannot_be_deleted(formation, create):
    create(TOPIC)
    create(READER, "reader")

    with pytest.raises(ClientError, match="Export topic cannot be deleted as it is in use by read"):
        formation.delete_stack(StackName="s")


def test_the_refused_deletion_of_a_protected_stack_names_the_protection(formation, create):
    create(TOPIC)
    formation.update_termination_protection(StackName="s", EnableTerminationProtection=True)

    (stack,) = formation.describe_stacks()["Stacks"]
    assert stack["EnableTerminationProtection"]
    with pytest.raises(ClientError, match="while TerminationProtection is enabled"):
        formation.delete_stack(StackName="s")
