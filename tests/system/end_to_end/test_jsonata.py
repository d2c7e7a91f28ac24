"""JSONata expressions of the state machines against the reference implementation."""

import json
import re
import subprocess
from datetime import datetime, timedelta

import pytest

from onebox.asl.jsonata import Template, is_expression
from tidemark.model.checkout import ROOT

UNCLASSIFIED = (
    "'task ' & $states.input.index & ': it failed with ' & $states.input.failure.Error & '; its "
    "reason is not known, since ClassifyStop failed with ' & $states.errorOutput.Error"
)
UNANSWERED = (
    "'step ' & $step.name & ': the function ' & $step.function & ' failed with ' & "
    "$states.errorOutput.Error & ': ' & $substring($states.errorOutput.Cause, 0, 500)"
)
UNASKED = (
    "'step ' & $step.name & ': the wait for ' & $step.awaited & ' failed with ' & "
    "$states.errorOutput.Error & ': ' & $substring($states.errorOutput.Cause, 0, 500)"
)
UNPAUSED = (
    "'step ' & $step.name & ': its rules could not be paused: ' & $states.errorOutput.Error & "
    "': ' & $substring($states.errorOutput.Cause, 0, 500)"
)
UNFOUND = (
    "'step ' & $step.name & ': its tasks could not be found: ' & $states.errorOutput.Error & "
    "': ' & $substring($states.errorOutput.Cause, 0, 500)"
)
UNSTARTED = (
    "'service ' & $step.name & ': it could not be started: ' & $states.errorOutput.Error & ': ' & "
    "$substring($states.errorOutput.Cause, 0, 500)"
)
STARTED = (
    "[$services, {'name': $step.name, 'index': $step.index, "
    "'containers': [$step.containers], 'task_arn': $states.result[0].task_arn}]"
)
SIZED = (
    "$merge([$step.size, {'ContainerOverrides': [{'Name': $step.name, 'Command': [$step.command], "
    "'Environment': $append($environment, $step.environment)}]}])"
)
READY = {"Name": "TIDEMARK_SERVER", "Value": "10.0.0.7"}
VERSION = {"Name": "TIDEMARK_VERSION", "Value": "1.0"}
SERVER = {"name": "server", "index": 1, "containers": ["server"], "task_arn": "arn:task/s1"}
WAIT = {"name": "loaded", "awaited": "loaded"}
PAUSE = {"name": "quiet", "rules": ["b-nightly"]}
SEARCH = {"name": "compact", "cluster": "arn:theirs"}
# An instance may have no security groups, and has one subnet or more.
PLACES = [
    {
        "cluster": "arn:theirs",
        "task_definition": "arn:writer:7",
        "subnets": ["subnet-1", "subnet-2"][:count],
        "security_groups": ["sg-1"][: count - 1],
    }
    for count in (1, 2)
]
CALL = {"name": "warm", "function": "warm-cache", "payload": {"tables": ["a"]}}
# No run here is sure to reach these: late logs, a claim with a dead holder, a failed task while
# Lambda refuses invocations, steps that call a function or wait, and services.
NOT_REACHED = {
    UNCLASSIFIED: {
        "states": {
            "input": {"index": 7, "failure": {"Error": "States.Timeout"}},
            "errorOutput": {"Error": "Lambda.TooManyRequestsException"},
        }
    },
    "$states.errorOutput.Error": {"states": {"errorOutput": {"Error": "States.Timeout"}}},
    "$substring($states.errorOutput.Cause, 0, 3000)": {
        "states": {"errorOutput": {"Cause": "no answer"}}
    },
    "$states.input.cut_short": {"states": {"input": {"cut_short": True}}},
    "$states.input": {"states": {"input": {"trial": 1}}},
    "$step.deadline_seconds": {"step": {"deadline_seconds": 60}},
    "$states.input.wait_seconds": {"states": {"input": {"wait_seconds": 2}}},
    "$states.input.holder": {"states": {"input": {"holder": {"status": "GONE"}}}},
    "$step.function": {"step": CALL},
    "$step.payload": {"step": CALL},
    UNANSWERED: {
        "step": CALL,
        "states": {"errorOutput": {"Error": "States.Timeout", "Cause": "no answer"}},
    },
    "$step.name": {"step": WAIT},
    "$step.awaited": {"step": WAIT},
    "$holds": {"holds": 0},
    "$prepared.system.security_group": {"prepared": {"system": {"security_group": "sg-0a1b2c3d"}}},
    "$states.result.Payload.holds": {"states": {"result": {"Payload": {"holds": 1}}}},
    "[$step.rules]": {"step": PAUSE},
    UNPAUSED: {
        "step": PAUSE,
        "states": {"errorOutput": {"Error": "Refused", "Cause": "there is no rule b-nightly"}},
    },
    UNFOUND: {
        "step": SEARCH,
        "states": {"errorOutput": {"Error": "AccessDenied", "Cause": "not allowed"}},
    },
    "$waiting_since": {"waiting_since": "2026-11-20T12:46:00.123Z"},
    "$states.result.Payload.stopped_by": {"states": {"result": {"Payload": {"stopped_by": None}}}},
    "$not($states.input.over)": {"states": {"input": {"over": False}}},
    "$step.task_definition": {"step": {"task_definition": "arn:server:3"}},
    SIZED: {
        "environment": [VERSION],
        "step": {
            "name": "server",
            "command": ["server"],
            "environment": [READY],
            "size": {"Cpu": "512", "Memory": "1024"},
        },
    },
    STARTED: {
        "services": [],
        "step": SERVER,
        "states": {"result": [{"task_arn": "arn:task/s1"}]},
    },
    "$states.input.task_arn = null": {"states": {"input": {"task_arn": None}}},
    "$states.input.failures": {"states": {"input": {"failures": "[]"}}},
    UNSTARTED: {
        "step": SERVER,
        "states": {"errorOutput": {"Error": "ECS.ClientException", "Cause": "no definition"}},
    },
    "[$environment, $states.result.Payload.environment]": {
        "environment": [VERSION],
        "states": {"result": {"Payload": {"environment": [READY]}}},
    },
    "$services": {"services": [SERVER]},
    "[$tasks, $states.result.Payload.tasks]": {
        "tasks": [{"index": 0}],
        "states": {"result": {"Payload": {"tasks": [{"index": 1}]}}},
    },
    "$states.result.Payload.over ? [] : $services": {
        "services": [SERVER],
        "states": {"result": {"Payload": {"over": True}}},
    },
    "$failure != null": {"failure": None},
    UNASKED: {
        "step": WAIT,
        "states": {"errorOutput": {"Error": "QueryFailed", "Cause": "it ended as Timeout"}},
    },
}
# ECS describes tasks with or without these fields, depending on where they run.
TASKS = [
    {
        "AvailabilityZone": "eu-west-2a",
        "Containers": [{"Name": "rocksdb", "ImageDigest": "sha256:ab12"}],
        "PullStartedAt": 1593617144436,
    },
    {"Containers": [{"Name": "agent", "ImageDigest": "sha256:ffff"}, {"Name": "rocksdb"}]},
    {"Tasks": [{"TaskArn": "arn:task/s1"}], "Failures": []},
    {"Tasks": [], "Failures": [{"Arn": "arn:c", "Reason": "RESOURCE:ENI"}]},
]


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from strings(item)


