"""Deployment on one machine with settings that cdk.json turns off or leaves out."""

import json
import subprocess
import sys

import pytest

from tidemark.model.checkout import ROOT

CHANGED = ROOT / "tests" / "component" / "infrastructure" / "every_setting.json"
# A separate process is necessary: two clouds in one process share their resources.
DEPLOY = """
import json, sys
from pathlib import Path
from onebox.cloud.cloud import start_cloud
from tidemark.one_machine.app import deploy, machine_app
with start_cloud(machine_app(json.load(sys.stdin)), Path(sys.argv[1])) as cloud:
    stack = deploy(cloud, schedules=False)
    client = cloud.endpoint.client
    print(json.dumps({
        "outputs": dict(stack.outputs),
        "alarms": [
            alarm["AlarmName"] for alarm in client("cloudwatch").describe_alarms()["MetricAlarms"]
        ],
        "subscriptions": len(client("sns").list_subscriptions()["Subscriptions"]),
        "schedules": len(client("scheduler").list_schedules()["Schedules"]),
        "protected": client("cloudformation").describe_stacks(StackName="Perf-Data")["Stacks"][0][
            "EnableTerminationProtection"
        ],
    }))
"""


@pytest.mark.systems
def test_one_machine_deploys_every_changed_setting(tmp_path):
    kept = {"stackName": "Perf", "ephemeral": False, "alarms": True}
    context = {**json.loads(CHANGED.read_text()), **kept}
    done = subprocess.run(
        [sys.executable, "-c", DEPLOY, tmp_path],
        cwd=ROOT, input=json.dumps(context), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    deployed = json.loads(done.stdout.splitlines()[-1])

    assert ":stateMachine:Perf-" in deployed["outputs"]["StateMachine"]
    assert sorted(deployed["alarms"]) == [
        "Perf-EndRun-failed", "Perf-SweepRuns-failed", "Perf-schedule-missed",
        "Perf-scripted-run-failed", "Perf-start-undelivered",
    ]  # fmt: skip
    assert (deployed["subscriptions"], deployed["schedules"], deployed["protected"]) == (1, 1, True)
