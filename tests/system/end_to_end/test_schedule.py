"""Weekly start of the deployed template: missed, delivered and delivered twice."""

import json
from dataclasses import dataclass
from datetime import timedelta

import pytest

from tidemark.model.version_order import versions_parameter
from tidemark.store.stored_plan import find_plan

ALARM = "Tidemark-schedule-missed"
SMALL = {"repetitions": 1, "tasks": 1, "records": 1000, "layout": "trials"}
RELEASED = "9.0.0,9.8.4,8.8.1"


@dataclass
class Weekly:
    """Scheduled execution, from DescribeExecution, and the plan of its run."""

    execution: dict
    plan: dict


def sweep(deployed):
    """Return the suites with a missed start, as the sweep finds them."""
    return deployed.invoke("SweepRunsFunction", {})["missed"]


def alarm(deployed):
    cloudwatch = deployed.cloud.endpoint.client("cloudwatch")
    (described,) = cloudwatch.describe_alarms(AlarmNames=[ALARM])["MetricAlarms"]
    return described["StateValue"]


def make_small(scheduler):
    """Change the template's schedule so that its run takes seconds; change nothing else."""
    (schedule,) = scheduler.list_schedules()["Schedules"]
    current = scheduler.get_schedule(Name=schedule["Name"])
    names = {"Name", "ScheduleExpression", "ScheduleExpressionTimezone", "FlexibleTimeWindow"}
    text = json.dumps({**json.loads(current["Target"]["Input"]), **SMALL})
    scheduler.update_schedule(
        **{name: current[name] for name in names}, Target={**current["Target"], "Input": text}
    )


@pytest.fixture(scope="module")
def missed(deployed):
    """Return the alarm after the first sweep; the scheduler's clock is before the due time."""
    deployed.until(lambda: alarm(deployed) != "INSUFFICIENT_DATA")
    return alarm(deployed)


@pytest.fixture(scope="module")
def weekly(deployed, missed, due, clock):
    """Return the scheduled run after its end."""
    endpoint = deployed.cloud.endpoint
    states = endpoint.client("stepfunctions")
    machine = deployed.stack.state_machine
    parameter = versions_parameter("Tidemark", "rocksdb")
    endpoint.client("ssm").put_parameter(Name=parameter, Type="StringList", Value=RELEASED)
    make_small(endpoint.client("scheduler"))
    before = {run["executionArn"] for run in executions(states, machine)}

    clock.time = due + timedelta(minutes=1)
    deployed.until(lambda: len(executions(states, machine)) > len(before))
    (arn,) = {run["executionArn"] for run in executions(states, machine)} - before
    deployed.until(lambda: states.describe_execution(executionArn=arn)["status"] != "RUNNING")

    endpoint.client("ssm").delete_parameter(Name=parameter)
    execution = states.describe_execution(executionArn=arn)
    run_id = json.loads(execution["output"])["run_id"]
    return Weekly(execution, find_plan(deployed.client.bucket, run_id).model_dump(mode="json"))


def executions(states, machine):
    return states.list_executions(stateMachineArn=machine)["executions"]


def test_a_missed_start_raises_the_alarm_of_the_template(missed):
    assert missed == "ALARM"


def test_a_due_schedule_measures_the_last_two_released_versions(weekly, due):
    request = weekly.plan["request"]

    assert weekly.execution["status"] == "SUCCEEDED", weekly.execution["cause"]
    assert (request["versions"], request["trigger"]) == (["9.8.4", "9.0.0"], "schedule")
    assert request["scheduled_at"] == f"{due:%Y-%m-%dT%H:%M:%SZ}"
    assert weekly.plan["run_id"].startswith(f"{due:%Y%m%dT%H%M%SZ}-")
    assert json.loads(weekly.execution["output"])["status"] == "complete"


def test_a_second_delivery_succeeds_and_does_nothing(deployed, weekly):
    s3 = deployed.cloud.endpoint.client("s3")
    states = deployed.cloud.endpoint.client("stepfunctions")

    def stored():
        listed = s3.list_objects_v2(Bucket=deployed.stack.bucket)["Contents"]
        return {(entry["Key"], entry["ETag"]) for entry in listed}

    before = stored()
    again = states.start_execution(
        stateMachineArn=deployed.stack.state_machine, input=weekly.execution["input"]
    )["executionArn"]
    deployed.until(lambda: states.describe_execution(executionArn=again)["status"] != "RUNNING")

    execution = states.describe_execution(executionArn=again)
    assert execution["status"] == "SUCCEEDED"
    output = json.loads(execution["output"])
    assert output["run_id"] == weekly.plan["run_id"]
    assert output["started_by"] == weekly.execution["executionArn"]
    assert stored() == before


def test_a_delivered_start_resets_the_alarm(deployed, weekly):
    # An alarm takes the largest value of a minute.
    deployed.until(lambda: sweep(deployed) == [] and alarm(deployed) == "OK")
