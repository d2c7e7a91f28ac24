import json

from tests.component.infrastructure.granted import granted


def only(template, kind):
    (resource,) = template.find_resources(kind).values()
    return resource["Properties"]


def test_no_suite_is_scheduled_by_default(template):
    template.resource_count_is("AWS::Scheduler::Schedule", 0)
    template.resource_count_is("AWS::SQS::Queue", 0)
    alarms = template.find_resources("AWS::CloudWatch::Alarm").values()
    assert not [alarm for alarm in alarms if "start" in alarm["Properties"]["AlarmName"]]


def test_a_suite_is_measured_at_its_time_in_its_time_zone(everything):
    schedule = only(everything, "AWS::Scheduler::Schedule")

    assert schedule["ScheduleExpression"] == "cron(30 3 ? * SAT *)"
    assert schedule["ScheduleExpressionTimezone"] == "Europe/London"
    assert schedule["FlexibleTimeWindow"] == {"Mode": "OFF"}
    assert schedule["State"] == "ENABLED"


def test_a_schedule_starts_a_run_of_the_newest_versions_with_its_time_as_input(everything):
    target = only(everything, "AWS::Scheduler::Schedule")["Target"]

    assert target["Arn"]["Ref"].startswith("WorkflowRun")
    assert json.loads(target["Input"]) == {
        "suite": "rocksdb",
        "versions": ["newest", "previous"],
        "trigger": "schedule",
        "scheduled_at": "<aws.scheduler.scheduled-time>",
        "budget_usd": 2,
    }


def test_a_start_is_tried_three_times_within_an_hour_and_then_kept(everything):
    target = only(everything, "AWS::Scheduler::Schedule")["Target"]
    (queue,) = everything.find_resources("AWS::SQS::Queue")

    assert target["RetryPolicy"] == {"MaximumEventAgeInSeconds": 3600, "MaximumRetryAttempts": 2}
    assert target["DeadLetterConfig"] == {"Arn": {"Fn::GetAtt": [queue, "Arn"]}}


def test_undelivered_starts_are_encrypted_kept_for_two_weeks_and_read_only_over_tls(everything):
    queue = only(everything, "AWS::SQS::Queue")
    (statement,) = only(everything, "AWS::SQS::QueuePolicy")["PolicyDocument"]["Statement"]

    assert (queue["SqsManagedSseEnabled"], queue["MessageRetentionPeriod"]) == (True, 14 * 86_400)
    assert (statement["Effect"], statement["Action"]) == ("Deny", "sqs:*")
    assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


def test_the_scheduler_may_only_start_runs_and_keep_undelivered_starts(everything):
    roles = {
        key: role
        for key, role in everything.find_resources("AWS::IAM::Role").items()
        if "scheduler.amazonaws.com" in json.dumps(role)
    }
    ((key, role),) = roles.items()
    (trust,) = role["Properties"]["AssumeRolePolicyDocument"]["Statement"]
    actions = {each["Action"]: json.dumps(each["Resource"]) for _, each in granted(everything, key)}

    assert trust["Condition"]["StringEquals"]["aws:SourceAccount"] == {"Ref": "AWS::AccountId"}
    assert actions.keys() == {"states:StartExecution", "sqs:SendMessage"}
    assert "WorkflowRun" in actions["states:StartExecution"]
    assert "SchedulesUndelivered" in actions["sqs:SendMessage"]


def test_the_sweep_gets_the_schedule_of_each_suite_and_may_describe_no_other(everything):
    (schedule,) = everything.find_resources("AWS::Scheduler::Schedule")
    (sweep,) = everything.find_resources(
        "AWS::Lambda::Function", {"Properties": {"Handler": "lambdas.sweep_runs.handler"}}
    ).values()
    statements = [each for _, each in granted(everything) if "scheduler:" in str(each["Action"])]

    variable = sweep["Properties"]["Environment"]["Variables"]["SCHEDULES"]
    assert variable == {"Fn::Join": ["", ['{"rocksdb":"', {"Ref": schedule}, '"}']]}
    assert statements == [
        {
            "Effect": "Allow",
            "Action": "scheduler:GetSchedule",
            "Resource": {"Fn::GetAtt": [schedule, "Arn"]},
        }
    ]
