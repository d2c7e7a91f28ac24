"""Stacks as the CDK CLI deploys them again: with changes that a change set lists and makes."""

import copy
import json

import pytest
from botocore.exceptions import ClientError


def resource(kind, **properties):
    return {"Type": kind, "Properties": properties}


TEMPLATE = {
    "Resources": {
        "Results": resource("AWS::S3::Bucket"),
        "Logs": resource("AWS::Logs::LogGroup", RetentionInDays=7),
        "Work": resource("AWS::Athena::WorkGroup", Name="work"),
        "Rates": resource(
            "AWS::Athena::NamedQuery",
            Name="rates",
            Database="d",
            QueryString="SELECT 1",
            WorkGroup={"Ref": "Work"},
        ),
        "Charts": resource(
            "AWS::CloudWatch::Dashboard",
            DashboardName="charts",
            DashboardBody={"Fn::Join": ["", ['{"query": "', {"Ref": "Rates"}, '"}']]},
        ),
    },
    "Outputs": {"Query": {"Value": {"Ref": "Rates"}, "Export": {"Name": "query"}}},
}


@pytest.fixture
def create(formation):
    def create(template, stack="s"):
        formation.create_stack(StackName=stack, TemplateBody=json.dumps(template))

    return create


@pytest.fixture
def plan(formation):
    """Return a way to plan a change of the stack ``s``; it returns the change set's description."""

    def plan(template, name="change", **options):
        change_set = formation.create_change_set(
            StackName="s",
            ChangeSetName=name,
            ChangeSetType="UPDATE",
            TemplateBody=json.dumps(template),
            **options,
        )["Id"]
        return formation.describe_change_set(ChangeSetName=change_set)

    return plan


@pytest.fixture
def change(formation, plan):
    """Return a way to change the stack ``s``; it returns the changes that the change set lists."""

    def change(template):
        planned = plan(template)
        formation.execute_change_set(ChangeSetName=planned["ChangeSetId"])
        return [each["ResourceChange"] for each in planned["Changes"]]

    return change


def changed(template, name, **properties):
    template = copy.deepcopy(template)
    template["Resources"][name]["Properties"] |= properties
    return template


def status(formation):
    (stack,) = formation.describe_stacks(StackName="s")["Stacks"]
    return stack["StackStatus"]


def test_a_change_in_place_keeps_the_resource_and_what_every_other_holds(
    endpoint, formation, create, change
):
    create(TEMPLATE)
    logs, s3 = endpoint.client("logs"), endpoint.client("s3")
    logs.create_log_stream(logGroupName="s-Logs", logStreamName="kept")
    s3.put_object(Bucket="s-results", Key="kept", Body=b"1")

    (listed,) = change(changed(TEMPLATE, "Logs", RetentionInDays=30))

    assert listed == {
        "Action": "Modify",
        "LogicalResourceId": "Logs",
        "PhysicalResourceId": "s-Logs",
        "ResourceType": "AWS::Logs::LogGroup",
        "Replacement": "False",
        "Scope": ["Properties"],
        "Details": [
            {
                "Target": {
                    "Attribute": "Properties",
                    "Name": "RetentionInDays",
                    "RequiresRecreation": "Never",
                },
                "Evaluation": "Static",
                "ChangeSource": "DirectModification",
            }
        ],
    }
    (group,) = logs.describe_log_groups()["logGroups"]
    assert group["retentionInDays"] == 30
    assert logs.describe_log_streams(logGroupName="s-Logs")["logStreams"]
    assert s3.get_object(Bucket="s-results", Key="kept")["Body"].read() == b"1"
    assert status(formation) == "UPDATE_COMPLETE"
    events = formation.describe_stack_events(StackName="s")["StackEvents"]
    assert {"UPDATE_IN_PROGRESS", "UPDATE_COMPLETE"} <= {each["ResourceStatus"] for each in events}


def test_a_replaced_resource_has_another_id_wherever_the_template_names_it(
    endpoint, formation, create, change
):
    create(TEMPLATE)
    (before,) = endpoint.client("athena").list_named_queries(WorkGroup="work")["NamedQueryIds"]

    query, charts = change(changed(TEMPLATE, "Rates", QueryString="SELECT 2"))

    assert (query["Replacement"], query["PhysicalResourceId"]) == ("True", before)
    assert (charts["Replacement"], charts["LogicalResourceId"]) == ("False", "Charts")
    (detail,) = charts["Details"]
    assert (detail["Evaluation"], detail["ChangeSource"]) == ("Dynamic", "ResourceReference")
    (after,) = endpoint.client("athena").list_named_queries(WorkGroup="work")["NamedQueryIds"]
    assert after != before
    (output,) = formation.describe_stacks(StackName="s")["Stacks"][0]["Outputs"]
    assert output["OutputValue"] == after
    shown = endpoint.client("cloudwatch").get_dashboard(DashboardName="charts")["DashboardBody"]
    assert json.loads(shown) == {"query": after}


