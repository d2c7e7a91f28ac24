"""Every JSONata expression of the state machines, against the reference implementation."""

import json
import re
import subprocess
from datetime import datetime, timedelta

import pytest

from local.asl.jsonata import Template, is_expression
from suites.files import ROOT

# What no run of these tests need come by: logs that are late, a claim whose holder is dead.
NOT_REACHED = {
    "$states.input.wait_seconds": {"states": {"input": {"wait_seconds": 2}}},
    "$states.input.holder": {"states": {"input": {"holder": {"status": "GONE"}}}},
}
# What ECS may tell of a task and may leave out, by where it runs.
TASKS = [
    {
        "AvailabilityZone": "eu-west-2a",
        "Containers": [{"Name": "rocksdb", "ImageDigest": "sha256:ab12"}],
        "PullStartedAt": 1593617144436,
    },
    {"Containers": [{"Name": "rocksdb"}]},
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
    """Every evaluation, of the runs and of what they did not come by."""
    optional = [text for text in expressions if text.startswith("$exists($states.result.")]
    described = [(text, {"states": {"result": task}}) for text in optional for task in TASKS]
    for expression, bindings in [*NOT_REACHED.items(), *described]:
        Template(f"{{% {expression} %}}").evaluate(
            bindings, lambda *made: deployed.evaluations.append(made)
        )
    return list(deployed.evaluations)


@pytest.fixture(scope="module")
def reference(evaluations):
    asked = [{"expression": expression, "bindings": bound} for expression, bound, _ in evaluations]
    done = subprocess.run(
        ["node", ROOT / "tests" / "end_to_end" / "replay.mjs"],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def test_every_expression_was_evaluated(expressions, evaluations):
    assert expressions <= {expression for expression, _, _ in evaluations}


def test_the_reference_gives_the_same_value_for_every_evaluation(evaluations, reference):
    assert len(reference) == len(evaluations) > 100
    for (expression, bindings, value), wanted in zip(evaluations, reference, strict=True):
        if expression != "$now()":
            assert value == wanted, (expression, bindings)


def test_the_time_is_given_in_the_references_form(evaluations, reference):
    times = [
        (value, wanted)
        for (expression, _, value), wanted in zip(evaluations, reference, strict=True)
        if expression == "$now()"
    ]

    assert times
    for value, wanted in times:
        assert re.sub(r"\d", "0", value) == re.sub(r"\d", "0", wanted)
        late = datetime.fromisoformat(wanted) - datetime.fromisoformat(value)
        assert timedelta(0) <= late < timedelta(hours=1)
