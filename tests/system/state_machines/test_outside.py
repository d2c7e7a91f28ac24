"""The state machines on an interpreter that this project did not write, and on ours.

``ALLOWED`` names each part of a record that may differ, with AWS's page about it.
"""

import asyncio
import json
import subprocess
from collections import Counter
from typing import NamedTuple

import pytest
from state_machines import Lab

from cdk.definitions import definition
from onebox.asl.errors import StateError
from tests.system.state_machines.scenarios import (
    ABORTED,
    RESOURCES,
    SCENARIOS,
    Abort,
    Answers,
    Failed,
    Silent,
    filled,
    without_times,
)
from tidemark.model.checkout import ROOT

pytestmark = pytest.mark.systems

DEFINITIONS = {name: filled(definition(name)) for name in ("workflow", "trial", "refresh")}


class Difference(NamedTuple):
    """The parts of records that may differ, why ours is as AWS is, and AWS's page."""

    parts: set[str]
    why: str
    page: str


END = {"status", "output", "error", "cause", "path", "calls", "events"}
ERRORS = "Step Functions developer guide, Handling errors in Step Functions workflows"
VARIABLES = "Step Functions developer guide, Passing data between states with variables"
HISTORY = "Step Functions API reference, GetExecutionHistory and HistoryEvent"
UNREADABLE = Difference(
    {"path", "calls", "events"},
    "An error of JSONata is a States.QueryEvaluationError, and a Catch of States.ALL takes it; "
    "LocalStack fails with a States.Runtime of its own.",
    ERRORS,
)
TWICE = Difference({"events"}, "LocalStack lists an EvaluationFailed twice.", HISTORY)
ANY_TEXT = Difference(
    END,
    "A variable holds any text; LocalStack copies quotes and line ends into expressions as they "
    "are, and cannot parse these.",
    VARIABLES,
)
TOO_LARGE = Difference(
    END,
    "No Catch of States.ALL takes States.DataLimitExceeded, and variables have a limit, too.",
    f"{ERRORS}; {VARIABLES}",
)
ABORT = Difference(
    {"events"}, "The call of this test answers LocalStack although its execution ends.", HISTORY
)
ALLOWED = {
    "a group that cannot be read": UNREADABLE,
    "a group that cannot be read beside a service": UNREADABLE,
    "a task without an ARN": UNREADABLE,
    "a service without room at first": Difference(
        {"events"}, "LocalStack lists no MapStateFailed of a Map that is tried again.", HISTORY
    ),
    "a service without room for ever": ANY_TEXT,
    "the second service has no room": ANY_TEXT,
    "a function whose cause has any letters": ANY_TEXT,
    "a search whose answer lacks a member": TWICE,
    "searches that fill an argument": TOO_LARGE,
    "a result above 256 KiB": TOO_LARGE,
    "a result that lacks a member": TWICE,
    "an abort while logs are read": ABORT,
    "an input without its trial": Difference(
        {"cause", "events"}, "AWS gives no form of a cause; LocalStack names the state.", HISTORY
    ),
    "a plan without a budget": TWICE,
    "a choice that lacks a member": TWICE,
    "an abort while rates are recorded": ABORT,
    "an incomplete run without a reason": Difference(
        {"error", "cause"},
        "The Cause of a Fail is a text; LocalStack takes null.",
        "Step Functions developer guide, Fail workflow state",
    ),
    "an input of 59,000 long characters": Difference(
        END,
        "256 KiB are those of the text in UTF-8; LocalStack counts escaped characters.",
        "Step Functions developer guide, Service quotas",
    ),
}


@pytest.fixture(scope="module")
def outside():
    """Return the record of each scenario on LocalStack's interpreter."""
    program = "tests.system.state_machines.localstack_engine"
    done = subprocess.run(
        [ROOT / ".localstack" / "bin" / "python", "-m", program],
        cwd=ROOT, input=json.dumps(DEFINITIONS), capture_output=True, text=True, check=True,
    )  # fmt: skip
    records = map(json.loads, done.stdout.splitlines())
    return {record.pop("scenario"): record for record in records}


def ours(scenario):
    """Return the record of a scenario on our interpreter."""
    answers, calls, lab = Answers(scenario), [], Lab()

    def answering(resource):
        async def answer(arguments, _submission):
            calls.append((resource, arguments))
            try:
                return answers(resource, arguments)
            except Failed as failed:
                raise StateError(failed.error, failed.cause) from None
            except Abort:
                execution.stop(*ABORTED)
            except Silent:
                pass
            return await asyncio.sleep(10**9)

        return answer

    lab.integrations = {resource: answering(resource) for resource in RESOURCES}
    machine = json.loads(DEFINITIONS[scenario.machine])
    execution = lab.start(machine.pop("States"), scenario.input, **machine)
    lab.loop.run_until_complete(execution.run())
    lab.loop.close()
    events = execution.history.events
    end = (
        {"output": execution.output}
        if execution.status == "SUCCEEDED"
        else {"error": execution.error, "cause": execution.cause}
    )
    entered = [event.get("stateEnteredEventDetails") for event in events]
    return {
        "status": execution.status,
        **end,
        "path": [details["name"] for details in entered if details],
        "calls": calls,
        "events": [event["type"] for event in events],
    }


def comparable(record):
    """Return a record without times, and without the order of what runs side by side."""
    calls = (json.dumps(call, sort_keys=True) for call in without_times(record["calls"]))
    return without_times(record) | {
        "path": Counter(record["path"]),
        "calls": Counter(calls),
        "events": Counter(record["events"]),
    }


@pytest.mark.parametrize("name", SCENARIOS)
def test_both_interpreters_agree(name, outside):
    here, there = comparable(ours(SCENARIOS[name])), comparable(outside[name])

    differing = {part for part in {*here, *there} if here.get(part) != there.get(part)}
    assert differing <= (ALLOWED[name].parts if name in ALLOWED else set()), {
        part: (here.get(part), there.get(part)) for part in differing
    }
    # A difference that is gone is not a difference to allow.
    assert differing or name not in ALLOWED


def test_most_scenarios_of_each_machine_have_no_difference():
    alike = Counter(each.machine for name, each in SCENARIOS.items() if name not in ALLOWED)

    assert alike["trial"] >= 50
    assert alike["workflow"] >= 30


def test_the_language_service_of_aws_finds_nothing_in_them():
    broken = {"StartAt": "A", "States": {"A": {"Type": "Task", "Next": "B"}}}
    given = {**DEFINITIONS, "broken": json.dumps(broken)}
    done = subprocess.run(
        ["node", ROOT / "tests/system/state_machines/language_service.mjs"],
        input=json.dumps(given), capture_output=True, text=True, check=True,
    )  # fmt: skip

    findings = json.loads(done.stdout)
    assert 'Missing property "Resource".' in findings.pop("broken")
    assert findings == {name: [] for name in DEFINITIONS}