@pytest.mark.parametrize("query", [{"Ref": "Rates"}, "${Rates}"])
def test_a_substituted_text_has_the_new_id_of_a_replaced_resource(endpoint, create, change, query):
    body = '{"query": "${Query}"}'
    text = [body, {"Query": query}] if isinstance(query, dict) else body.replace("${Query}", query)
    template = changed(TEMPLATE, "Charts", DashboardBody={"Fn::Sub": text})
    create(template)

    _, charts = change(changed(template, "Rates", QueryString="SELECT 2"))

    assert charts["LogicalResourceId"] == "Charts"
    (after,) = endpoint.client("athena").list_named_queries(WorkGroup="work")["NamedQueryIds"]
    shown = endpoint.client("cloudwatch").get_dashboard(DashboardName="charts")["DashboardBody"]
    assert json.loads(shown) == {"query": after}


def allow(action):
    statement = {"Effect": "Allow", "Action": action, "Resource": "*"}
    return {"Version": "2012-10-17", "Statement": [statement]}


IN_PLACE = {
    "Resources": {
        "Trust": resource(
            "AWS::IAM::Role", RoleName="reader", AssumeRolePolicyDocument={"Statement": []}
        ),
        "Reads": resource(
            "AWS::IAM::Policy",
            PolicyName="p",
            PolicyDocument=allow("s3:GetObject"),
            Roles=["reader"],
        ),
        "Rule": resource(
            "AWS::Events::Rule",
            Name="ended",
            EventPattern={"source": ["x"]},
            Targets=[{"Id": name, "Arn": f"arn:aws:sns:us-east-1:1:{name}"} for name in "ab"],
        ),
        "F": resource(
            "AWS::Lambda::Function",
            FunctionName="f",
            Handler="index.handler",
            Runtime="python3.13",
            Role={"Fn::GetAtt": ["Trust", "Arn"]},
            Code={"ZipFile": "def handler(event, context): pass"},
        ),
        "MayInvoke": resource(
            "AWS::Lambda::Permission",
            Action="lambda:InvokeFunction",
            FunctionName={"Ref": "F"},
            Principal="events.amazonaws.com",
        ),
        "Database": resource("AWS::Glue::Database", DatabaseInput={"Name": "d"}),
        "Table": resource(
            "AWS::Glue::Table", DatabaseName={"Ref": "Database"}, TableInput={"Name": "rates"}
        ),
    }
}
IN_PLACE["Resources"]["Reads"]["DependsOn"] = "Trust"


def test_a_policy_a_rule_and_a_table_have_their_new_content_alone(endpoint, create, change):
    create(IN_PLACE)
    template = changed(IN_PLACE, "Reads", PolicyDocument=allow("s3:*"))
    targets = IN_PLACE["Resources"]["Rule"]["Properties"]["Targets"]
    template = changed(template, "Rule", Targets=targets[1:])

    change(changed(template, "Table", TableInput={"Name": "rates", "Description": "new"}))

    policy = endpoint.client("iam").get_role_policy(RoleName="reader", PolicyName="p")
    assert policy["PolicyDocument"] == allow("s3:*")
    (target,) = endpoint.client("events").list_targets_by_rule(Rule="ended")["Targets"]
    assert target["Id"] == "b"
    (table,) = endpoint.client("glue").get_tables(DatabaseName="d")["TableList"]
    assert table["Description"] == "new"


def test_a_function_has_its_new_settings_and_keeps_its_permissions(endpoint, create, change):
    create(IN_PLACE)

    (listed,) = change(changed(IN_PLACE, "F", MemorySize=256))

    assert listed["PhysicalResourceId"] == "f"
    functions = endpoint.client("lambda")
    assert functions.get_function_configuration(FunctionName="f")["MemorySize"] == 256
    assert "events.amazonaws.com" in functions.get_policy(FunctionName="f")["Policy"]


