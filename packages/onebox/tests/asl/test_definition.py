"""Accepted definitions of state machines, and the messages of refused definitions."""

import json

import pytest

from onebox.asl.definition import InvalidDefinition, read_definition

WORK = "arn:aws:states:::test:work"
PASS = {"Type": "Pass", "End": True}


def machine(states=None, **fields):
    states = {"A": PASS} if states is None else states
    return {"QueryLanguage": "JSONata", "StartAt": "A", "States": states} | fields


def problems(definition):
    with pytest.raises(InvalidDefinition) as refusal:
        read_definition(json.dumps(definition), [WORK])
    return refusal.value.problems


def task(**fields):
    return {"Type": "Task", "Resource": WORK, "End": True} | fields


def map_state(states, **processor):
    inner = {"StartAt": next(iter(states)), "States": states} | processor
    return {"Type": "Map", "ItemProcessor": inner, "End": True}


def test_every_supported_field_is_read():
    result = {"Assign": {"x": "{% 1 %}"}, "Output": {}}
    handling = {
        "Retry": [
            {
                "Comment": "c",
                "ErrorEquals": ["E"],
                "IntervalSeconds": 2,
                "MaxAttempts": 0,
                "BackoffRate": 1.5,
                "MaxDelaySeconds": 60,
                "JitterStrategy": "FULL",
            },
            {"ErrorEquals": ["States.ALL"]},
        ],
        "Catch": [{"Comment": "c", "ErrorEquals": ["States.ALL"], "Next": "F"} | result],
    }
    rule = {"Comment": "c", "Condition": "{% true %}", "Next": "W"} | result
    processor = {
        "Comment": "c",
        "ProcessorConfig": {"Mode": "INLINE"},
        "StartAt": "P2",
        "States": {"P2": PASS | {"Output": None}},
    }
    selection = {"Items": [1], "ItemSelector": {}, "MaxConcurrency": "{% 1 %}"}
    states = {
        "A": {"Type": "Choice", "Choices": [rule], "Default": "T"} | result,
        "W": {"Type": "Wait", "Seconds": 0, "Next": "T"} | result,
        "T": {"Type": "Task", "Resource": WORK, "Arguments": 1, "TimeoutSeconds": 1, "Next": "M"}
        | result
        | handling,
        "M": {"Type": "Map", "ItemProcessor": processor, "Next": "P"}
        | selection
        | result
        | handling,
        "P": {"Type": "Pass", "Comment": "c", "Next": "S"} | result,
        "S": {"Type": "Succeed", "Output": 1},
        "F": {"Type": "Fail", "Error": "E", "Cause": "{% 'c' %}"},
    }
    definition = machine(states, Comment="c", TimeoutSeconds=60)
    read = read_definition(json.dumps(definition), [WORK])
    assert list(read.states) == list(states)
    assert (read.start_at, read.timeout_seconds) == ("A", 60)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "the definition is not JSON"),
        ('{"States": {"A": {}, "A": {}}}', "'A' is used twice"),
        ('{"TimeoutSeconds": NaN}', "NaN is not a JSON number"),
    ],
)
def test_a_text_that_is_not_strict_json_is_refused(text, problem):
    with pytest.raises(InvalidDefinition, match=problem):
        read_definition(text, [])


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        (task(InputPath="$"), "this field is not supported at /States/A/InputPath"),
        (task(Parameters={}), "this field is not supported at /States/A/Parameters"),
        (task(ResultPath=None), "this field is not supported at /States/A/ResultPath"),
        (task(HeartbeatSeconds=1), "this field is not supported at /States/A/HeartbeatSeconds"),
        (task(QueryLanguage="JSONata"), "this field is not supported at /States/A/QueryLanguage"),
        (PASS | {"Result": 1}, "this field is not supported at /States/A/Result"),
        ({"Type": "Succeed", "Assign": {}}, "this field is not supported at /States/A/Assign"),
        ({"Type": "Succeed", "End": True}, "this field is not supported at /States/A/End"),
        (map_state({"B": PASS}) | {"ItemReader": {}}, "not supported at /States/A/ItemReader"),
        (map_state({"B": PASS}) | {"ToleratedFailureCount": 1}, "/States/A/ToleratedFailureCount"),
        (
            map_state({"B": PASS}, ProcessorConfig={"Mode": "DISTRIBUTED"}),
            "'INLINE' at /States/A/ItemProcessor/ProcessorConfig/Mode",
        ),
        (map_state({"B": PASS | {"Nope": 1}}), "at /States/A/ItemProcessor/States/B/Nope"),
        ({"Type": "Parallel", "Branches": [], "End": True}, "'Parallel'"),
        ({"Type": "Wait", "Timestamp": "x", "Seconds": 1, "End": True}, "/States/A/Timestamp"),
        ({"Type": "Wait", "End": True}, "Field required at /States/A/Seconds"),
        ({"Type": "Wait", "Seconds": -1, "End": True}, "a whole number from 0 or an expression"),
        ({"Type": "Wait", "Seconds": True, "End": True}, "a whole number from 0 or an expression"),
        ({"Type": "Fail"}, "Field required at /States/A/Error"),
        ({"Type": "Pass"}, "either Next or End is expected at /States/A"),
        (PASS | {"Next": "A"}, "either Next or End is expected at /States/A"),
        ({"Type": "Pass", "End": False}, "at /States/A/End"),
        (task(Retry=[{"ErrorEquals": []}]), "at /States/A/Retry/0/ErrorEquals"),
        (task(Retry=[{"ErrorEquals": ["E"], "MaxAttempts": "3"}]), "/States/A/Retry/0/MaxAttempts"),
        (task(Catch=[{"ErrorEquals": ["E"]}]), "Field required at /States/A/Catch/0/Next"),
        (task(TimeoutSeconds=0), "a whole number from 1 or an expression"),
        (task(TimeoutSeconds="soon"), "a whole number from 1 or an expression"),
        (PASS | {"Assign": {"states": 1}}, "'states' is not a valid variable name"),
        (PASS | {"Assign": {"a-b": 1}}, "'a-b' is not a valid variable name"),
        (PASS | {"Assign": []}, "an object of variables is expected"),
        (PASS | {"Output": ["{% $eval('1') %}"]}, "$eval is not available in Step Functions"),
        (PASS | {"Output": {"a": "{% 1 + %}"}}, "does not parse"),
        ({"Type": "Choice", "Choices": []}, "at /States/A/Choices"),
        (
            {"Type": "Choice", "Choices": [{"Condition": "yes", "Next": "A"}]},
            "true, false or an expression",
        ),
    ],
)  # fmt: skip
def test_a_malformed_state_is_refused_with_its_field(fields, problem):
    assert problem in problems(machine({"A": fields}))[0]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"QueryLanguage": "JSONPath"}, "'JSONata' at /QueryLanguage"),
        ({"Version": "1.0"}, "this field is not supported at /Version"),
        ({"TimeoutSeconds": 0}, "at /TimeoutSeconds"),
        ({"States": {"A" * 81: PASS}}, "at most 80 characters"),
    ],
)
def test_a_malformed_machine_is_refused_with_its_field(fields, problem):
    [message] = problems(machine() | fields)
    assert problem in message