@pytest.fixture(scope="module")
def expressions(deployed):
    states = deployed.cloud.endpoint.client("stepfunctions")
    definitions = [
        states.describe_state_machine(stateMachineArn=machine["stateMachineArn"])["definition"]
        for machine in states.list_state_machines()["stateMachines"]
    ]
    assert len(definitions) == 2
    return {
        text.removeprefix("{%").removesuffix("%}").strip()
        for definition in definitions
        for text in strings(json.loads(definition))
        if is_expression(text)
    }


@pytest.fixture(scope="module")
def evaluations(deployed, expressions, measured, rejected, failed):
    """Return every evaluation of the runs, and of expressions that they did not reach."""
    optional = [text for text in expressions if text.startswith("$exists($states.result.")]
    own = {"step": {"container": "rocksdb"}}
    described = [(text, {"states": {"result": task}, **own}) for text in optional for task in TASKS]
    of_instance = [text for text in expressions if text.startswith("$exists($step.place)")]
    assert len(of_instance) == 6
    placed = [(text, {"step": {"place": place}}) for text in of_instance for place in PLACES]
    subnets = [(text, {}) for text in expressions if text.startswith("$split('subnet-")]
    for expression, bindings in [*NOT_REACHED.items(), *described, *placed, *subnets]:
        Template(f"{{% {expression} %}}").evaluate(
            bindings, lambda *evaluation: deployed.evaluations.append(evaluation)
        )
    return list(deployed.evaluations)


@pytest.fixture(scope="module")
def reference(evaluations):
    done = subprocess.run(
        ["node", ROOT / "tests" / "system" / "end_to_end" / "replay.mjs"],
        input="\n".join(
            json.dumps({"expression": expression, "bindings": bound})
            for expression, bound, _ in evaluations
        ),
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line).get("value", "undefined") for line in done.stdout.splitlines()]


def test_every_expression_was_evaluated(expressions, evaluations):
    assert expressions <= {expression for expression, _, _ in evaluations}


def test_the_reference_gives_the_same_value_for_every_evaluation(evaluations, reference):
    assert len(reference) == len(evaluations) > 100
    for (expression, bindings, value), expected in zip(evaluations, reference, strict=True):
        if expression != "$now()":
            assert value == expected, (expression, bindings)


def test_the_time_has_the_form_of_the_reference(evaluations, reference):
    times = [
        (value, expected)
        for (expression, _, value), expected in zip(evaluations, reference, strict=True)
        if expression == "$now()"
    ]

    assert times
    for value, expected in times:
        assert re.sub(r"\d", "0", value) == re.sub(r"\d", "0", expected)
        late = datetime.fromisoformat(expected) - datetime.fromisoformat(value)
        assert timedelta(0) <= late < timedelta(hours=1)
