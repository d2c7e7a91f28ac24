"""EventBridge on one machine, through its API and through templates, with fake functions."""

import io
import json
import threading
import zipfile
from datetime import UTC, datetime

import pytest
from botocore.exceptions import ClientError
from moto.core.config import default_user_config

from onebox.cloud.events import Events

ARN = "arn:aws:lambda:us-east-1:123456789012:function:f"
PATTERN = {
    "source": ["aws.states"],
    "detail-type": ["Step Functions Execution Status Change"],
    "detail": {"status": ["FAILED", "ABORTED"], "stateMachineArn": ["arn:machine"]},
}
EXECUTION = {
    "executionArn": "arn:execution", "stateMachineArn": "arn:machine", "name": "e",
    "status": "ABORTED", "startDate": datetime(2026, 11, 20, 12, tzinfo=UTC),
    "stopDate": datetime(2026, 11, 20, 12, 0, 1, 500_000, tzinfo=UTC),
    "input": '{"suite": "s"}', "inputDetails": {"included": True},
    "error": "Run.stopped", "cause": "by hand",
}  # fmt: skip


class Functions:
    """Fake functions that record their invocations."""

    def __init__(self):
        self.invoked = []
        self.came = threading.Event()
        self.drained = False

    def invoke_later(self, function, payload):
        self.invoked.append((function.function_name, json.loads(payload)))
        self.came.set()

    def drain(self, seconds):
        self.drained = True


@pytest.fixture
def functions(endpoint, monkeypatch):
    """Function ``f``, which rules may invoke."""
    monkeypatch.setitem(default_user_config["lambda"], "use_docker", False)
    role = endpoint.client("iam").create_role(RoleName="f", AssumeRolePolicyDocument="{}")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("index.py", "")
    endpoint.client("lambda").create_function(
        FunctionName="f",
        Runtime="python3.13",
        Role=role["Role"]["Arn"],
        Handler="index.handler",
        Code={"ZipFile": packed.getvalue()},
    )
    return Functions()


@pytest.fixture
def rules(functions):
    rules = Events(functions)
    yield rules
    rules.close()


@pytest.fixture
def put(endpoint, rules):
    """Return a way to put rule ``r`` with target ``f``, and the permission to invoke it."""

    def put(*, permitted=True, target=None, **rule):
        arn = endpoint.client("events").put_rule(Name="r", **rule)["RuleArn"]
        endpoint.client("events").put_targets(
            Rule="r", Targets=[{"Id": "1", "Arn": ARN, **(target or {})}]
        )
        if permitted:
            endpoint.client("lambda").add_permission(
                FunctionName="f",
                StatementId="r",
                Action="lambda:InvokeFunction",
                Principal="events.amazonaws.com",
                SourceArn=arn,
            )
        return arn

    return put


def test_a_changed_execution_invokes_the_function_of_a_matching_rule(put, rules, functions):
    put(EventPattern=json.dumps(PATTERN))

    rules.execution_changed(EXECUTION)
    rules.execution_changed(EXECUTION | {"status": "RUNNING"})
    rules.execution_changed(EXECUTION | {"stateMachineArn": "arn:other"})

    ((name, event),) = functions.invoked
    assert name == "f"
    assert event.pop("id")
    assert event.pop("time").endswith("Z")
    assert event == {
        "version": "0",
        "detail-type": "Step Functions Execution Status Change",
        "source": "aws.states",
        "account": "123456789012",
        "region": "us-east-1",
        "resources": ["arn:execution"],
        "detail": {
            "executionArn": "arn:execution",
            "stateMachineArn": "arn:machine",
            "name": "e",
            "status": "ABORTED",
            "startDate": 1795176000000,
            "stopDate": 1795176001500,
            "input": '{"suite": "s"}',
            "output": None,
            "inputDetails": {"included": True},
            "outputDetails": None,
            "error": "Run.stopped",
            "cause": "by hand",
        },
    }


def test_an_event_of_put_events_invokes_the_function(put, functions, endpoint):
    put(EventPattern=json.dumps({"source": ["me"]}))

    noon = datetime(2026, 11, 20, 12, tzinfo=UTC)
    entry = {"Source": "me", "DetailType": "t", "Detail": '{"a": 1}', "Time": noon}
    endpoint.client("events").put_events(Entries=[entry, entry | {"Source": "you"}])

    ((_, event),) = functions.invoked
    assert (event["detail"], event["time"]) == ({"a": 1}, "2026-11-20T12:00:00Z")
    assert "ingestion-time" not in event


def test_a_target_with_an_input_gets_the_input(put, rules, functions):
    put(EventPattern=json.dumps(PATTERN), target={"Input": '{"own": 1}'})
    rules.execution_changed(EXECUTION)
    assert functions.invoked == [("f", {"own": 1})]


