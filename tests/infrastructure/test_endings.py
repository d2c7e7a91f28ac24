import json

from aws_cdk.assertions import Match


def function(template, module):
    (found,) = template.find_resources(
        "AWS::Lambda::Function", {"Properties": {"Handler": f"lambdas.{module}.handler"}}
    )
    return found


def test_the_end_of_a_run_that_had_no_last_state_is_told_to_end_run(template):
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


def test_each_rule_may_invoke_its_function_and_nobody_else_may(template):
    permissions = template.find_resources("AWS::Lambda::Permission").values()

    assert sorted(
        (found["Properties"]["Principal"], found["Properties"]["FunctionName"]["Fn::GetAtt"][0])
        for found in permissions
    ) == sorted(
        ("events.amazonaws.com", function(template, module)) for module in ("end_run", "sweep_runs")
    )
    assert all("SourceArn" in found["Properties"] for found in permissions)


def test_who_ends_runs_stops_trials_and_tasks_of_our_cluster_and_tells_the_topic(policies):
    for state in ("EndRun", "SweepRuns"):
        (role,) = [role for role in policies if f"Functions{state}ServiceRole" in role]
        statements = [json.dumps(statement) for statement in policies[role]]
        (stop,) = [text for text in statements if "states:StopExecution" in text]
        (tasks,) = [text for text in statements if "ecs:StopTask" in text]
        (publish,) = [text for text in statements if "sns:Publish" in text]
        assert "WorkflowTrial" in stop
        assert "ecs:cluster" in tasks
        assert "WorkflowOutcomes" in publish


def test_only_who_judges_a_claim_may_ask_for_executions_of_runs(template):
    (policy,) = [
        found["Properties"]
        for found in template.find_resources("AWS::IAM::Policy").values()
        if "AskOfHolder" in found["Properties"]["PolicyName"]
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
