"""What cdk.json has turned off, and all that it leaves out, is deployed on one machine, too."""

import json
import subprocess
import sys

from suites.files import ROOT

CHANGED = ROOT / "tests" / "infrastructure" / "every_setting.json"
# In a process of its own: a second cloud in one process would find the first one's resources.
DEPLOY = """
import json, sys
from pathlib import Path
from local.cloud.cloud import start_cloud
with start_cloud(Path(sys.argv[1]), context=json.load(sys.stdin)) as cloud:
    stack = cloud.deploy(schedules=False)
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


def test_a_deployment_with_every_setting_changed_stands_on_one_machine(tmp_path):
    context = {**json.loads(CHANGED.read_text()), "alarms": True}
    done = subprocess.run(
        [sys.executable, "-c", DEPLOY, tmp_path],
        cwd=ROOT, input=json.dumps(context), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])

    assert ":stateMachine:Perf-" in found["outputs"]["StateMachine"]
    assert sorted(found["alarms"]) == [
        "Perf-EndRun-failed", "Perf-SweepRuns-failed", "Perf-schedule-missed",
        "Perf-scripted-run-failed", "Perf-start-undelivered",
    ]  # fmt: skip
    assert (found["subscriptions"], found["schedules"], found["protected"]) == (1, 1, True)
