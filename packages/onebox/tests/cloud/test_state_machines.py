"""Step Functions on one machine, through its API, with fake services."""

import json
import threading
from concurrent.futures import Future
from datetime import UTC, datetime

import pytest
from botocore.exceptions import ClientError
from moto.awslambda_simple.models import LambdaSimpleBackend
from moto.core.config import default_user_config
from moto.core.exceptions import JsonRESTError
from moto.core.responses import ActionResult
from moto.ecs.exceptions import ClusterNotFoundException
from moto.ecs.responses import EC2ContainerServiceResponse

from onebox.cloud import state_machines
from onebox.cloud.replacements import Replacements
from onebox.cloud.state_machines import StateMachines

ROLE = "arn:aws:iam::123456789012:role/machine"
INVOKE = "arn:aws:states:::lambda:invoke"
RUN_TASK = "arn:aws:states:::ecs:runTask.sync"
START_TASK = "arn:aws:states:::ecs:runTask"
START = "arn:aws:states:::states:startExecution.sync:2"
CLUSTER = "arn:aws:ecs:us-east-1:123456789012:cluster/c"
TASK = "arn:aws:ecs:us-east-1:123456789012:task/c/1"
PASS = {"Type": "Pass", "End": True}
LONG = {"Type": "Wait", "Seconds": 3600, "End": True}


class Ecs:
    """A fake ECS with one task, which stops at the test's command or at StopTask."""

    def __init__(self):
        self.requests = []
        self.callers = set()
        self.failures = []
        self.error = None
        self.exit_code = 0
        self.helper = {"exitCode": 0}
        self.obeys_stop = True
        self.stop_request = threading.Event()
        self.running = threading.Event()
        self.gate = threading.Event()
        self.gate.set()
        self._stopped = Future()

    def stopped(self, task_arn):
        assert task_arn == TASK
        return self._stopped

    def end(self, exit_code=0):
        self.exit_code = exit_code
        self._stopped.set_result(None)

    def answer(self, action):
        def answer(response):
            request = json.loads(response.body)
            self.requests.append((action.__name__, request))
            self.callers.add(response.headers["Authorization"].split("/")[0].split("=")[1])
            return ActionResult(action(request))

        return answer

    def run_task(self, request):
        self.running.set()
        assert self.gate.wait(10)
        if self.error is not None:
            raise self.error
        return {"tasks": [] if self.failures else [self.task()], "failures": self.failures}

    def describe_tasks(self, request):
        return {"tasks": [self.task()], "failures": []}

    def stop_task(self, request):
        if self.obeys_stop:
            self.end(143)
        self.stop_request.set()
        return {"task": self.task()}

    def task(self):
        main = {"name": "main"}
        if self._stopped.done() and self.exit_code is not None:
            main["exitCode"] = self.exit_code
        return {
            "taskArn": TASK,
            "clusterArn": CLUSTER,
            "taskDefinitionArn": self.definition,
            "containers": [main, {"name": "helper"} | self.helper],
            "startedAt": datetime(2026, 11, 20, 12, tzinfo=UTC),
        }


@pytest.fixture
def ecs(endpoint):
    client = endpoint.client("ecs")
    client.create_cluster(clusterName="c")
    containers = [
        {"name": "main", "image": "i", "memory": 1},
        {"name": "helper", "image": "i", "memory": 1, "essential": False},
    ]
    registered = client.register_task_definition(family="f", containerDefinitions=containers)
    ecs = Ecs()
    ecs.definition = registered["taskDefinition"]["taskDefinitionArn"]
    replacements = Replacements()
    for action in (ecs.run_task, ecs.describe_tasks, ecs.stop_task):
        replacements.set(EC2ContainerServiceResponse, action.__name__, ecs.answer(action))
    yield ecs
    replacements.restore()


@pytest.fixture
def evaluated():
    return []


@pytest.fixture
def machines(endpoint, ecs, evaluated):
    machines = StateMachines(endpoint, ecs, on_evaluate=lambda *seen: evaluated.append(seen))
    yield machines
    machines.close()


@pytest.fixture
def states(endpoint, machines):
    return endpoint.client("stepfunctions")