def test_a_resource_with_an_attribute_of_one_changed_in_place_is_listed_and_stays(
    endpoint, create, change
):
    template = changed(IN_PLACE, "MayInvoke", FunctionName={"Fn::GetAtt": ["F", "Arn"]})
    create(template)

    function, permission = change(changed(template, "F", MemorySize=256))

    assert (function["LogicalResourceId"], function["Replacement"]) == ("F", "False")
    assert (permission["LogicalResourceId"], permission["Replacement"]) == (
        "MayInvoke", "Conditional",
    )  # fmt: skip
    assert permission["Details"] == [
        {
            "Target": {
                "Attribute": "Properties",
                "Name": "FunctionName",
                "RequiresRecreation": "Always",
            },
            "Evaluation": "Dynamic",
            "ChangeSource": "ResourceAttribute",
        }
    ]
    policy = endpoint.client("lambda").get_policy(FunctionName="f")["Policy"]
    assert len(json.loads(policy)["Statement"]) == 1


def test_resources_are_added_and_removed(endpoint, formation, create, change):
    create(TEMPLATE)
    template = copy.deepcopy(TEMPLATE)
    del template["Resources"]["Charts"]
    template["Resources"]["Outcomes"] = resource("AWS::SNS::Topic", TopicName="outcomes")

    added, removed = change(template)

    assert (added["Action"], added["LogicalResourceId"]) == ("Add", "Outcomes")
    assert (removed["Action"], removed["PhysicalResourceId"]) == ("Remove", "charts")
    assert len(endpoint.client("sns").list_topics()["Topics"]) == 1
    assert endpoint.client("cloudwatch").list_dashboards()["DashboardEntries"] == []


@pytest.mark.parametrize("policy", ["Retain", "RetainExceptOnCreate"])
def test_a_removed_resource_that_a_policy_retains_stays(endpoint, create, change, policy):
    template = copy.deepcopy(TEMPLATE)
    template["Resources"]["Results"]["DeletionPolicy"] = policy
    create(template)
    del template["Resources"]["Results"]

    change(template)

    (bucket,) = endpoint.client("s3").list_buckets()["Buckets"]
    assert bucket["Name"] == "s-results"


