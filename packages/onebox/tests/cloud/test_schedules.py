"""EventBridge Scheduler on one machine, through its API and through templates.

Executions start through the real API; their state machine does nothing.
"""

import json
import time
from datetime import UTC, datetime, timedelta

import pytest
from botocore.exceptions import ClientError

from onebox.cloud.schedules import Scheduler, due_times
from onebox.cloud.state_machines import StateMachines

MACHINE = "arn:aws:states:us-east-1:123456789012:stateMachine:m"
QUEUE = "arn:aws:sqs:us-east-1:123456789012:q"
ROLE = "arn:aws:iam::123456789012:role/r"
SATURDAY = datetime(2026, 11, 21, 12, tzinfo=UTC)
SECONDS = 10
WEEKLY = "cron(0 2 ? * SUN *)"


class Clock:
    """A clock that stands still until a test moves it on."""

    def __init__(self):
        self.time = SATURDAY

    def __call__(self):
        return self.time

    def move_on(self, **by):
        self.time += timedelta(**by)


class Weekly:
    """The one cron expression of these tests: on Sundays at 2:00 UTC."""

    def __init__(self, fields, zone):
        if f"cron({fields})" != WEEKLY:
            raise ValueError(f"{fields!r} is not a cron expression")

    def next_after(self, moment):
        first = datetime(2026, 11, 22, 2, tzinfo=UTC)
        week = timedelta(days=7)
        return first + week * ((moment - first) // week + 1)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def scheduler(endpoint, clock):
    scheduler = Scheduler(endpoint, Weekly, clock)
    yield scheduler
    scheduler.close()


@pytest.fixture
def machine(endpoint, scheduler):
    """A state machine that every caller may start."""
    machines = StateMachines(endpoint, {})
    endpoint.client("stepfunctions").create_state_machine(
        name="m",
        roleArn=ROLE,
        definition=json.dumps(
            {"QueryLanguage": "JSONata", "StartAt": "S", "States": {"S": {"Type": "Succeed"}}}
        ),
    )
    yield MACHINE
    machines.close()


@pytest.fixture
def put(endpoint, scheduler):
    """Return a way to create schedule ``s``, which starts the state machine every Sunday."""

    def put(expression=WEEKLY, zone="Etc/UTC", target=None, **more):
        full_target = {"Arn": MACHINE, "RoleArn": ROLE, "Input": "{}", **(target or {})}
        return endpoint.client("scheduler").create_schedule(
            Name="s",
            ScheduleExpression=expression,
            ScheduleExpressionTimezone=zone,
            FlexibleTimeWindow={"Mode": "OFF"},
            Target=full_target,
            **more,
        )["ScheduleArn"]

    return put


@pytest.fixture
def inputs(endpoint):
    """Return a way to list the inputs of all executions so far, in order."""

    def inputs():
        states = endpoint.client("stepfunctions")
        arns = [
            execution["executionArn"]
            for execution in states.list_executions(stateMachineArn=MACHINE)["executions"]
        ]
        found = [states.describe_execution(executionArn=arn)["input"] for arn in arns]
        return sorted(map(json.loads, found), key=json.dumps)

    return inputs


def test_a_schedule_starts_an_execution_at_each_due_time(scheduler, clock, machine, put, inputs):
    put(target={"Input": '{"at": "<aws.scheduler.scheduled-time>"}'})

    scheduler.catch_up()
    assert inputs() == []
    clock.move_on(hours=14)
    scheduler.catch_up()
    scheduler.catch_up()
    assert inputs() == [{"at": "2026-11-22T02:00:00Z"}]
    clock.move_on(days=14)
    scheduler.catch_up()
    assert [content["at"][:10] for content in inputs()] == [
        "2026-11-22",
        "2026-11-29",
        "2026-12-06",
    ]


def test_the_input_has_the_attributes_of_the_delivery(scheduler, clock, machine, put, inputs):
    names = ["schedule-arn", "scheduled-time", "execution-id", "attempt-number"]
    arn = put(
        "at(2026-11-21T14:00:00)",
        "Europe/Berlin",
        {"Input": json.dumps({name: f"<aws.scheduler.{name}>" for name in names})},
    )
    clock.move_on(hours=2)
    scheduler.catch_up()

    (content,) = inputs()
    assert len(content.pop("execution-id")) == 36
    assert content == {
        "schedule-arn": arn,
        "scheduled-time": "2026-11-21T13:00:00Z",
        "attempt-number": "1",
    }


def test_a_rate_is_due_at_once_and_then_at_its_rate(scheduler, clock, machine, put, inputs):
    put("rate(1 hour)")

    scheduler.catch_up()
    assert len(inputs()) == 1
    clock.move_on(hours=2)
    scheduler.catch_up()
    assert len(inputs()) == 3


def test_the_scheduler_follows_its_clock_by_itself(scheduler, clock, machine, put, inputs):
    put("rate(1 hour)")
    scheduler.start()
    deadline = time.monotonic() + SECONDS
    while not inputs():
        assert time.monotonic() < deadline


def test_a_disabled_or_deleted_schedule_does_nothing(
    endpoint, scheduler, clock, machine, put, inputs
):
    put(State="DISABLED")
    clock.move_on(days=7)
    scheduler.catch_up()
    endpoint.client("scheduler").delete_schedule(Name="s")
    put()
    endpoint.client("scheduler").delete_schedule(Name="s")
    clock.move_on(days=7)
    scheduler.catch_up()

    assert inputs() == []


def test_a_schedule_that_is_enabled_again_skips_the_missed_times(
    endpoint, scheduler, clock, machine, put, inputs
):
    put(State="DISABLED")
    client = endpoint.client("scheduler")
    kept = client.get_schedule(Name="s")
    fields = {"Name", "ScheduleExpression", "FlexibleTimeWindow", "Target"}
    clock.move_on(days=10)

    client.update_schedule(**{name: kept[name] for name in fields})
    scheduler.catch_up()
    assert inputs() == []
    clock.move_on(days=7)
    scheduler.catch_up()
    assert len(inputs()) == 1


def letters(endpoint):
    sqs = endpoint.client("sqs")
    url = sqs.get_queue_url(QueueName="q")["QueueUrl"]
    found = sqs.receive_message(
        QueueUrl=url, MaxNumberOfMessages=10, MessageAttributeNames=["All"]
    ).get("Messages", [])
    return [
        (
            json.loads(letter["Body"]),
            {name: value["StringValue"] for name, value in letter["MessageAttributes"].items()},
        )
        for letter in found
    ]


@pytest.mark.parametrize(
    ("policy", "limit", "retries"),
    [
        (
            {"MaximumRetryAttempts": 2, "MaximumEventAgeInSeconds": 3600},
            "MaximumRetryAttempts",
            "2",
        ),
        (
            {"MaximumRetryAttempts": 100, "MaximumEventAgeInSeconds": 600},
            "MaximumEventAgeInSeconds",
            "3",
        ),
    ],
)
def test_a_failed_delivery_is_tried_again_and_then_kept(
    endpoint, scheduler, clock, put, policy, limit, retries
):
    """Deliver to a state machine that does not exist."""
    endpoint.client("sqs").create_queue(QueueName="q")
    text = '{"at": "<aws.scheduler.scheduled-time>"}'
    arn = put(target={"Input": text, "RetryPolicy": policy, "DeadLetterConfig": {"Arn": QUEUE}})
    clock.move_on(hours=14)
    scheduler.catch_up()
    assert letters(endpoint) == []
    clock.move_on(hours=1)
    scheduler.catch_up()
    scheduler.catch_up()

    ((body, attributes),) = letters(endpoint)
    assert body == {"StateMachineArn": MACHINE, "Input": '{"at": "2026-11-22T02:00:00Z"}'}
    assert attributes.pop("EXECUTION_ID")
    assert MACHINE in attributes.pop("ERROR_MESSAGE")
    assert attributes == {
        "ERROR_CODE": "StateMachineDoesNotExist",
        "EXHAUSTED_RETRY_CONDITION": limit,
        "IS_PAYLOAD_TRUNCATED": "false",
        "RETRY_ATTEMPTS": retries,
        "SCHEDULED_TIME": "2026-11-22T02:00:00Z",
        "SCHEDULE_ARN": arn,
        "TARGET_ARN": MACHINE,
    }


def test_a_delivery_that_succeeds_later_is_not_kept(
    endpoint, scheduler, clock, put, inputs, request
):
    endpoint.client("sqs").create_queue(QueueName="q")
    put(
        target={
            "Input": '{"attempt": <aws.scheduler.attempt-number>}',
            "DeadLetterConfig": {"Arn": QUEUE},
        }
    )
    clock.move_on(hours=14)
    scheduler.catch_up()
    request.getfixturevalue("machine")
    clock.move_on(hours=1)
    scheduler.catch_up()

    assert inputs() == [{"attempt": 2}]
    assert letters(endpoint) == []


@pytest.mark.parametrize("queue", [{}, {"DeadLetterConfig": {"Arn": QUEUE}}])
def test_a_lost_delivery_is_logged(scheduler, clock, put, queue, caplog):
    put(target={"RetryPolicy": {"MaximumRetryAttempts": 0}, **queue})
    clock.move_on(hours=14)
    scheduler.catch_up()

    assert "Schedule s was not delivered: " in caplog.text
    assert ("The dead letter of schedule s was not kept: " in caplog.text) == bool(queue)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"expression": "cron(0 2 * * SUN *)"}, "'0 2 * * SUN *' is not a cron expression"),
        ({"zone": "Mars/Olympus"}, "'Mars/Olympus' is not a time zone"),
        ({"StartDate": SATURDAY}, "StartDate"),
        ({"EndDate": SATURDAY}, "EndDate"),
        ({"ActionAfterCompletion": "DELETE"}, "ActionAfterCompletion"),
        ({"KmsKeyArn": "arn:aws:kms:us-east-1:123456789012:key/k"}, "KmsKeyArn"),
        ({"target": {"Arn": "arn:aws:lambda:us-east-1:123456789012:function:f"}}, "Arn"),
        ({"target": {"SqsParameters": {"MessageGroupId": "g"}}}, "SqsParameters"),
        (
            {"target": {"DeadLetterConfig": {"Arn": "arn:aws:sqs:eu-west-2:123456789012:q"}}},
            "DeadLetterConfig",
        ),
    ],
)
def test_an_unsupported_setting_is_refused_by_name(endpoint, put, settings, named):
    with pytest.raises(ClientError, match="ValidationException") as error:
        put(**settings)

    assert named in str(error.value)
    assert endpoint.client("scheduler").list_schedules()["Schedules"] == []