@pytest.fixture
def create(states):
    """Return a way to create a state machine from its states and return its ARN."""

    def create(named, name="m", **fields):
        definition = {"QueryLanguage": "JSONata", "StartAt": next(iter(named)), "States": named}
        created = states.create_state_machine(
            name=name, definition=json.dumps(definition | fields), roleArn=ROLE
        )
        return created["stateMachineArn"]

    return create


@pytest.fixture
def await_end(states, machines):
    """Return a way to wait for an execution, without polling, and describe it."""

    def await_end(arn):
        machines._end_of(arn).result(10)
        return states.describe_execution(executionArn=arn)

    return await_end


@pytest.fixture
def run(states, create, await_end):
    """Return a way to create a state machine, run it, and describe its one execution."""

    def run(named, value=None, **fields):
        arn = states.start_execution(
            stateMachineArn=create(named, **fields), input=json.dumps(value)
        )["executionArn"]
        return await_end(arn)

    return run


def task(resource, arguments, **fields):
    return {"Type": "Task", "Resource": resource, "Arguments": arguments, "End": True} | fields


def error_of(call, **request):
    with pytest.raises(ClientError) as refusal:
        call(**request)
    return refusal.value.response["Error"]


# The API


def test_an_execution_is_described_with_its_input_and_output(run):
    described = run({"A": PASS | {"Output": "{% $states.input.a + 1 %}"}}, {"a": 1})
    assert described["status"] == "SUCCEEDED"
    assert (described["input"], described["output"]) == ('{"a": 1}', "2")
    assert described["startDate"] <= described["stopDate"]
    assert "error" not in described


def test_a_failed_execution_is_described_with_its_error_and_cause(run):
    described = run({"A": {"Type": "Fail", "Error": "E", "Cause": "why"}})
    assert (described["status"], described["error"], described["cause"]) == ("FAILED", "E", "why")
    assert "output" not in described


def test_an_unsupported_definition_is_refused(create):
    with pytest.raises(ClientError) as refusal:
        create({"A": PASS | {"Result": 1}})
    error = refusal.value.response["Error"]
    assert error["Code"] == "InvalidDefinition"
    assert "this field is not supported at /States/A/Result" in error["Message"]


def test_an_express_machine_is_refused(states):
    error = error_of(
        states.create_state_machine, name="m", definition="{}", roleArn=ROLE, type="EXPRESS"
    )
    assert error["Code"] == "StateMachineTypeNotSupported"


def test_a_machine_is_not_replaced_by_one_of_the_same_name(create):
    arn = create({"A": PASS})
    assert create({"A": PASS}) == arn
    error = error_of(create, named={"B": PASS})
    assert error["Code"] == "StateMachineAlreadyExists"


def test_the_same_name_and_input_is_the_same_execution_while_it_runs(states, create):
    arn = create({"A": LONG})
    request = {"stateMachineArn": arn, "name": "n", "input": "{}"}
    first = states.start_execution(**request)["executionArn"]
    assert first == arn.replace(":stateMachine:", ":execution:") + ":n"
    assert states.start_execution(**request)["executionArn"] == first
    error = error_of(states.start_execution, **request | {"input": "[]"})
    assert error["Code"] == "ExecutionAlreadyExists"
    states.stop_execution(executionArn=first)
    assert error_of(states.start_execution, **request)["Code"] == "ExecutionAlreadyExists"


def test_the_oldest_ended_executions_are_forgotten(states, create, await_end, monkeypatch):
    monkeypatch.setattr(state_machines, "_MOST_EVENTS", 1)
    arn, wait = create({"A": PASS}), create({"A": LONG}, name="w")
    running = states.start_execution(stateMachineArn=wait)["executionArn"]
    ended = [states.start_execution(stateMachineArn=arn)["executionArn"] for _ in range(2)]
    for each in ended:
        await_end(each)
    last = states.start_execution(stateMachineArn=arn)["executionArn"]

    error = error_of(states.describe_execution, executionArn=ended[0])
    assert error["Code"] == "ExecutionDoesNotExist"
    listed = states.list_executions(stateMachineArn=arn)["executions"]
    assert {each["executionArn"] for each in listed} == {ended[1], last}
    assert states.describe_execution(executionArn=running)["status"] == "RUNNING"


