"""The state machine of a trial with more tasks than a Map runs at once."""

import asyncio
import json
from collections import Counter
from itertools import pairwise

import pytest
from pydantic_core import to_jsonable_python
from state_machines import Lab

from cdk.definitions import definition
from onebox.asl.errors import StateError
from onebox.asl.payload import MAX_BYTES
from tidemark.model.parameters import MOST_TASKS
from tidemark.model.run_size import (
    EVENTS_OF_QUESTION,
    EVENTS_OF_STEP,
    EVENTS_OF_TASK,
    EVENTS_OF_TEST,
)
from tidemark.run.classify_stop import classify

TEXT = definition("trial").replace("${Systems}", "{'s': {'log_group': '/s'}}")
GROUPS = [
    {"wait_seconds": first // 10, "first": first, "last": first + 19}
    for first in range(0, MOST_TASKS, 20)
]
# The longest cause that AWS Step Functions accepts, of the characters with the longest JSON.
CAUSE = ('\u221e"' * 20_000)[:32_768]


def step(*command, first=0, groups=GROUPS, deadline_seconds=3300):
    return {
        "container": "c", "command": list(command), "first": first, "groups": groups,
        "deadline_seconds": deadline_seconds, "timeout_seconds": deadline_seconds + 300,
    }  # fmt: skip


def server(name="server", index=1):
    ready = {"Name": "TIDEMARK_READY", "Value": ":8080"}
    return {
        "name": name, "awaited": "ready", "index": index, "containers": [name],
        "task_definition": f"arn:{name}:3",
        "command": ["serve"], "environment": [ready], "size": {},
    }  # fmt: skip


def ready(name, address):
    host = {"Name": f"TIDEMARK_{name.upper()}", "Value": address}
    return OVER | {"environment": [host]}


SERVER = {"index": 1, "status": "ok", "task_arn": "arn:task/c/s1", "service": "server"}
STOPPED = {"over": True, "wait_seconds": 0, "tasks": [SERVER]}
STOPPING = {"over": False, "wait_seconds": 2, "tasks": []}


class Trial:
    """A run of the machine over fakes of ECS and of the functions."""

    def __init__(self, lab):
        self.lab = lab
        self.wait_seconds = 0
        self.ecs = []  # the error of every start of a task, if any
        self.throttled = False  # whether Lambda refuses every ClassifyStop
        self.running = self.most_running = 0
        self.steps = [step("ingest")]
        self.order = []
        self.commands = []
        self.ran = []
        self.found = {}  # the answer of a search for tasks
        self.failing = None  # the command of the tasks that fail
        self.called = {}
        self.answers = []  # to the questions of a step that waits
        self.asked_at = []
        self.refused_at = []
        self.environments = []
        self.starts = Counter()  # the number of starts of tasks by time [s]
        self.started = []
        self.unplaced = []  # the answers of RunTask that place no service
        self.stops = [STOPPED]
        lab.integrations["arn:aws:states:::ecs:runTask.sync"] = self.run_task
        lab.integrations["arn:aws:states:::ecs:runTask"] = self.start_service
        lab.integrations["arn:aws:states:::lambda:invoke"] = self.invoke

    async def run_task(self, arguments, submission):
        (override,) = arguments["Overrides"]["ContainerOverrides"]
        self.environments.append({each["Name"]: each["Value"] for each in override["Environment"]})
        self.commands.append(override["Command"])
        self.ran.append(arguments)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        self.starts[self.lab.loop.time()] += 1
        await asyncio.sleep(60)
        self.running -= 1
        if self.ecs and (error := self.ecs[0]):
            raise error
        if override["Command"] == self.failing:
            raise StateError("States.TaskFailed", "no reason")
        submission.submitted({})
        arn = f"arn:aws:ecs:us-east-1:123456789012:task/{'c' * 60}/{'t' * 32}"
        return {"TaskArn": arn, "StartedAt": 1_763_640_000_000, "StoppedAt": 1_763_640_000_000}

    async def start_service(self, arguments, _submission):
        if self.unplaced:
            self.refused_at.append(self.lab.loop.time())
            return {"Tasks": [], "Failures": self.unplaced.pop(0)}
        (override,) = arguments["Overrides"]["ContainerOverrides"]
        environment = {each["Name"]: each["Value"] for each in override["Environment"]}
        self.started.append({**arguments, **override, "Environment": environment})
        return {"Tasks": [{"TaskArn": f"arn:task/c/s{len(self.started)}"}], "Failures": []}

    async def invoke(self, arguments, _submission):
        name, payload = arguments["FunctionName"].strip("${}"), arguments["Payload"]
        self.order.append(name)
        self.called.setdefault(name, []).append(payload)
        return {"Payload": getattr(self, name)(payload)}

    def PrepareTrial(self, _):
        test = {
            "name": "ingest", "steps": self.steps, "environment": [],
            "artefacts": "s3://b/secret/artefacts/ingest/",
        }  # fmt: skip
        test["environment"] = [{"Name": "TIDEMARK_VERSION", "Value": "1.0"}]
        own = {"task_definition": "arn", "container": "c", "security_group": "sg-1"}
        return {"system": own, "tests": [test]}

    def ClassifyStop(self, payload):
        if self.throttled:
            raise StateError("Lambda.TooManyRequestsException", "Rate Exceeded.")
        failure, limit = payload["failure"], payload["limit_seconds"]
        error, cause = failure["Error"], failure["Cause"]
        stop = classify(payload["index"], payload["container"], error, cause, limit)
        return to_jsonable_python(stop)

    def FindTasks(self, _):
        if isinstance(self.found, StateError):
            raise self.found
        return self.found

    def StopServices(self, _):
        return self.answer(self.stops)

    def CheckCondition(self, _):
        self.asked_at.append(self.lab.loop.time())
        return self.answer(self.answers)

    def answer(self, answers):
        answer = answers.pop(0)
        if isinstance(answer, StateError):
            raise answer
        return answer

    def CollectRates(self, payload):
        self.collected = payload
        return {"complete": True, "wait_seconds": 0, "status": "failed"}

    def kiwi_reset(self, payload):
        if payload.get("broken"):
            raise StateError("KeyError", '{"errorMessage": "\'host\'"}')
        if error := payload.get("dies"):
            raise StateError(error, "Task timed out after 3.00 seconds")
        return {}

    def PauseRules(self, payload):
        if payload["rules"] == ["absent"]:
            raise StateError("Refused", "pause: there is no rule absent")
        return {}

    def CleanUpTrial(self, _):
        return {}

    def RecordTrial(self, _):
        return {"trial": 1, "status": "failed"}

    def run(self):
        machine = json.loads(TEXT)
        states = machine.pop("States")
        states = {machine["StartAt"]: states.pop(machine["StartAt"]), **states}
        return self.lab.run(
            states,
            {"run_id": "r", "trial": 1, "trials": [1], "wait_seconds": self.wait_seconds},
            **machine,
        )


@pytest.fixture
def trial(lab):
    return Trial(lab)


@pytest.fixture(scope="module")
def largest():
    """Return a trial that has run with as many tasks as a test may have."""
    lab = Lab()
    trial = Trial(lab)
    execution = trial.run()
    assert execution.status == "SUCCEEDED", execution.cause
    yield trial
    lab.loop.close()


def test_all_tasks_of_a_test_run_in_parallel(largest):
    assert largest.most_running == MOST_TASKS
    assert [task["index"] for task in largest.collected["tasks"]] == list(range(MOST_TASKS))


def test_each_task_has_a_place_of_its_own_for_the_files_that_it_leaves(largest):
    places = [names["TIDEMARK_ARTEFACTS"] for names in largest.environments]
    assert largest.collected["artefacts"] == "s3://b/secret/artefacts/ingest/"
    assert sorted(places) == sorted(
        f"s3://b/secret/artefacts/ingest/{index}/" for index in range(MOST_TASKS)
    )


def test_no_more_tasks_start_in_a_second_than_ecs_accepts(largest):
    assert max(largest.starts.values()) == 20
    times = sorted(largest.starts)
    assert min(later - before for before, later in pairwise(times)) >= 2
    assert times[-1] - times[0] == 18


def test_the_steps_of_a_test_follow_each_other_and_its_tasks_are_collected_together(trial):
    pair = [{"wait_seconds": 0, "first": 0, "last": 1}]
    one = [{"wait_seconds": 0, "first": 2, "last": 2}]
    trial.steps = [
        step("load", "--all", groups=pair),
        step("compact", first=2, groups=one, deadline_seconds=60),
    ]

    execution = trial.run()

    assert execution.status == "SUCCEEDED", execution.cause
    assert trial.commands == [["load", "--all"], ["load", "--all"], ["compact"]]
    assert [
        (each["TIDEMARK_TASK"], each["TIDEMARK_ARTEFACTS"][-3:], each["TIDEMARK_DEADLINE_SECONDS"])
        for each in trial.environments
    ] == [("0", "/0/", "3300"), ("1", "/1/", "3300"), ("0", "/2/", "60")]
    assert [task["index"] for task in trial.collected["tasks"]] == [0, 1, 2]
    assert len(trial.called["CollectRates"]) == 1


def test_the_tasks_of_an_instance_run_in_its_own_place_and_get_no_variables(trial):
    there = {
        "cluster": "arn:theirs", "task_definition": "arn:writer:7",
        "subnets": ["subnet-1", "subnet-2"], "security_groups": [],
    }  # fmt: skip
    one, two = ([{"wait_seconds": 0, "first": index, "last": index}] for index in (0, 1))
    trial.steps = [
        step("write", groups=one) | {"place": there, "container": "main"},
        step("own", first=1, groups=two),
    ]

    execution = trial.run()

    assert execution.status == "SUCCEEDED", execution.cause
    theirs, own = trial.ran
    assert [(each["Cluster"], each["TaskDefinition"], each["Group"]) for each in trial.ran] == [
        ("arn:theirs", "arn:writer:7", "r-1"), ("${Cluster}", "arn", "r-1"),
    ]  # fmt: skip
    assert theirs["NetworkConfiguration"]["AwsvpcConfiguration"] == {
        "Subnets": ["subnet-1", "subnet-2"], "SecurityGroups": [], "AssignPublicIp": "DISABLED",
    }  # fmt: skip
    assert theirs["Overrides"]["ContainerOverrides"] == [
        {"Name": "main", "Command": ["write"], "Environment": []}
    ]
    assert own["NetworkConfiguration"]["AwsvpcConfiguration"]["SecurityGroups"] == ["sg-1"]
    assert trial.environments[1]["TIDEMARK_TASK"] == "0"


FOUND_TASK = {"index": 1, "status": "ok", "task_arn": "arn:task/c/t1", "step": "compact"}


@pytest.mark.parametrize(
    ("found", "status", "commands"),
    [
        ({"tasks": [FOUND_TASK], "stopped_by": None}, "ok", [["write"], ["after"]]),
        ({"tasks": [], "stopped_by": "step compact: none"}, None, [["write"]]),
        ({"tasks": [FOUND_TASK | {"status": "failed"}], "stopped_by": None}, "failed", [["write"]]),
    ],
)
def test_the_tasks_that_a_search_finds_are_tasks_of_the_test(trial, found, status, commands):
    one, two = ([{"wait_seconds": 0, "first": index, "last": index}] for index in (0, 1))
    search = {"name": "compact", "cluster": "arn:theirs"}
    trial.steps = [step("write", groups=one), search, step("after", first=1, groups=two)]
    trial.found = found

    execution = trial.run()

    assert execution.status == "SUCCEEDED", execution.cause
    (asked,) = trial.called["FindTasks"]
    assert (asked["search"], [each["index"] for each in asked["tasks"]]) == ("compact", [0])
    assert trial.commands == commands
    statuses = [each["status"] for each in trial.collected["tasks"] if "step" in each]
    assert statuses == ([status] if status else [])
    assert trial.collected["stopped_by"] == found["stopped_by"]


def test_a_search_that_fails_ends_the_test_by_the_name_of_its_step(trial):
    trial.steps = [{"name": "compact", "cluster": "arn:theirs"}]
    trial.found = StateError("AccessDeniedException", "no")

    trial.run()

    why = "step compact: its tasks could not be found: AccessDeniedException: no"
    assert trial.collected["stopped_by"] == why


def test_no_step_follows_one_whose_task_failed(trial):
    first, second = ([{"wait_seconds": 0, "first": n, "last": n}] for n in (0, 1))
    trial.steps = [step("load", groups=first), step("compact", first=1, groups=second)]
    trial.failing = ["load"]

    trial.run()

    assert trial.commands == [["load"]]
    assert [task["status"] for task in trial.collected["tasks"]] == ["failed"]


CALL = {"name": "reset", "function": "kiwi_reset", "timeout_seconds": 60}


def test_a_step_calls_a_function_with_the_payload_of_the_suite(trial):
    one = [{"wait_seconds": 0, "first": 0, "last": 0}]
    payload = {"hosts": ["one"], "text": "{% $states %}"}
    trial.steps = [{**CALL, "payload": payload}, step("load", groups=one)]

    execution = trial.run()

    assert execution.status == "SUCCEEDED", execution.cause
    assert trial.order[:3] == ["PrepareTrial", "kiwi_reset", "CollectRates"]
    assert trial.called["kiwi_reset"] == [payload]
    assert trial.commands == [["load"]]
    assert trial.collected["stopped_by"] is None


def test_the_error_of_a_called_function_ends_the_test_by_the_name_of_its_step(trial):
    trial.steps = [{**CALL, "payload": {"broken": True}}, step("load")]

    execution = trial.run()

    assert execution.status == "SUCCEEDED", execution.cause
    assert trial.commands == []
    assert (trial.collected["tasks"], trial.collected["stopped_by"]) == (
        [],
        'step reset: the function kiwi_reset failed with KeyError: {"errorMessage": "\'host\'"}',
    )


ONE = [{"wait_seconds": 0, "first": 0, "last": 0}]


def test_a_step_pauses_rules_until_the_end_of_the_trial(trial):
    rest = {"name": "rest", "rules": ["kiwi-nightly"]}
    trial.steps = [rest, step("load", groups=ONE)]

    execution = trial.run()

    assert execution.status == "SUCCEEDED", execution.cause
    own = {"run_id": "r", "trial": 1}
    assert trial.called["PauseRules"] == [{**own, "rules": ["kiwi-nightly"]}]
    assert trial.called["CleanUpTrial"] == [{**own, "paused": True}]
    assert trial.order[1:] == ["PauseRules", "CollectRates", "CleanUpTrial", "RecordTrial"]
    assert trial.commands == [["load"]]


def test_rules_that_cannot_be_paused_end_the_test_and_are_enabled_again(trial):
    rest = {"name": "rest", "rules": ["absent"]}
    trial.steps = [rest, step("load", groups=ONE)]

    trial.run()

    assert trial.commands == []
    assert trial.collected["stopped_by"] == (
        "step rest: its rules could not be paused: Refused: pause: there is no rule absent"
    )
    assert trial.called["CleanUpTrial"][-1]["paused"] is True


LATER = {"over": False, "wait_seconds": 7, "stopped_by": None, "bytes_scanned": 10, "holds": 0}
OVER = {"over": True, "wait_seconds": 0, "stopped_by": None, "bytes_scanned": 20, "holds": 0}


def test_a_step_asks_its_query_again_until_the_wait_is_over(trial):
    last = [{"wait_seconds": 0, "first": 1, "last": 1}]
    wait = {"name": "loaded", "awaited": "loaded"}
    trial.steps = [step("load", groups=ONE), wait, step("compact", first=1, groups=last)]
    trial.answers = [LATER, LATER, OVER]

    execution = trial.run()

    assert execution.status == "SUCCEEDED", execution.cause
    assert [later - before for before, later in pairwise(trial.asked_at)] == [7, 7]
    assert trial.commands == [["load"], ["compact"]]
    first, _, third = trial.called["CheckCondition"]
    (collected,) = trial.called["CollectRates"]
    assert first["step"] == "loaded"
    assert [task["index"] for task in first["tasks"]] == [0]
    assert first["started_at"] < first["waiting_since"] <= first["now"]
    assert third["waiting_since"] == first["waiting_since"]
    assert (first["bytes_scanned"], third["bytes_scanned"]) == (0, 10)
    assert (collected["bytes_scanned"], collected["stopped_by"]) == (20, None)


def test_a_wait_counts_the_readings_at_which_its_condition_held(trial):
    emptied = {"name": "emptied", "awaited": "a-jobs"}
    trial.steps = [step("load", groups=ONE), emptied, {**emptied, "name": "again"}]
    counts = [LATER | {"holds": 1}, LATER | {"holds": 2}, OVER | {"holds": 3}, OVER]
    trial.answers = list(counts)

    trial.run()

    asked = trial.called["CheckCondition"]
    assert [(each["step"], each["awaited"], each["holds"]) for each in asked] == [
        ("emptied", "a-jobs", 0),
        ("emptied", "a-jobs", 1),
        ("emptied", "a-jobs", 2),
        ("again", "a-jobs", 0),
    ]


def test_a_wait_without_a_row_ends_the_test_with_its_reason(trial):
    wait = {"name": "loaded", "awaited": "loaded"}
    trial.steps = [step("load", groups=ONE), wait, step("compact", groups=ONE)]
    trial.answers = [LATER, OVER | {"stopped_by": "no row"}]

    trial.run()

    assert trial.commands == [["load"]]
    assert trial.collected["stopped_by"] == "no row"


def test_a_query_that_fails_ends_the_test_by_the_name_of_the_step_that_waits(trial):
    trial.steps = [step("load", groups=ONE), {"name": "loaded", "awaited": "lines"}]
    trial.answers = [StateError("MalformedQueryException", "unexpected symbol")]

    execution = trial.run()

    assert execution.status == "SUCCEEDED", execution.cause
    assert trial.collected["stopped_by"] == (
        "step loaded: the wait for lines failed with MalformedQueryException: unexpected symbol"
    )


def test_each_question_of_a_wait_takes_no_more_events_than_a_trial_counts_for_it(trial):
    trial.steps = [step("load", groups=ONE), {"name": "loaded", "awaited": "loaded"}]
    refused = [StateError("Lambda.TooManyRequestsException", "Rate Exceeded.")] * 5

    def events(*answers):
        trial.answers = list(answers)
        execution = trial.run()
        assert execution.status == "SUCCEEDED", execution.cause
        return len(execution.history.events)

    assert events(*refused, LATER, OVER) - events(OVER) == EVENTS_OF_QUESTION


def test_a_service_runs_from_before_the_first_step_until_after_the_last(trial):
    trial.steps = [server(), step("load", groups=ONE)]
    trial.answers = [LATER, ready("server", "10.0.0.7")]
    trial.stops = [STOPPING, STOPPED]

    execution = trial.run()

    assert execution.status == "SUCCEEDED", execution.cause
    (started,) = trial.started
    assert (started["TaskDefinition"], started["Name"]) == ("arn:server:3", "server")
    assert (started["Group"], started["Command"]) == ("r-1", ["serve"])
    network = started["NetworkConfiguration"]["AwsvpcConfiguration"]
    assert network["SecurityGroups"] == ["sg-1"]
    assert started["Environment"] == {"TIDEMARK_VERSION": "1.0", "TIDEMARK_READY": ":8080"}
    (load,) = trial.environments
    assert (load["TIDEMARK_SERVER"], load["TIDEMARK_VERSION"]) == ("10.0.0.7", "1.0")
    assert "TIDEMARK_READY" not in load
    asked, _ = trial.called["CheckCondition"]
    stopping, stopped = trial.called["StopServices"]
    (collected,) = trial.called["CollectRates"]
    running = [
        {"name": "server", "index": 1, "containers": ["server"], "task_arn": "arn:task/c/s1"}
    ]
    assert (asked["step"], asked["tasks"], asked["services"]) == ("server", [], running)
    assert stopping["services"] == stopped["services"] == running
    assert stopping["stopping_since"] == stopped["stopping_since"] <= stopped["now"]
    assert [task["index"] for task in collected["tasks"]] == [0, 1]
    assert collected["tasks"][1] == SERVER


def test_a_service_has_the_size_of_its_trial_and_else_that_of_its_definition(trial):
    size = {"Cpu": "512", "Memory": "1024"}
    trial.steps = [server("database") | {"size": size}, server("web", 2), step("load", groups=ONE)]
    trial.answers = [ready("database", "10.0.0.7"), ready("web", "10.0.0.8")]

    assert trial.run().status == "SUCCEEDED"

    sized, plain = (started["Overrides"] for started in trial.started)
    assert sized.items() >= size.items()
    assert plain.keys() == {"ContainerOverrides"}


def test_a_service_finds_those_that_started_before_it(trial):
    trial.steps = [server("database", 1), server("web", 2), step("load", groups=ONE)]
    trial.answers = [ready("database", "10.0.0.7"), ready("web", "10.0.0.8")]

    trial.run()

    hosts = {"TIDEMARK_DATABASE": "10.0.0.7", "TIDEMARK_WEB": "10.0.0.8"}
    database, web = (each["Environment"] for each in trial.started)
    assert web.items() - database.items() == {("TIDEMARK_DATABASE", "10.0.0.7")}
    assert hosts.items() <= trial.environments[0].items()
    (collected,) = trial.called["CollectRates"]
    assert collected["stopped_by"] is None


def test_a_service_that_is_not_ready_is_stopped_and_no_step_follows(trial):
    trial.steps = [server(), server("web", 2), step("load", groups=ONE)]
    trial.answers = [OVER | {"stopped_by": "not ready"}]

    trial.run()

    assert (len(trial.started), trial.commands) == (1, [])
    assert trial.order[1:4] == ["CheckCondition", "StopServices", "CollectRates"]
    assert (trial.collected["stopped_by"], trial.collected["tasks"]) == ("not ready", [SERVER])


def test_a_service_that_cannot_be_started_ends_the_test_by_its_name(trial):
    trial.steps = [server("database"), server("web", 2), step("load", groups=ONE)]
    trial.answers = [ready("database", "10.0.0.7")]

    async def start(arguments, submission):
        if arguments["TaskDefinition"] == "arn:web:3":
            raise StateError("ECS.ClientException", "no such definition")
        return await trial.start_service(arguments, submission)

    trial.lab.integrations["arn:aws:states:::ecs:runTask"] = start

    trial.run()

    assert trial.commands == []
    assert trial.collected["tasks"] == [SERVER]
    assert trial.collected["stopped_by"] == (
        "service web: it could not be started: ECS.ClientException: no such definition"
    )


NO_ROOM = [{"Arn": "arn:aws:ecs:eu-west-2:1:cluster/c", "Reason": "RESOURCE:ENI"}]


def test_a_service_that_ecs_cannot_place_at_first_is_tried_again(trial):
    trial.steps = [server(), step("load", groups=ONE)]
    trial.answers = [ready("server", "10.0.0.7")]
    trial.unplaced = [NO_ROOM, NO_ROOM]

    execution = trial.run()

    assert execution.status == "SUCCEEDED", execution.cause
    assert (len(trial.started), trial.commands) == (1, [["load"]])
    # The lab's jitter is half of the longest wait: 60 s, and 150 s after it.
    assert [later - before for before, later in pairwise(trial.refused_at)] == [30]
    assert trial.collected["stopped_by"] is None


def test_a_service_that_ecs_never_places_ends_the_test_and_those_before_it_are_stopped(trial):
    trial.steps = [server("database"), server("web", 2), step("load", groups=ONE)]

    def place_no_other(_):
        trial.unplaced = [NO_ROOM] * 5
        return ready("database", "10.0.0.7")

    trial.CheckCondition = place_no_other

    execution = trial.run()

    assert execution.status == "SUCCEEDED", execution.cause
    assert (len(trial.refused_at), trial.commands) == (5, [])
    (stopped,) = trial.called["StopServices"]
    assert [each["task_arn"] for each in stopped["services"]] == ["arn:task/c/s1"]
    assert trial.collected["stopped_by"] == (
        "service web: it could not be started: AmazonECS.Unknown: "
        '[{"Arn":"arn:aws:ecs:eu-west-2:1:cluster/c","Reason":"RESOURCE:ENI"}]'
    )


def test_the_services_of_a_test_whose_step_failed_are_stopped(trial):
    trial.steps = [server(), step("load", groups=ONE), step("check", groups=ONE)]
    trial.answers = [ready("server", "10.0.0.7")]
    trial.failing = ["load"]

    trial.run()

    assert trial.commands == [["load"]]
    assert [task["status"] for task in trial.collected["tasks"]] == ["failed", "ok"]


def test_services_are_stopped_before_a_trial_ends_whose_state_failed(trial):
    # An index that is not a number fails the Map itself.
    trial.steps = [server(), step("load", groups=[{"wait_seconds": 0, "first": "a", "last": 1}])]
    trial.answers = [ready("server", "10.0.0.7")]

    execution = trial.run()

    assert execution.status == "SUCCEEDED", execution.cause
    assert trial.order[-4:] == ["CheckCondition", "StopServices", "CleanUpTrial", "RecordTrial"]
    (recorded,) = trial.called["RecordTrial"]
    assert recorded["failure"]["Error"] == "States.QueryEvaluationError"


def test_a_trial_whose_services_cannot_be_stopped_is_recorded_with_the_failure(trial):
    trial.steps = [server(), step("load", groups=ONE)]
    trial.answers = [ready("server", "10.0.0.7")]
    trial.stops = [StateError("KeyError", "no cluster")]

    trial.run()

    (recorded,) = trial.called["RecordTrial"]
    assert recorded["failure"] == {"Error": "KeyError", "Cause": "no cluster"}


@pytest.mark.parametrize("error", ["Lambda.Unknown", "Runtime.ExitError", "Sandbox.Timedout"])
def test_a_called_function_that_dies_is_not_called_again(trial, error):
    trial.steps = [{**CALL, "payload": {"dies": error}}, step("load")]

    trial.run()

    assert trial.order.count("kiwi_reset") == 1
    assert trial.collected["stopped_by"].startswith(
        f"step reset: the function kiwi_reset failed with {error}: Task timed out"
    )


def test_tasks_whose_failure_cannot_be_classified_keep_their_error(trial):
    trial.ecs = [StateError("ECS.AmazonECSException", "Rate exceeded")]
    trial.throttled = True
    trial.steps = [step("load", groups=GROUPS[:2])]

    execution = trial.run()

    assert execution.status == "SUCCEEDED", execution.cause
    tasks = trial.collected["tasks"]
    assert [task["index"] for task in tasks] == list(range(40))
    assert {task["status"] for task in tasks} == {"failed"}
    assert tasks[7]["reason"] == (
        "task 7: it failed with ECS.AmazonECSException; its reason is not known, since "
        "ClassifyStop failed with Lambda.TooManyRequestsException"
    )
    # No trial of this size has a longer history: every start and classification was retried.
    most = EVENTS_OF_TEST + EVENTS_OF_STEP + len(tasks) * EVENTS_OF_TASK
    assert len(execution.history.events) < most


@pytest.mark.systems
def test_two_hundred_failures_with_the_longest_cause_are_all_collected(trial):
    trial.ecs = [StateError("ECS.AmazonECSException", CAUSE)]

    execution = trial.run()

    assert execution.status == "SUCCEEDED", execution.cause
    assert {task["status"] for task in trial.collected["tasks"]} == {"failed"}
    assert len(json.dumps(trial.collected, ensure_ascii=False).encode()) < MAX_BYTES
    assert len(trial.called["ClassifyStop"]) == MOST_TASKS