def template(**more):
    properties = {
        "ScheduleExpression": WEEKLY,
        "ScheduleExpressionTimezone": "Etc/UTC",
        "FlexibleTimeWindow": {"Mode": "OFF"},
        "State": "ENABLED",
        "Target": {
            "Arn": MACHINE,
            "RoleArn": ROLE,
            "Input": '{"at": "<aws.scheduler.scheduled-time>"}',
            "RetryPolicy": {"MaximumRetryAttempts": 2, "MaximumEventAgeInSeconds": 3600},
        },
        **more,
    }
    schedule = {"Type": "AWS::Scheduler::Schedule", "Properties": properties}
    outputs = {"Name": {"Value": {"Ref": "S"}}, "Arn": {"Value": {"Fn::GetAtt": ["S", "Arn"]}}}
    return json.dumps({"Resources": {"S": schedule}, "Outputs": outputs})


def test_a_template_creates_a_schedule_that_is_due(
    endpoint, scheduler, clock, machine, inputs, formation
):
    formation.create_stack(StackName="t", TemplateBody=template())
    clock.move_on(hours=14)
    scheduler.catch_up()

    assert inputs() == [{"at": "2026-11-22T02:00:00Z"}]
    (stack,) = formation.describe_stacks(StackName="t")["Stacks"]
    outputs = {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}
    kept = endpoint.client("scheduler").get_schedule(Name=outputs["Name"])
    assert kept["Arn"] == outputs["Arn"]
    assert kept["Target"]["RetryPolicy"] == {
        "MaximumRetryAttempts": 2,
        "MaximumEventAgeInSeconds": 3600,
    }


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({"ScheduleExpression": "cron(bogus)"}, "'bogus' is not a cron expression"),
        ({"FlexibleTimeWindow": {"Mode": "FLEXIBLE", "MaximumWindowInMinutes": 5}}, "FLEXIBLE"),
        ({"Colour": "blue"}, "Colour"),
    ],
)
def test_an_unsupported_setting_in_a_template_is_refused(formation, scheduler, more, named):
    with pytest.raises(ClientError, match="ValidationError") as error:
        formation.create_stack(StackName="t", TemplateBody=template(**more))

    assert named in str(error.value)


NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


class Cron:
    """A cron expression that is not read."""

    def __init__(self, fields, zone):
        if fields == "bogus":
            raise ValueError(f"{fields!r} is not a cron expression")
        self.fields, self.zone = fields, zone


def test_a_rate_is_due_at_its_creation_and_then_at_its_rate():
    times = due_times("rate(90 minutes)", "Etc/UTC", NOON, Cron)

    assert times.next_after(NOON - timedelta(seconds=1)) == NOON
    assert times.next_after(NOON) == NOON + timedelta(minutes=90)
    assert times.next_after(NOON + timedelta(minutes=100)) == NOON + timedelta(hours=3)


def test_an_at_expression_is_due_once_in_its_time_zone():
    times = due_times("at(2026-11-21T14:00:00)", "Europe/Berlin", NOON, Cron)

    assert times.next_after(NOON) == NOON + timedelta(hours=1)
    assert times.next_after(NOON + timedelta(hours=1)) is None


def test_a_cron_expression_is_read_by_its_reader():
    times = due_times("cron(0 14 * * ? *)", "Europe/Berlin", NOON, Cron)

    assert (times.fields, times.zone) == ("0 14 * * ? *", "Europe/Berlin")


@pytest.mark.parametrize(
    ("expression", "zone", "sentence"),
    [
        (
            "rate(0 days)",
            "Etc/UTC",
            r"'rate\(0 days\)' is not a schedule expression; accepted: such as rate\(7 days\), ",
        ),
        ("rate(1 week)", "Etc/UTC", "is not a schedule expression"),
        ("at(2026-02-30T00:00:00)", "Etc/UTC", "is not a schedule expression"),
        ("cron(bogus)", "Etc/UTC", "'bogus' is not a cron expression"),
        ("0 2 ? * SUN *", "Etc/UTC", "is not a schedule expression"),
        ("rate(1 day)", "Mars/Olympus", "'Mars/Olympus' is not a time zone"),
        ("at(2026-11-21T14:00:00)", "Mars/Olympus", "'Mars/Olympus' is not a time zone"),
    ],
)
def test_an_invalid_expression_is_refused(expression, zone, sentence):
    with pytest.raises(ValueError, match=sentence):
        due_times(expression, zone, NOON, Cron)