@pytest.mark.parametrize("text", ["{", "NaN", json.dumps("x" * 256 * 1024)])
def test_an_input_that_is_no_json_or_too_large_is_refused(states, create, text):
    error = error_of(states.start_execution, stateMachineArn=create({"A": PASS}), input=text)
    assert error["Code"] == "InvalidExecutionInput"


def test_an_unknown_resource_is_refused_by_name(states, create):
    arn = create({"A": PASS})
    error = error_of(states.start_execution, stateMachineArn=arn + "x")
    assert error["Code"] == "StateMachineDoesNotExist"
    execution = arn.replace(":stateMachine:", ":execution:") + ":x"
    for call in (states.describe_execution, states.stop_execution, states.get_execution_history):
        assert error_of(call, executionArn=execution)["Code"] == "ExecutionDoesNotExist"
    error = error_of(states.start_execution, stateMachineArn=arn, name="a b")
    assert error["Code"] == "InvalidName"


def test_executions_are_listed_newest_first_and_by_status(states, create):
    arn = create({"A": LONG})
    started = [
        states.start_execution(stateMachineArn=arn, name=name)["executionArn"] for name in "abc"
    ]
    states.stop_execution(executionArn=started[1])
    listed = states.list_executions(stateMachineArn=arn)["executions"]
    assert [execution["name"] for execution in listed] == ["c", "b", "a"]
    [aborted] = states.list_executions(stateMachineArn=arn, statusFilter="ABORTED")["executions"]
    assert aborted["name"] == "b"
    assert aborted["startDate"] <= aborted["stopDate"]
    pages = states.get_paginator("list_executions").paginate(
        stateMachineArn=arn, PaginationConfig={"PageSize": 2}
    )
    assert [len(page["executions"]) for page in pages] == [2, 1]


def test_a_stopped_execution_keeps_its_reason_and_ends_its_history_with_it(states, create):
    arn = create({"A": LONG})
    execution = states.start_execution(stateMachineArn=arn)["executionArn"]
    reason = {"error": "Stopped", "cause": "by hand"}
    stopped = states.stop_execution(executionArn=execution, **reason)
    described = states.describe_execution(executionArn=execution)
    assert described["status"] == "ABORTED"
    assert stopped["stopDate"] == described["stopDate"]
    assert {name: described[name] for name in reason} == reason
    events = states.get_execution_history(executionArn=execution)["events"]
    assert [event["type"] for event in events] == [
        "ExecutionStarted",
        "WaitStateEntered",
        "ExecutionAborted",
    ]
    assert events[-1]["executionAbortedEventDetails"] == reason


def test_an_execution_beyond_its_timeout_has_timed_out(run, states):
    described = run({"A": LONG}, TimeoutSeconds=1)
    assert (described["status"], described["error"]) == ("TIMED_OUT", "States.Timeout")
    assert described["startDate"] < described["stopDate"]
    [listed] = states.list_executions(stateMachineArn=described["stateMachineArn"])["executions"]
    assert listed["stopDate"] == described["stopDate"]


def test_a_history_can_be_paged_reversed_and_read_without_data(run, states):
    arn = run({"A": PASS}, "in")["executionArn"]
    kinds = ["ExecutionStarted", "PassStateEntered", "PassStateExited", "ExecutionSucceeded"]
    history = states.get_paginator("get_execution_history")
    pages = list(history.paginate(executionArn=arn, PaginationConfig={"PageSize": 3}))
    assert [[event["type"] for event in page["events"]] for page in pages] == [
        kinds[:3],
        kinds[3:],
    ]
    assert pages[0]["events"][0]["executionStartedEventDetails"]["input"] == '"in"'
    reverse = states.get_execution_history(executionArn=arn, reverseOrder=True)["events"]
    assert [event["type"] for event in reverse] == kinds[::-1]
    bare = states.get_execution_history(executionArn=arn, includeExecutionData=False)["events"]
    assert bare[0]["executionStartedEventDetails"] == {"roleArn": ROLE}
    assert bare[1]["stateEnteredEventDetails"] == {"name": "A"}
    error = error_of(states.get_execution_history, executionArn=arn, nextToken="x")
    assert error["Code"] == "InvalidToken"