def test_a_disabled_rule_does_nothing(put, rules, functions):
    put(EventPattern=json.dumps(PATTERN), State="DISABLED")
    rules.execution_changed(EXECUTION)
    assert functions.invoked == []


def test_a_rule_without_a_permission_invokes_nothing_as_on_aws(put, rules, functions, caplog):
    put(EventPattern=json.dumps(PATTERN), permitted=False)
    rules.execution_changed(EXECUTION)
    assert functions.invoked == []
    assert "Rule r invokes nothing: no permission of f names the rule." in caplog.text


def test_a_rule_without_its_function_logs_a_warning(put, rules, endpoint, caplog):
    put(EventPattern=json.dumps(PATTERN))
    endpoint.client("lambda").delete_function(FunctionName="f")
    rules.execution_changed(EXECUTION)
    assert f"Rule r invokes nothing: there is no function {ARN}." in caplog.text


def test_a_schedule_fires_once_at_the_start_and_matches_no_event(put, rules, functions):
    arn = put(ScheduleExpression="rate(1 hour)")
    rules.execution_changed(EXECUTION)
    assert functions.invoked == []

    rules.start_schedules()
    assert functions.came.wait(10)
    rules.close()

    ((_, event),) = functions.invoked
    assert (event["source"], event["detail-type"]) == ("aws.events", "Scheduled Event")
    assert (event["resources"], event["detail"]) == ([arn], {})


def test_closing_waits_for_the_functions(rules, functions):
    rules.close()
    assert functions.drained


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        ({"ScheduleExpression": "cron(0 1 * * ? *)"}, "ScheduleExpression .*rate"),
        ({"ScheduleExpression": "rate(0 hours)"}, "ScheduleExpression .*rate"),
        ({"EventPattern": "{}", "RoleArn": "arn:aws:iam::123456789012:role/x"}, "RoleArn"),
        ({"EventPattern": '{"a": [{"like": "b"}]}'}, "EventPattern .*like.*accepted: anything-but"),
        ({"EventPattern": '{"$or": [{"a": [{"like": "b"}]}]}'}, "EventPattern .*like"),
        ({"EventPattern": '{"a": ["b"]}', "EventBusName": "own"}, "EventBusName .*own"),
        ({"EventPattern": '{"a": ["b"]}', "State": "ASLEEP"}, "State .*ASLEEP"),
        ({"EventPattern": "{"}, "Invalid JSON"),
    ],
)
def test_an_unsupported_setting_of_a_rule_is_refused_by_name(put, rule, sentence):
    with pytest.raises(ClientError, match=sentence):
        put(**rule)


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        ({"Arn": "arn:aws:sqs:us-east-1:123456789012:q"}, "Arn .*sqs.*Lambda function"),
        ({"InputPath": "$.detail"}, "InputPath"),
        ({"DeadLetterConfig": {"Arn": "arn:aws:sqs:us-east-1:123456789012:q"}}, "DeadLetterConfig"),
    ],
)
def test_an_unsupported_setting_of_a_target_is_refused_by_name(put, target, sentence):
    with pytest.raises(ClientError, match=sentence):
        put(EventPattern=json.dumps(PATTERN), target=target)


def template(rule=None, permission=None):
    return {
        "Resources": {
            "Rule": {
                "Type": "AWS::Events::Rule",
                "Properties": {
                    "EventPattern": PATTERN,
                    "State": "ENABLED",
                    "Targets": [{"Arn": ARN, "Id": "Target0"}],
                    **(rule or {}),
                },
            },
            "Permission": {
                "Type": "AWS::Lambda::Permission",
                "Properties": {
                    "Action": "lambda:InvokeFunction",
                    "FunctionName": ARN,
                    "Principal": "events.amazonaws.com",
                    "SourceArn": {"Fn::GetAtt": ["Rule", "Arn"]},
                    **(permission or {}),
                },
            },
        }
    }


def test_a_template_creates_a_rule_and_its_permission(rules, functions, formation):
    formation.create_stack(StackName="s", TemplateBody=json.dumps(template()))

    rules.execution_changed(EXECUTION)

    assert [name for name, _ in functions.invoked] == ["f"]
    created = formation.list_stack_resources(StackName="s")["StackResourceSummaries"]
    assert {resource["LogicalResourceId"] for resource in created} == {"Rule", "Permission"}


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"rule": {"RoleArn": "r"}}, "AWS::Events::Rule has RoleArn"),
        (
            {"permission": {"FunctionUrlAuthType": "NONE"}},
            "AWS::Lambda::Permission has Func",
        ),
        ({"rule": {"EventPattern": {"a": [{"like": "b"}]}}}, "which one machine does not honour"),
    ],
)
def test_an_unsupported_property_in_a_template_is_refused(
    rules, functions, formation, settings, sentence
):
    with pytest.raises(ClientError, match=sentence):
        formation.create_stack(StackName="s", TemplateBody=json.dumps(template(**settings)))
