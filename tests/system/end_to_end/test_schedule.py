"""Weekly start of the deployed template: missed, delivered and delivered twice."""

import json

from tests.system.end_to_end.weekly import alarm


def sweep(deployed):
    """Return the suites with a missed start, as the sweep finds them."""
    return deployed.invoke("SweepRunsFunction", {})["missed"]


def test_a_missed_start_raises_the_alarm_of_the_template(missed):
    assert missed == "ALARM"


def test_a_due_schedule_measures_the_last_two_released_versions(weekly, due):
    request = weekly.plan["request"]

    assert (request["versions"], request["trigger"]) == (["9.8.4", "9.0.0"], "schedule")
    assert request["scheduled_at"] == f"{due:%Y-%m-%dT%H:%M:%SZ}"
    assert weekly.run.run_id.startswith(f"{due:%Y%m%dT%H%M%SZ}-")
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
    assert output["run_id"] == weekly.run.run_id
    assert output["started_by"] == weekly.execution["executionArn"]
    assert stored() == before


def test_a_delivered_start_resets_the_alarm(deployed, weekly):
    # An alarm takes the largest value of a minute.
    deployed.until(lambda: sweep(deployed) == [] and alarm(deployed) == "OK")