def test_unsupported_actions_are_refused(states):
    for call, arguments in [
        (states.create_activity, {"name": "a"}),
        (states.update_state_machine, {"stateMachineArn": "arn:m", "definition": "{}"}),
    ]:
        assert "is not supported on one machine" in error_of(call, **arguments)["Message"]


def test_every_evaluation_can_be_recorded(run, evaluated):
    run({"A": PASS | {"Output": ["{% $states.input + 1 %}"]}}, 1)
    [(expression, bindings, value)] = evaluated
    assert (expression, bindings["states"]["input"], value) == ("$states.input + 1", 1, 2)


def test_closing_aborts_running_executions(endpoint, ecs):
    machines = StateMachines(endpoint, ecs)
    states = endpoint.client("stepfunctions")
    definition = {"QueryLanguage": "JSONata", "StartAt": "A", "States": {"A": LONG}}
    arn = states.create_state_machine(name="m", definition=json.dumps(definition), roleArn=ROLE)
    started = states.start_execution(stateMachineArn=arn["stateMachineArn"])
    machines.close()
    assert machines._runs[started["executionArn"]].status == "ABORTED"


# CloudFormation


def deploy(formation, properties, outputs):
    template = {
        "Resources": {
            "Role": {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": {}}},
            "Topic": {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": "t"}},
            "Machine": {
                "Type": "AWS::StepFunctions::StateMachine",
                "Properties": {"RoleArn": {"Fn::GetAtt": ["Role", "Arn"]}} | properties,
            },
        },
        "Outputs": {name: {"Value": value} for name, value in outputs.items()},
    }
    formation.create_stack(StackName="s", TemplateBody=json.dumps(template))
    [stack] = formation.describe_stacks(StackName="s")["Stacks"]
    return {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}


JOINED = {
    "Fn::Join": [
        "",
        [
            '{"QueryLanguage": "JSONata", "StartAt": "A", "States": {"A": {"Type": "Pass", ',
            '"End": true, "Output": ["',
            {"Ref": "Topic"},
            '", ${Number}, "${Role}"]}}}',
        ],
    ]
}


def test_a_machine_of_a_template_runs_its_substituted_definition(formation, states, await_end):
    properties = {
        "DefinitionString": JOINED,
        "DefinitionSubstitutions": {"Number": 7, "Role": {"Ref": "Role"}},
        "LoggingConfiguration": {"Level": "ALL", "IncludeExecutionData": True},
        "TracingConfiguration": {"Enabled": True},
        "StateMachineType": "STANDARD",
        "Tags": [{"Key": "k", "Value": "v"}],
    }
    outputs = deploy(
        formation,
        properties,
        {
            "Ref": {"Ref": "Machine"},
            "Arn": {"Fn::GetAtt": ["Machine", "Arn"]},
            "Role": {"Ref": "Role"},
        },
    )
    assert outputs["Ref"] == outputs["Arn"]
    started = states.start_execution(stateMachineArn=outputs["Arn"])
    assert json.loads(await_end(started["executionArn"])["output"]) == [
        "arn:aws:sns:us-east-1:123456789012:t",
        7,
        outputs["Role"],
    ]
    described = states.describe_state_machine(stateMachineArn=outputs["Arn"])
    assert described["loggingConfiguration"] == {"level": "ALL", "includeExecutionData": True}
    assert described["tracingConfiguration"] == {"enabled": True}


@pytest.mark.parametrize(
    ("properties", "problem"),
    [
        ({"DefinitionString": "{}"}, "Invalid State Machine Definition"),
        ({"DefinitionS3Location": {}}, "AWS::StepFunctions::StateMachine has DefinitionS3Location"),
    ],
)
def test_an_unsupported_machine_in_a_template_is_refused(formation, states, properties, problem):
    with pytest.raises(ClientError, match=problem):
        deploy(formation, properties, {})


# Lambda


@pytest.fixture
def function(endpoint, machines):
    """Make every Lambda function return its event under "seen", or fail for the event "fail"."""

    def invoke(backend, function_name, qualifier, body, headers, response_headers):
        event = json.loads(body)
        if event == "fail":
            response_headers["x-amz-function-error"] = "Unhandled"
            return b'{"errorType": "MyError", "errorMessage": "no"}'
        return json.dumps({"seen": event, "name": function_name}).encode()

    replacements = Replacements()
    replacements.set(LambdaSimpleBackend, "invoke", invoke)
    default_user_config["lambda"]["use_docker"] = False
    yield "f"
    default_user_config["lambda"]["use_docker"] = True
    replacements.restore()


def test_a_lambda_gets_its_payload_and_its_answer_is_json(run, function):
    arguments = {"FunctionName": function, "Payload": {"n": "{% $states.input %}"}}
    described = run({"A": task(INVOKE, arguments)}, 'a "quote"')
    assert json.loads(described["output"]) == {
        "StatusCode": 200,
        "Payload": {"seen": {"n": 'a "quote"'}, "name": "f"},
    }


def test_a_lambda_that_raises_fails_with_its_error_type_and_payload(run, function):
    described = run({"A": task(INVOKE, {"FunctionName": function, "Payload": "fail"})})
    assert described["error"] == "MyError"
    assert json.loads(described["cause"]) == {"errorType": "MyError", "errorMessage": "no"}


def test_a_missing_function_is_an_error_of_lambda(run, machines):
    described = run({"A": task(INVOKE, {"FunctionName": "nobody", "Payload": {}})})
    assert described["error"] == "Lambda.ResourceNotFoundException"


def test_an_unknown_argument_is_a_runtime_error(run):
    described = run({"A": task(INVOKE, {"Function": "f"})})
    assert described["error"] == "States.Runtime"
    assert "no field 'Function'" in described["cause"]
    described = run({"A": task(INVOKE, {"Payload": {}})}, name="other")
    assert described["error"] == "States.Runtime"
    assert 'Missing required parameter in input: "FunctionName"' in described["cause"]


# Nested executions


def test_a_child_execution_gives_its_description_with_its_output_as_json(run, create):
    child = create({"B": PASS | {"Output": ["{% $states.input.n %}"]}}, name="child")
    arguments = {"StateMachineArn": child, "Input": {"n": 1}, "Name": "first"}
    result = json.loads(run({"A": task(START, arguments)})["output"])
    assert result["Status"] == "SUCCEEDED"
    assert (result["Input"], result["Output"]) == ({"n": 1}, [1])
    assert result["ExecutionArn"].endswith(":child:first")
    assert isinstance(result["StartDate"], int)
    assert result["StartDate"] <= result["StopDate"]


def test_a_child_that_fails_fails_its_parent_with_its_description(run, create):
    child = create({"B": {"Type": "Fail", "Error": "E", "Cause": "why"}}, name="child")
    described = run({"A": task(START, {"StateMachineArn": child})})
    assert described["error"] == "States.TaskFailed"
    cause = json.loads(described["cause"])
    assert (cause["Status"], cause["Error"], cause["Cause"]) == ("FAILED", "E", "why")
    assert cause["Input"] == {}


def test_a_child_that_cannot_start_is_an_error_of_step_functions(run, create):
    child = create({"B": PASS}, name="child")
    described = run({"A": task(START, {"StateMachineArn": child + "x"})})
    assert described["error"] == "StepFunctions.StateMachineDoesNotExist"


def test_an_aborted_parent_aborts_its_child(states, create, await_end):
    child = create({"B": task(RUN_TASK, {"TaskDefinition": "f"})}, name="child")
    parent = create({"A": task(START, {"StateMachineArn": child, "Name": "c"})})
    states.start_execution(stateMachineArn=parent, name="p")
    states.stop_execution(executionArn=parent.replace(":stateMachine:", ":execution:") + ":p")
    described = states.list_executions(stateMachineArn=child)["executions"]
    assert [execution["status"] for execution in described] == ["ABORTED"]


# ECS

TASK_ARGUMENTS = {
    "Cluster": CLUSTER,
    "TaskDefinition": "f",
    "LaunchType": "FARGATE",
    "Group": "{% $states.context.Execution.Name %}",
    "NetworkConfiguration": {
        "AwsvpcConfiguration": {"Subnets": ["s"], "AssignPublicIp": "ENABLED"}
    },
    "Overrides": {
        "ContainerOverrides": [{"Name": "main", "Environment": [{"Name": "A", "Value": "1"}]}]
    },
}


@pytest.fixture
def start_task(states, create, ecs):
    """Return a way to start an execution of one runTask.sync whose task runs."""

    def start_task(**fields):
        arn = create({"A": task(RUN_TASK, TASK_ARGUMENTS, **fields)})
        execution = states.start_execution(stateMachineArn=arn, name="run")["executionArn"]
        assert ecs.running.wait(10)
        return execution

    return start_task


def test_a_task_is_run_with_its_arguments_and_its_description_is_the_result(
    ecs, start_task, await_end, states
):
    execution = start_task()
    ecs.end()
    result = json.loads(await_end(execution)["output"])
    assert result["TaskArn"] == TASK
    assert result["Containers"] == [
        {"Name": "main", "ExitCode": 0},
        {"Name": "helper", "ExitCode": 0},
    ]
    assert result["StartedAt"] == 1795176000000
    action, request = ecs.requests[0]
    assert (action, request | {"clientToken": "any"}) == (
        "run_task",
        {
            "clientToken": "any",
            "cluster": CLUSTER,
            "taskDefinition": "f",
            "launchType": "FARGATE",
            "group": "run",
            "networkConfiguration": {
                "awsvpcConfiguration": {"subnets": ["s"], "assignPublicIp": "ENABLED"}
            },
            "overrides": {
                "containerOverrides": [
                    {"name": "main", "environment": [{"name": "A", "value": "1"}]}
                ]
            },
        },
    )
    events = states.get_execution_history(executionArn=execution)["events"]
    assert [event["type"] for event in events][2:6] == [
        "TaskScheduled",
        "TaskStarted",
        "TaskSubmitted",
        "TaskSucceeded",
    ]


@pytest.mark.parametrize("exit_code", [1, 137, None])
def test_an_essential_container_that_fails_or_never_exits_fails_the_task(
    ecs, start_task, await_end, exit_code
):
    execution = start_task()
    ecs.end(exit_code)
    described = await_end(execution)
    assert described["error"] == "States.TaskFailed"
    assert json.loads(described["cause"])["Containers"][0].get("ExitCode") == exit_code


@pytest.mark.parametrize(
    "helper", [{"exitCode": 1}, {"reason": "CannotPullContainerError: no such image"}]
)
def test_a_container_that_is_not_essential_fails_the_task_too(ecs, start_task, await_end, helper):
    execution = start_task()
    ecs.helper = helper
    ecs.end()
    described = await_end(execution)
    assert described["error"] == "States.TaskFailed"
    assert json.loads(described["cause"])["Containers"][0]["ExitCode"] == 0


def test_services_are_called_in_the_role_of_the_machine(ecs, start_task, await_end):
    execution = start_task()
    ecs.end()
    await_end(execution)
    assert ecs.callers == {ROLE.rsplit("/", 1)[-1]}


def test_a_task_that_ecs_cannot_place_has_its_own_error(ecs, start_task, await_end):
    ecs.failures = [{"arn": CLUSTER, "reason": "Capacity is unavailable at this time."}]
    described = await_end(start_task())
    assert described["error"] == "AmazonECS.Unknown"
    assert json.loads(described["cause"])["Failures"] == [
        {"Arn": CLUSTER, "Reason": "Capacity is unavailable at this time."}
    ]


def test_without_sync_a_task_that_ecs_cannot_place_is_a_result(ecs, run):
    ecs.failures = [{"arn": CLUSTER, "reason": "RESOURCE:ENI"}]
    result = json.loads(run({"A": task(START_TASK, TASK_ARGUMENTS)})["output"])
    assert result["Tasks"] == []
    assert result["Failures"] == [{"Arn": CLUSTER, "Reason": "RESOURCE:ENI"}]


def test_an_error_of_ecs_keeps_its_name(ecs, start_task, await_end):
    ecs.error = ClusterNotFoundException
    assert await_end(start_task())["error"] == "ECS.ClusterNotFoundException"


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("ServerException", "ECS.ServerException"),
        ("ThrottlingException", "ECS.AmazonECSException"),
    ],
)
def test_an_error_has_the_name_that_step_functions_gives_it(ecs, start_task, await_end, code, name):
    ecs.error = JsonRESTError(code, "as the test wants")
    assert await_end(start_task())["error"] == name


