import json

import pytest

from tidemark.run.events import Failure

RAISED = json.dumps({"errorMessage": "It is empty.", "errorType": "QueryFailed"})
CHILD = {"ExecutionArn": "arn:execution:Trial:a-1", "Input": "{}", "Status": "FAILED"}


@pytest.mark.parametrize(
    ("error", "cause", "words"),
    [
        ("QueryFailed", RAISED, "QueryFailed: It is empty."),
        ("Refused", RAISED, "It is empty."),
        ("States.Timeout", "", "States.Timeout: "),
        ("States.Runtime", "no JSON", "States.Runtime: no JSON"),
        ("States.Runtime", "[1]", "States.Runtime: [1]"),
        ("States.Runtime", "[" * 20_000, "States.Runtime: " + "[" * 20_000),
        (
            "States.TaskFailed",
            json.dumps({**CHILD, "Error": "QueryFailed", "Cause": RAISED}),
            "States.TaskFailed: QueryFailed: It is empty.",
        ),
        (
            "States.TaskFailed",
            json.dumps({**CHILD, "Status": "ABORTED"}),
            "States.TaskFailed: ABORTED: ",
        ),
    ],
)
def test_a_failure_has_the_message_of_its_source(error, cause, words):
    assert str(Failure(Error=error, Cause=cause)) == words


def test_the_message_of_a_function_is_found_in_a_cause_that_was_cut():
    own = json.dumps({"errorMessage": "versions: 9.9.9 is not known", "stackTrace": ["x" * 4000]})
    of_child = json.dumps({"Cause": own, "Error": "Refused", "ExecutionArn": "arn:x"})

    assert str(Failure(Error="Refused", Cause=of_child[:3000])) == "versions: 9.9.9 is not known"
    assert str(Failure(Error="Refused", Cause=own[:3000])) == "versions: 9.9.9 is not known"