def test_a_machine_without_its_query_language_is_refused():
    definition = machine()
    del definition["QueryLanguage"]
    assert problems(definition) == ["Field required at /QueryLanguage"]


@pytest.mark.parametrize(
    ("states", "problem"),
    [
        ({"B": PASS}, "there is no state 'A' at /StartAt"),
        ({"A": {"Type": "Pass", "Next": "C"}}, "there is no next state 'C' at /States/A"),
        (
            {"A": task(Catch=[{"ErrorEquals": ["E"], "Next": "C"}])},
            "there is no next state 'C' at /States/A",
        ),
        (
            {
                "A": {
                    "Type": "Choice",
                    "Choices": [{"Condition": True, "Next": "A"}],
                    "Default": "C",
                }
            },
            "there is no next state 'C' at /States/A",
        ),
        ({"A": PASS, "B": PASS}, "no other state leads to /States/B"),
        (
            {"A": map_state({"B": PASS, "C": PASS})},
            "no other state leads to /States/A/ItemProcessor/States/C",
        ),
        ({"A": map_state({"A": PASS})}, "the state name 'A' is used twice"),
        (
            {"A": task(Resource="arn:aws:states:::sqs:sendMessage")},
            "the resource 'arn:aws:states:::sqs:sendMessage' is not one of "
            f"{WORK} at /States/A/Resource",
        ),
        (
            {"A": map_state({"B": PASS | {"Assign": {"x": 1}}}) | {"Assign": {"x": 2}}},
            "the variable 'x' belongs to the machine around /States/A/ItemProcessor",
        ),
        (
            {"A": task(Retry=[{"ErrorEquals": ["States.ALL"]}, {"ErrorEquals": ["E"]}])},
            "States.ALL must be alone and last at /States/A/Retry/0/ErrorEquals",
        ),
        (
            {"A": task(Retry=[{"ErrorEquals": ["E", "States.ALL"]}])},
            "States.ALL must be alone and last at /States/A/Retry/0/ErrorEquals",
        ),
    ],
)
def test_an_inconsistent_machine_is_refused(states, problem):
    assert problem in problems(machine(states))


def test_all_problems_are_listed_in_one_message():
    states = {"A": task(InputPath="$"), "B": {"Type": "Wait", "End": True}}
    with pytest.raises(InvalidDefinition) as refusal:
        read_definition(json.dumps(machine(states)), [WORK])
    assert str(refusal.value) == (
        "Invalid State Machine Definition: '"
        "SCHEMA_VALIDATION_FAILED: this field is not supported at /States/A/InputPath, "
        "SCHEMA_VALIDATION_FAILED: Field required at /States/B/Seconds'"
    )