@pytest.mark.parametrize(
    ("argument", "cause"),
    [
        ({"Count": 2}, "Count is 2; accepted: 1."),
        ({"StartedBy": "run"}, "StartedBy is not supported by Step Functions."),
    ],
)
def test_a_second_task_or_another_starter_is_refused(run, ecs, argument, cause):
    described = run({"A": task(RUN_TASK, TASK_ARGUMENTS | argument)})
    assert (described["error"], described["cause"]) == ("States.Runtime", cause)
    assert ecs.requests == []


@pytest.mark.parametrize("while_starting", [False, True])
def test_an_abort_stops_the_task_even_while_it_starts(ecs, start_task, states, while_starting):
    if while_starting:
        ecs.gate.clear()
    execution = start_task()
    stopping = threading.Thread(target=states.stop_execution, kwargs={"executionArn": execution})
    stopping.start()
    ecs.gate.set()
    stopping.join(10)
    assert states.describe_execution(executionArn=execution)["status"] == "ABORTED"
    [request] = [request for action, request in ecs.requests if action == "stop_task"]
    assert (request["cluster"], request["task"]) == (CLUSTER, TASK)


def test_a_task_beyond_its_timeout_is_stopped(ecs, start_task, await_end):
    described = await_end(start_task(TimeoutSeconds=1))
    assert described["error"] == "States.Timeout"
    assert [action for action, _ in ecs.requests] == ["run_task", "stop_task"]


