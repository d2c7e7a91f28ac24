import json

from aws_cdk.assertions import Match


def function(template, module):
    (key,) = template.find_resources(
        "AWS::Lambda::Function", {"Properties": {"Handler": f"lambdas.{module}.handler"}}
    )
    return key


def test_an_execution_that_failed_or_was_ended_invokes_end_run(template):
    template.has_resource_properties(
        "AWS::Events::Rule",
        {
            "EventPattern": {
                "source": ["aws.states"],
                "detail-type": ["Step Functions Execution Status Change"],
                "detail": {
                    "stateMachineArn": [{"Ref": Match.string_like_regexp("^WorkflowRun")}],
                    "status": ["FAILED", "TIMED_OUT", "ABORTED"],
                },
            },
            "Targets": [
                Match.object_like({"Arn": {"Fn::GetAtt": [function(template, "end_run"), "Arn"]}})
            ],
        },
    )


def test_runs_are_swept_every_hour(template):
    template.has_resource_properties(
        "AWS::Events::Rule",
        {
            "ScheduleExpression": "rate(1 hour)",
            "Targets": [
                Match.object_like(
                    {"Arn": {"Fn::GetAtt": [function(template, "sweep_runs"), "Arn"]}}
                )
            ],
        },
    )


def test_only_the_rules_may_invoke_their_functions(template):
    permissions = [
        permission["Properties"]
        for permission in template.find_resources("AWS::Lambda::Permission").values()
    ]

    assert sorted(
        (permission["Principal"], permission["FunctionName"]["Fn::GetAtt"][0])
        for permission in permissions
    ) == sorted(
        ("events.amazonaws.com", function(template, module)) for module in ("end_run", "sweep_runs")
    )
    assert all("SourceArn" in permission for permission in permissions)


def test_functions_that_end_runs_may_stop_trials_and_tasks_and_publish_outcomes(policies):
    for state in ("EndRun", "SweepRuns"):
        (role,) = [role for role in policies if f"Functions{state}ServiceRole" in role]
        statements = [json.dumps(statement) for statement in policies[role]]
        (stop,) = [text for text in statements if "states:StopExecution" in text]
        (tasks,) = [text for text in statements if "ecs:StopTask" in text]
        (publish,) = [text for text in statements if "sns:Publish" in text]
        assert "WorkflowTrial" in stop
        assert "ecs:cluster" in tasks
        assert "WorkflowOutcomes" in publish


def test_only_functions_that_check_claims_may_describe_executions_of_runs(template):
    (policy,) = [
        policy["Properties"]
        for policy in template.find_resources("AWS::IAM::Policy").values()
        if "AskOfHolder" in policy["Properties"]["PolicyName"]
    ]

    roles = sorted(role["Ref"] for role in policy["Roles"])
    assert [
        state in role for state, role in zip(["EndRun", "PlanRun", "SweepRuns"], roles, strict=True)
    ] == [True, True, True]
    (statement,) = policy["PolicyDocument"]["Statement"]
    assert statement["Action"] == "states:DescribeExecution"
    assert "WorkflowRun" in json.dumps(statement["Resource"])


def test_commands_find_both_functions_among_the_outputs(template):
    outputs = template.find_outputs("*")

    assert outputs["EndRunFunction"]["Value"] == {"Ref": function(template, "end_run")}
    assert outputs["SweepRunsFunction"]["Value"] == {"Ref": function(template, "sweep_runs")}
