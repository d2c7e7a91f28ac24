"""The events of executions in the shape of the GetExecutionHistory API."""

import asyncio

import pytest
from botocore.session import get_session

from onebox.asl.errors import StateError

SYNC = "arn:aws:states:::ecs:runTask.sync"


def find(execution, kind):
    """Return the type-specific details of the first event of a type."""
    event = next(event for event in execution.history.events if event["type"] == kind)
    [details] = [value for name, value in event.items() if name.endswith("EventDetails")]
    return details


@pytest.fixture
def task(lab):
    """A function that returns a Task state whose integration submits, then calls ``then``."""

    def task(then, **fields):
        async def work(arguments, submission):
            submission.submitted({"id": 1})
            return await then()

        lab.integrations[SYNC] = work
        return {"Type": "Task", "Resource": SYNC, "End": True} | fields

    return task


async def succeed():
    return {"é": 1}


async def fail():
    raise StateError("E")


def test_the_events_of_a_task_are_in_order_and_name_their_predecessors(lab, task):
    state = task(succeed, Assign={"x": "{% $states.result %}"}, TimeoutSeconds=9)
    execution = lab.run({"A": state}, {"n": 1})
    assert [
        (event["id"], event["previousEventId"], event["type"]) for event in execution.history.events
    ] == [
        (1, 0, "ExecutionStarted"),
        (2, 0, "TaskStateEntered"),
        (3, 2, "TaskScheduled"),
        (4, 3, "TaskStarted"),
        (5, 4, "TaskSubmitted"),
        (6, 5, "TaskSucceeded"),
        (7, 6, "TaskStateExited"),
        (8, 7, "ExecutionSucceeded"),
    ]
    whole = {"truncated": False}
    names = {"resourceType": "ecs", "resource": "runTask.sync"}
    assert find(execution, "ExecutionStarted") == {
        "input": '{"n":1}',
        "inputDetails": whole,
        "roleArn": "role",
    }
    assert find(execution, "TaskStateEntered") == {
        "name": "A",
        "input": '{"n":1}',
        "inputDetails": whole,
    }
    assert find(execution, "TaskScheduled") == names | {
        "region": "us-east-1",
        "parameters": '{"n":1}',
        "timeoutInSeconds": 9,
    }
    assert find(execution, "TaskStarted") == names
    assert find(execution, "TaskSubmitted") == names | {
        "output": '{"id":1}',
        "outputDetails": whole,
    }
    assert find(execution, "TaskSucceeded") == names | {
        "output": '{"é":1}',
        "outputDetails": whole,
    }
    assert find(execution, "TaskStateExited") == {
        "name": "A",
        "output": '{"é":1}',
        "outputDetails": whole,
        "assignedVariables": {"x": '{"é":1}'},
        "assignedVariablesDetails": whole,
    }
    assert find(execution, "ExecutionSucceeded") == {"output": '{"é":1}', "outputDetails": whole}


def test_the_events_of_a_map_branch_at_its_start(lab):
    inner = {"P": {"Type": "Pass", "End": True}}
    processor = {"StartAt": "P", "States": inner}
    state = {"Type": "Map", "ItemProcessor": processor, "MaxConcurrency": 1, "End": True}
    execution = lab.run({"M": state}, [7, 8])
    assert [
        (event["id"], event["previousEventId"], event["type"])
        for event in execution.history.events[1:]
    ] == [
        (2, 0, "MapStateEntered"),
        (3, 2, "MapStateStarted"),
        (4, 3, "MapIterationStarted"),
        (5, 4, "PassStateEntered"),
        (6, 5, "PassStateExited"),
        (7, 6, "MapIterationSucceeded"),
        (8, 3, "MapIterationStarted"),
        (9, 8, "PassStateEntered"),
        (10, 9, "PassStateExited"),
        (11, 10, "MapIterationSucceeded"),
        (12, 11, "MapStateSucceeded"),
        (13, 12, "MapStateExited"),
        (14, 13, "ExecutionSucceeded"),
    ]
    assert find(execution, "MapStateStarted") == {"length": 2}
    assert find(execution, "MapIterationStarted") == {"name": "M", "index": 0}


def test_failed_and_timed_out_tasks_name_the_error_and_the_resource(lab, task):
    names = {"resourceType": "ecs", "resource": "runTask.sync"}
    execution = lab.run({"A": task(fail)})
    assert find(execution, "TaskFailed") == names | {"error": "E", "cause": ""}
    assert find(execution, "ExecutionFailed") == {"error": "E"}
    execution = lab.run({"A": task(asyncio.Event().wait, TimeoutSeconds=1)})
    assert find(execution, "TaskTimedOut") == names | {"error": "States.Timeout"}
    execution = lab.run({"A": {"Type": "Pass", "Output": "{% $x %}", "End": True}})
    assert find(execution, "EvaluationFailed") == {
        "state": "A",
        "location": "Output",
        "error": "States.QueryEvaluationError",
        "cause": execution.cause,
    }


def test_every_event_fits_the_api(lab, task):
    service = get_session().get_service_model("stepfunctions")
    shape, kinds = service.shape_for("HistoryEvent"), service.shape_for("HistoryEventType").enum
    inner = {"T": task(fail)}
    processor = {"StartAt": "T", "States": inner}
    everything = [{"ErrorEquals": ["States.ALL"], "Next": "C", "Assign": {"x": 1}}]
    states = {
        "M": {
            "Type": "Map",
            "Items": [1, 2],
            "ItemProcessor": processor,
            "Catch": everything,
            "End": True,
        },
        "C": {"Type": "Choice", "Choices": [{"Condition": True, "Next": "W"}]},
        "W": {"Type": "Wait", "Seconds": 1, "Next": "F"},
        "F": {"Type": "Fail", "Error": "E", "Cause": "{% $undefined %}"},
    }
    for event in lab.run(states).history.events:
        assert event["type"] in kinds
        for name, value in event.items():
            assert name in shape.members
            if isinstance(value, dict):
                assert value.keys() <= shape.members[name].members.keys()
