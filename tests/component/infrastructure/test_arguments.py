"""The arguments of Task states, against the models of the APIs that the states call."""

import json

import pytest
from botocore.session import get_session
from botocore.validate import ParamValidator

from tests.component.infrastructure.test_retries import task_states

# Step Functions developer guide, "Run Amazon ECS/Fargate tasks": the supported parameters.
RUN_TASK = {
    "Cluster", "Group", "LaunchType", "NetworkConfiguration", "Overrides", "PlacementConstraints",
    "PlacementStrategy", "PlatformVersion", "PropagateTags", "TaskDefinition",
}  # fmt: skip
OPERATIONS = {
    "ecs:runTask": ("ecs", "RunTask"),
    "ecs:runTask.sync": ("ecs", "RunTask"),
    "lambda:invoke": ("lambda", "Invoke"),
    "states:startExecution.sync:2": ("stepfunctions", "StartExecution"),
}


def called(state):
    return state["Resource"].removeprefix("arn:aws:states:::")


def sample(value, shape):
    """Return arguments in the API's own form, with a fitting value for each expression."""
    if isinstance(value, str) and value.startswith("{%"):
        return sample_of(shape)
    names = {member[0].upper() + member[1:]: member for member in getattr(shape, "members", {})}
    if isinstance(value, dict) and names:
        return {
            names.get(name, name): sample(each, shape.members.get(names.get(name)))
            for name, each in value.items()
        }
    if isinstance(value, list):
        return [sample(each, shape.member) for each in value]
    return json.dumps(value) if isinstance(value, dict) else value


def sample_of(shape):
    match shape.type_name:
        case "list":
            return []
        case "structure":
            return {name: sample_of(shape.members[name]) for name in shape.required_members}
    return "x" * max(1, shape.metadata.get("min", 1))


@pytest.mark.parametrize(
    ("name", "state"),
    [
        (name, state)
        for name, state in task_states()
        if state["Type"] == "Task" and "aws-sdk" not in called(state)
    ],
)
def test_the_api_has_each_argument_of_a_state(name, state):
    service, operation = OPERATIONS[called(state)]
    shape = get_session().get_service_model(service).operation_model(operation).input_shape

    report = ParamValidator().validate(sample(state["Arguments"], shape), shape)

    assert report.generate_report() == "", name


def test_run_task_has_only_the_arguments_that_step_functions_supports():
    tasks = [state for _, state in task_states() if state["Type"] == "Task"]
    starts = [state for state in tasks if called(state).startswith("ecs:runTask")]
    assert len(starts) == 2
    assert all(state["Arguments"].keys() <= RUN_TASK for state in starts)
