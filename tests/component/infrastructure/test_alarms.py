import pytest
from aws_cdk.assertions import Match

from cdk.functions import module_of
from tidemark.model.telemetry import MISSED_SCHEDULES, NAMESPACE, RUN_FAILED


def alarms(template):
    resources = template.find_resources("AWS::CloudWatch::Alarm").values()
    return {alarm["Properties"]["AlarmName"]: alarm["Properties"] for alarm in resources}


def dimensions(alarm):
    return {dimension["Name"]: dimension["Value"] for dimension in alarm["Dimensions"]}


def test_each_suite_has_an_alarm_for_its_last_run(template):
    alarm = alarms(template)["Tidemark-rocksdb-run-failed"]

    assert (alarm["Namespace"], alarm["MetricName"]) == (NAMESPACE, RUN_FAILED)
    assert dimensions(alarm) == {"stack": "Tidemark", "suite": "rocksdb"}


@pytest.mark.parametrize("state", ["EndRun", "SweepRuns"])
def test_each_function_that_ends_dead_runs_has_an_alarm_for_its_failure(template, state):
    alarm = alarms(template)[f"Tidemark-{state}-failed"]
    (name,) = dimensions(alarm).values()
    function = template.to_json()["Resources"][name["Ref"]]["Properties"]

    assert (alarm["Namespace"], alarm["MetricName"]) == ("AWS/Lambda", "Errors")
    assert list(dimensions(alarm)) == ["FunctionName"]
    assert function["Handler"] == f"lambdas.{module_of(state)}.handler"


def test_schedules_have_an_alarm_for_missed_and_one_for_undelivered_starts(everything):
    (queue,) = everything.find_resources("AWS::SQS::Queue")
    by_name = alarms(everything)
    missed, undelivered = (
        by_name[f"Tidemark-{name}"] for name in ("schedule-missed", "start-undelivered")
    )

    assert (missed["Namespace"], missed["MetricName"]) == (NAMESPACE, MISSED_SCHEDULES)
    assert dimensions(missed) == {"stack": "Tidemark"}
    assert undelivered["MetricName"] == "ApproximateNumberOfMessagesVisible"
    assert dimensions(undelivered) == {"QueueName": {"Fn::GetAtt": [queue, "QueueName"]}}


def test_reports_have_an_alarm_for_a_failed_refresh(template, everything):
    alarm = alarms(everything)["Tidemark-refresh-failed"]
    (machine,) = dimensions(alarm).values()

    assert (alarm["Namespace"], alarm["MetricName"]) == ("AWS/States", "ExecutionsFailed")
    assert machine["Ref"].startswith("ReportsRefreshesRefresh")
    assert "Tidemark-refresh-failed" not in alarms(template)


def test_an_alarm_changes_with_a_value_and_never_without_one(everything, suites_of_everything):
    by_name = alarms(everything)

    assert len(by_name) == 5 + len(suites_of_everything)
    for alarm in by_name.values():
        assert alarm["TreatMissingData"] == "ignore"
        assert (alarm["EvaluationPeriods"], alarm["DatapointsToAlarm"]) == (1, 1)
        assert (alarm["Statistic"], alarm["Threshold"]) == ("Maximum", 1)
        assert alarm["ComparisonOperator"] == "GreaterThanOrEqualToThreshold"


def test_two_runs_of_a_suite_never_share_a_period(everything, suites_of_everything):
    periods = {name: alarm["Period"] for name, alarm in alarms(everything).items()}

    # A message is hidden for 30 s after a consumer has looked at it.
    assert periods == {
        "Tidemark-EndRun-failed": 60,
        "Tidemark-SweepRuns-failed": 60,
        "Tidemark-refresh-failed": 60,
        **{f"Tidemark-{suite}-run-failed": 60 for suite in suites_of_everything},
        "Tidemark-schedule-missed": 60,
        "Tidemark-start-undelivered": 300,
    }


def test_an_alarm_notifies_the_topic_when_it_is_raised_and_when_it_is_cleared(everything):
    (topic,) = everything.find_resources("AWS::SNS::Topic")

    for alarm in alarms(everything).values():
        assert alarm["AlarmActions"] == alarm["OKActions"] == [{"Ref": topic}]


def test_only_the_alarms_of_this_stack_may_publish_on_the_topic(everything):
    (policy,) = everything.find_resources("AWS::SNS::TopicPolicy").values()
    (allow,) = [
        statement
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Allow"
    ]

    assert allow["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
    assert allow["Action"] == "sns:Publish"
    assert allow["Condition"]["ArnEquals"]["aws:SourceArn"] == [
        {"Fn::GetAtt": [alarm, "Arn"]}
        for alarm in everything.find_resources("AWS::CloudWatch::Alarm")
    ]
    assert allow["Condition"]["StringEquals"] == {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}


def test_mail_is_sent_only_to_the_address_of_the_setting(template, everything):
    template.resource_count_is("AWS::SNS::Subscription", 0)
    everything.has_resource_properties(
        "AWS::SNS::Subscription",
        {
            "Endpoint": "perf@example.com",
            "Protocol": "email",
            "TopicArn": {"Ref": Match.string_like_regexp("^WorkflowOutcomes")},
        },
    )
