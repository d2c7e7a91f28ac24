"""The weekly start of the deployed template, whose two versions take turns."""

import json
from dataclasses import dataclass
from datetime import timedelta

import pytest

from tidemark.client.runs import Run
from tidemark.model.version_order import versions_parameter
from tidemark.store.stored_plan import find_plan

ALARM = "Tidemark-schedule-missed"
SMALL = {"repetitions": 1, "tasks": 1, "records": 2000, "layout": "rounds"}
RELEASED = "9.0.0,9.8.4,8.8.1"


@dataclass
class Weekly:
    """Scheduled execution, from DescribeExecution, with its run and the plan of it."""

    execution: dict
    run: Run
    plan: dict


@pytest.fixture(scope="package")
def missed(deployed):
    """Return the alarm after the first sweep; the scheduler's clock is before the due time."""
    deployed.until(lambda: alarm(deployed) != "INSUFFICIENT_DATA")
    return alarm(deployed)


@pytest.fixture(scope="package")
def weekly(deployed, missed, due, clock):
    """Return the scheduled run after its end."""
    endpoint = deployed.cloud.endpoint
    states = endpoint.client("stepfunctions")
    machine = deployed.stack.state_machine
    parameter = versions_parameter("Tidemark", "rocksdb")
    endpoint.client("ssm").put_parameter(Name=parameter, Type="StringList", Value=RELEASED)
    _make_small(endpoint.client("scheduler"))
    before = _executions(states, machine)

    clock.time = due + timedelta(minutes=1)
    deployed.until(lambda: len(_executions(states, machine)) > len(before))
    (arn,) = _executions(states, machine) - before
    deployed.until(lambda: states.describe_execution(executionArn=arn)["status"] != "RUNNING")

    endpoint.client("ssm").delete_parameter(Name=parameter)
    execution = states.describe_execution(executionArn=arn)
    assert execution["status"] == "SUCCEEDED", execution["cause"]
    run_id = json.loads(execution["output"])["run_id"]
    plan = find_plan(deployed.client.bucket, run_id).model_dump(mode="json")
    return Weekly(execution, Run(run_id, arn), plan)


def alarm(deployed):
    """Return the state of the alarm of missed starts."""
    cloudwatch = deployed.cloud.endpoint.client("cloudwatch")
    (described,) = cloudwatch.describe_alarms(AlarmNames=[ALARM])["MetricAlarms"]
    return described["StateValue"]


def _make_small(scheduler):
    """Change the template's schedule so that its run takes seconds; change nothing else."""
    (schedule,) = scheduler.list_schedules()["Schedules"]
    current = scheduler.get_schedule(Name=schedule["Name"])
    names = {"Name", "ScheduleExpression", "ScheduleExpressionTimezone", "FlexibleTimeWindow"}
    text = json.dumps({**json.loads(current["Target"]["Input"]), **SMALL})
    scheduler.update_schedule(
        **{name: current[name] for name in names}, Target={**current["Target"], "Input": text}
    )


def _executions(states, machine):
    listed = states.list_executions(stateMachineArn=machine)["executions"]
    return {run["executionArn"] for run in listed}