def test_a_state_times_out_only_after_its_task_has_stopped(ecs, start_task, states, await_end):
    ecs.obeys_stop = False
    execution = start_task(TimeoutSeconds=1)
    assert ecs.stop_request.wait(10)
    assert states.describe_execution(executionArn=execution)["status"] == "RUNNING"

    ecs.end(137)

    assert await_end(execution)["error"] == "States.Timeout"


def test_a_malformed_answer_is_an_error_of_its_service(ecs, start_task, await_end):
    replacements = Replacements()
    broken = lambda _: ecs.running.set() or (200, {}, b"{")  # noqa: E731
    replacements.set(EC2ContainerServiceResponse, "run_task", broken)

    described = await_end(start_task())

    replacements.restore()
    assert described["error"] == "ECS.SdkClientException"
    assert described["cause"] == "the answer of RunTask has no Failures: {}"


def test_on_change_gets_the_description_at_every_new_status(endpoint, ecs):
    changes, succeeded = [], threading.Event()

    def record(execution):
        changes.append(execution)
        if execution["status"] == "SUCCEEDED":
            succeeded.set()

    machines = StateMachines(endpoint, ecs, record)
    states = endpoint.client("stepfunctions")
    for name, state in (("pass", PASS), ("wait", LONG)):
        definition = {"QueryLanguage": "JSONata", "StartAt": "S", "States": {"S": state}}
        machine = states.create_state_machine(
            name=name, definition=json.dumps(definition), roleArn=ROLE
        )
        states.start_execution(stateMachineArn=machine["stateMachineArn"], name=name, input="{}")

    assert succeeded.wait(10)
    machines.abort()

    try:
        statuses = {
            name: [change["status"] for change in changes if change["name"] == name]
            for name in ("pass", "wait")
        }
        assert statuses == {"pass": ["RUNNING", "SUCCEEDED"], "wait": ["RUNNING", "ABORTED"]}
        assert changes[-1]["cause"] == "the one-machine cloud was taken down"
        with pytest.raises(ClientError, match="The one-machine cloud is closing"):
            states.start_execution(stateMachineArn=machine["stateMachineArn"], input="{}")
    finally:
        machines.close()