REFUSED = {
    "replace Results": (changed(TEMPLATE, "Results", BucketName="other"), "AWS::S3::Bucket"),
    "change Tags of Logs": (changed(TEMPLATE, "Logs", Tags=[]), "AWS::Logs::LogGroup"),
    "change Description of Work": (changed(TEMPLATE, "Work", Description="x"), "AWS::Athena::Work"),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_a_change_that_one_machine_cannot_make_is_refused_by_name_and_changes_nothing(
    endpoint, formation, create, change, sentence
):
    template, kind = REFUSED[sentence]
    create(TEMPLATE)

    with pytest.raises(ClientError, match=rf"ExecuteChangeSet of s .* cannot {sentence} \({kind}"):
        change(changed(template, "Charts", DashboardBody="{}"))

    assert status(formation) == "CREATE_COMPLETE"
    shown = endpoint.client("cloudwatch").get_dashboard(DashboardName="charts")["DashboardBody"]
    assert "query" in shown


@pytest.mark.parametrize(
    ("added", "sentence"),
    [
        (resource("AWS::QuickSight::Theme"), "AWS::QuickSight::Theme is not supported"),
        (resource("AWS::SNS::Topic", KmsMasterKeyId="k"), "KmsMasterKeyId of AWS::SNS::Topic"),
    ],
)
def test_an_added_resource_that_one_machine_does_not_have_changes_nothing(
    endpoint, formation, create, change, added, sentence
):
    create(TEMPLATE)
    template = changed(TEMPLATE, "Logs", RetentionInDays=30)
    template["Resources"] = {"Outcomes": resource("AWS::SNS::Topic"), **template["Resources"]}

    with pytest.raises(ClientError, match=sentence):
        change({"Resources": {**template["Resources"], "New": added}})

    assert status(formation) == "CREATE_COMPLETE"
    assert endpoint.client("sns").list_topics()["Topics"] == []


def test_a_stack_whose_update_failed_takes_no_other(formation, create, change, plan):
    create(TEMPLATE)
    template = copy.deepcopy(TEMPLATE)
    template["Resources"]["New"] = resource("AWS::CloudWatch::Alarm", Statistic="Sum")
    with pytest.raises(ClientError, match=r"of AWS::CloudWatch::Alarm is not supported"):
        change(template)

    with pytest.raises(ClientError, match="is in UPDATE_ROLLBACK_FAILED state and can not be upd"):
        plan(changed(TEMPLATE, "Logs", RetentionInDays=30), "next")
    with pytest.raises(ClientError, match="is in UPDATE_ROLLBACK_FAILED state and can not be upd"):
        formation.execute_change_set(ChangeSetName="change", StackName="s")
    assert status(formation) == "UPDATE_ROLLBACK_FAILED"


def test_a_change_set_is_found_by_its_name_and_stack(formation, create, plan):
    create(TEMPLATE)
    plan(changed(TEMPLATE, "Logs", RetentionInDays=30))
    named = {"ChangeSetName": "change", "StackName": "s"}

    assert len(formation.describe_change_set(**named)["Changes"]) == 1
    for absent in ({"StackName": "other"}, {"ChangeSetName": "other"}):
        with pytest.raises(formation.exceptions.ChangeSetNotFoundException):
            formation.describe_change_set(**{**named, **absent})


def test_an_executed_change_set_makes_the_others_of_its_stack_void(formation, create, plan):
    create(TEMPLATE)
    first = plan(changed(TEMPLATE, "Logs", RetentionInDays=30), "first")
    other = plan(changed(TEMPLATE, "Logs", RetentionInDays=90), "other")

    formation.execute_change_set(ChangeSetName=first["ChangeSetId"])

    with pytest.raises(formation.exceptions.ChangeSetNotFoundException):
        formation.execute_change_set(ChangeSetName=other["ChangeSetId"])


def test_a_type_whose_rules_are_not_known_is_refused_when_the_change_is_planned(create, plan):
    parameter = {"Name": "p", "Type": "String"}
    template = {"Resources": {"P": resource("AWS::SSM::Parameter", **parameter, Value="1")}}
    create(template)

    with pytest.raises(ClientError, match="P changes from AWS::SSM::Parameter to AWS::SSM::Param"):
        plan(changed(template, "P", Value="2"))


def test_another_type_with_the_same_properties_is_refused(create, plan):
    create(TEMPLATE)
    template = copy.deepcopy(TEMPLATE)
    template["Resources"]["Results"]["Type"] = "AWS::SNS::Topic"

    with pytest.raises(ClientError, match="Results changes from AWS::S3::Bucket to AWS::SNS::Top"):
        plan(template)


def test_other_parameters_and_tags_are_refused(create, plan):
    create(TEMPLATE)
    other = changed(TEMPLATE, "Logs", RetentionInDays=30)

    with pytest.raises(ClientError, match="A change of the parameters of s is not supported"):
        plan(other, Parameters=[{"ParameterKey": "P", "ParameterValue": "1"}])
    with pytest.raises(ClientError, match="A change of the tags of s is not supported"):
        plan(other, Tags=[{"Key": "team", "Value": "x"}])


@pytest.mark.parametrize("part", ["Parameters", "Mappings", "Conditions", "Rules", "Transform"])
def test_a_change_of_another_part_of_the_template_is_refused(create, plan, part):
    create(TEMPLATE)

    with pytest.raises(ClientError, match=f"A change of {part} of s is not supported"):
        plan({**changed(TEMPLATE, "Logs", RetentionInDays=30), part: {"X": {}}})


def test_an_export_that_another_stack_imports_does_not_change(create, change):
    create(TEMPLATE)
    reader = resource("AWS::SNS::Topic", TopicName={"Fn::ImportValue": "query"})
    create({"Resources": {"Reader": reader}}, "reader")

    with pytest.raises(ClientError, match="Export query cannot be updated as it is in use by read"):
        change(changed(TEMPLATE, "Rates", QueryString="SELECT 2"))


def test_an_export_that_another_stack_imports_is_not_removed_and_its_output_may_be_described(
    formation, create, change
):
    create(TEMPLATE)
    reader = resource("AWS::SNS::Topic", TopicName={"Fn::ImportValue": "query"})
    create({"Resources": {"Reader": reader}}, "reader")
    template = changed(TEMPLATE, "Logs", RetentionInDays=30)
    template["Outputs"]["Query"]["Description"] = "The id of the query."

    change(template)

    assert status(formation) == "UPDATE_COMPLETE"
    del template["Outputs"]
    with pytest.raises(ClientError, match="Export query cannot be deleted as it is in use by read"):
        change(changed(template, "Logs", RetentionInDays=90))


def test_an_export_that_is_gone_is_not_listed(formation, create, change):
    create(TEMPLATE)
    template = changed(TEMPLATE, "Logs", RetentionInDays=30)
    template["Outputs"]["Query"]["Export"]["Name"] = "other"

    change(template)
    assert [export["Name"] for export in formation.list_exports()["Exports"]] == ["other"]

    formation.delete_stack(StackName="s")
    assert formation.list_exports()["Exports"] == []
