"""Scenarios of the state machines: an input, and the answers to each call of the machine.

This module needs the standard library alone: the other interpreter runs in an environment of its
own.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

# The longest cause that AWS Step Functions accepts, of the characters with the longest JSON.
LONGEST_CAUSE = ('\u221e"' * 20_000)[:32_768]
# CloudFormation fills in these values.
_FILLED = {
    "Account": "123456789012", "Cluster": "arn:c", "DataSets": "rates,runs",
    "PublicAddress": "ENABLED", "Subnets": "subnet-1,subnet-2",
    "Systems": "{'rocksdb': {'log_group': '/t/rocksdb'}}",
    "TrialStateMachine": "arn:trial",
}  # fmt: skip
_CALLS = {
    "ecs:runTask.sync": "RunTask",
    "ecs:runTask": "RunService",
    "states:startExecution.sync:2": "RunTrial",
    "aws-sdk:quicksight:createIngestion": "CreateIngestion",
    "aws-sdk:quicksight:describeIngestion": "DescribeIngestion",
}
RESOURCES = [f"arn:aws:states:::{each}" for each in (*_CALLS, "lambda:invoke")]
_TIME = re.compile(r"20\d\d-\d\d-\d\dT[\d:.]+(Z|\+00:00)")


class Failed(Exception):
    """The error of a call."""

    def __init__(self, error: str, cause: str = "") -> None:
        super().__init__(error, cause)
        self.error, self.cause = error, cause


class Silent(Exception):
    """A call without an answer."""


ABORTED = ("Stopped", "by hand")
"""The error and the cause of an execution that a person stops."""


class Abort(Exception):
    """A call during which a person stops the execution."""


class Scenario(NamedTuple):
    """A machine, its input, and the answers to its calls, by the function or the task called.

    An answer is a value, an exception, or a function of the arguments. The last one of a list
    answers all further calls.
    """

    machine: str
    input: Any
    answers: Mapping[str, Any]


class Answers:
    """The answers of a scenario, in turn."""

    def __init__(self, scenario: Scenario) -> None:
        self._left = {
            name: list(given) if isinstance(given, list) else [given]
            for name, given in scenario.answers.items()
        }

    def __call__(self, resource: str, arguments: Any) -> Any:
        """Return the result of a call, or raise ``Failed``, ``Silent`` or ``Abort``."""
        action = resource.partition(":::")[2]
        name = _CALLS.get(action) or arguments["FunctionName"].strip("${}")
        left = self._left[name]
        answer = left.pop(0) if len(left) > 1 else left[0]
        if callable(answer):
            answer = answer(arguments)
        if isinstance(answer, Exception):
            raise answer
        answer = copy.deepcopy(answer)
        return answer if action in _CALLS else {"Payload": answer}


def filled(definition: str) -> str:
    """Return a definition with names in place of the variables of CloudFormation."""
    for name, value in _FILLED.items():
        definition = definition.replace(f"${{{name}}}", value)
    return definition


def without_times(value: Any) -> Any:
    """Return a value with one word in place of each moment in it."""
    return json.loads(_TIME.sub("TIME", json.dumps(value)))


# A trial.

ONE = [{"wait_seconds": 0, "first": 0, "last": 0}]
FOUND = {"index": 1, "status": "ok", "task_arn": "arn:t1", "step": "compact"}
OVER = {"over": True, "wait_seconds": 0, "stopped_by": None, "environment": [], "holds": 0,
        "bytes_scanned": 20}  # fmt: skip
LATER = {**OVER, "over": False, "wait_seconds": 7, "holds": 1, "bytes_scanned": 10}
COLLECTED = {"complete": True, "status": "ok", "lines": 4, "bytes_scanned": 30, "wait_seconds": 0}
LATE = {**COLLECTED, "complete": False, "wait_seconds": 4}
LOST = {**COLLECTED, "status": "failed"}
RAN = {
    "TaskArn": "arn:t", "StartedAt": 1_763_640_000_000, "StoppedAt": 1_763_640_001_000,
    "PullStartedAt": 5, "AvailabilityZone": "us-east-1a",
    "Containers": [
        {"Name": "agent", "ImageDigest": "sha256:ff"}, {"Name": "c", "ImageDigest": "sha256:ab"},
    ],
}  # fmt: skip
PLACED = {"Tasks": [{"TaskArn": "arn:s1"}], "Failures": []}
NO_ROOM = {"Tasks": [], "Failures": [{"Arn": "arn:c", "Reason": "RESOURCE:ENI"}]}
STOPPED = {
    "over": True,
    "wait_seconds": 0,
    "tasks": [{"index": 1, "status": "ok", "service": "server"}],
}
PLACE = {"cluster": "arn:theirs", "task_definition": "arn:writer:7", "container": "main"}
DENIED = Failed("AccessDeniedException", "not allowed")
BUSY = Failed("Lambda.TooManyRequestsException", "Rate Exceeded.")


def step(*command: str, groups: Any = ONE, first: int = 0, **more: Any) -> dict[str, Any]:
    limits = {"deadline_seconds": 3300, "timeout_seconds": 3600}
    return {
        "container": "c",
        "command": list(command),
        "first": first,
        "groups": groups,
        **limits,
        **more,
    }


def service(name: str = "server", index: int = 1, **more: Any) -> dict[str, Any]:
    return {
        "name": name, "awaited": "ready", "index": index, "containers": [name],
        "task_definition": f"arn:{name}:3", "command": ["serve"],
        "environment": [{"Name": "TIDEMARK_READY", "Value": ":8080"}], "size": {}, **more,
    }  # fmt: skip


def load_test(*steps: Any, name: str = "ingest", variables: Any = ("1.0",)) -> dict[str, Any]:
    environment = [{"Name": f"V{n}", "Value": value} for n, value in enumerate(variables)]
    return {
        "name": name,
        "steps": list(steps),
        "environment": environment,
        "artefacts": "s3://b/a/",
    }


def group(first: int, last: int, wait_seconds: int = 0) -> dict[str, int]:
    return {"wait_seconds": wait_seconds, "first": first, "last": last}


def prepared(*tests: Any) -> dict[str, Any]:
    own = {"task_definition": "arn:own:1", "security_group": "sg-1"}
    return {"system": own, "tests": list(tests)}


def classified(arguments: Any) -> dict[str, Any]:
    payload = arguments["Payload"]
    failure = payload["failure"]
    return {"index": payload["index"], "status": "failed", "reason": failure["Error"]}


def index_of(arguments: Any) -> int:
    (override,) = arguments["Overrides"]["ContainerOverrides"]
    names = {each["Name"]: each["Value"] for each in override["Environment"]}
    return int(names["TIDEMARK_TASK"])


def failing(index: int, error: Failed | Silent) -> Callable[[Any], Any]:
    """Return the answer to a start of a task: the task of an index fails."""
    return lambda arguments: error if index_of(arguments) == index else RAN


def trial(*tests: Any, given: Any = None, **answers: Any) -> Scenario:
    usual = {
        "PrepareTrial": prepared(*tests), "RunTask": RAN, "CollectRates": COLLECTED,
        "ClassifyStop": classified, "CleanUpTrial": {}, "PauseRules": {},
        "RecordTrial": {"trial": 1, "status": "ok"}, "RunService": PLACED, "StopServices": STOPPED,
        "CheckCondition": OVER,
    }  # fmt: skip
    own = {"run_id": "r", "trial": 1, "trials": [1], "wait_seconds": 0}
    return Scenario("trial", {**own, **(given or {})}, {**usual, **answers})


WAIT = {"name": "loaded", "awaited": "loaded", "environment": []}
CALL = {"name": "warm", "function": "warm", "payload": {"tables": ["a"]}, "timeout_seconds": 60}
SEARCH = {"name": "compact", "cluster": "arn:theirs"}
HOST = {**OVER, "environment": [{"Name": "TIDEMARK_SERVER", "Value": "10.0.0.7"}]}
LOAD = step("load")
TRIALS = {
    "a trial": trial(load_test(LOAD)),
    "two tests, one of two steps": trial(
        load_test(LOAD, step("compact", first=1, groups=[group(1, 1)])),
        load_test(LOAD, name="compaction"),
    ),
    "a round of two versions": trial(load_test(LOAD), given={"trials": [1, 2], "wait_seconds": 3}),
    "45 tasks": trial(
        load_test(step("load", groups=[group(0, 19), group(20, 39, 2), group(40, 44, 4)]))
    ),
    "one of three tasks fails": trial(
        load_test(step("load", groups=[group(0, 2)])),
        RunTask=failing(1, Failed("States.TaskFailed", '{"StoppedReason": "x"}')),
        CollectRates=LOST,
    ),
    "all tasks fail": trial(
        load_test(step("load", groups=[group(0, 2)]), step("more")),
        RunTask=Failed("States.TaskFailed", "x"),
        CollectRates=LOST,
    ),
    "a task fails for the longest reason": trial(
        load_test(LOAD), RunTask=Failed("States.TaskFailed", LONGEST_CAUSE), CollectRates=LOST
    ),
    "a task times out": trial(load_test(LOAD), RunTask=Silent(), CollectRates=LOST),
    "one of three tasks times out": trial(
        load_test(step("load", groups=[group(0, 2)])),
        RunTask=failing(2, Silent()),
        CollectRates=LOST,
    ),
    "a query is throttled twice": trial(
        load_test(LOAD),
        CollectRates=[Failed("ThrottlingException"), Failed("ThrottlingException"), COLLECTED],
    ),
    "queries reach their limit for ever": trial(
        load_test(LOAD), CollectRates=Failed("LimitExceededException", "50 queries")
    ),
    "a query fails for another reason": trial(
        load_test(LOAD), CollectRates=Failed("MalformedQueryException", "syntax")
    ),
    "a reading times out": trial(load_test(LOAD), CollectRates=Silent()),
    "logs come late": trial(load_test(LOAD), CollectRates=[LATE, LATE, COLLECTED]),
    "a test is incomplete": trial(
        load_test(LOAD),
        load_test(LOAD, name="compaction"),
        CollectRates={**COLLECTED, "status": "incomplete"},
    ),
    "a test without steps": trial(load_test()),
    "a trial without tests": trial(),
    "a test without variables": trial(load_test(LOAD, variables=())),
    "a test with two variables": trial(load_test(LOAD, variables=("1", "2"))),
    "text that looks like an expression": trial(
        load_test(step("a {% $x %}", "$now()", "'\"\\"), variables=("{% $x %}", "$states"))
    ),
    "a step without groups": trial(load_test(step("load", groups=[]))),
    "a group that cannot be read": trial(load_test(step("load", groups=[group("a", 1)]))),  # type: ignore[arg-type]
    "a group that cannot be read beside a service": trial(
        load_test(service(), step("load", groups=[group("a", 1)]))
    ),  # type: ignore[arg-type]
    "a task without an ARN": trial(
        load_test(LOAD), RunTask={"StartedAt": 1, "StoppedAt": 2}, CollectRates=LOST
    ),
    "a task without containers": trial(
        load_test(LOAD),
        RunTask={"TaskArn": "arn:t", "StartedAt": 1, "StoppedAt": 2, "Containers": []},
    ),
    "a task of one container": trial(
        load_test(LOAD), RunTask={**RAN, "Containers": [{"Name": "c", "ImageDigest": "sha256:ab"}]}
    ),
    "the preparation is refused": trial(
        load_test(LOAD), PrepareTrial=Failed("Refused", "suite: none")
    ),
    "the preparation is throttled": trial(PrepareTrial=[BUSY] * 5 + [prepared()]),
    "the preparation is throttled for ever": trial(PrepareTrial=BUSY),
    "the preparation times out": trial(PrepareTrial=Silent()),
    "the preparation names no tests": trial(PrepareTrial={"system": {}}),
    "ECS fails four times": trial(
        load_test(LOAD), RunTask=[*[Failed("ECS.ServerException")] * 4, RAN]
    ),
    "ECS fails for ever": trial(
        load_test(LOAD), RunTask=Failed("ECS.ServerException"), CollectRates=LOST
    ),
    "ECS has no capacity at first": trial(
        load_test(LOAD), RunTask=[Failed("AmazonECS.Unknown", "capacity"), RAN]
    ),
    "the network is not there yet": trial(
        load_test(LOAD), RunTask=[Failed("ECS.InvalidParameterException", "no such group"), RAN]
    ),
    "the network is never there": trial(
        load_test(LOAD),
        RunTask=Failed("ECS.InvalidParameterException", "no such group"),
        CollectRates=LOST,
    ),
    "ECS fails in two ways": trial(
        load_test(LOAD),
        RunTask=[
            Failed("ECS.InvalidParameterException"),
            Failed("ECS.ServerException"),
            Failed("AmazonECS.Unknown"),
            RAN,
        ],
    ),
    "a task of an instance in one subnet": trial(
        load_test(
            step(
                "write", container="main", place={**PLACE, "subnets": ["s1"], "security_groups": []}
            )
        )
    ),
    "a task of an instance in two subnets": trial(
        load_test(
            step(
                "write",
                container="main",
                place={**PLACE, "subnets": ["s1", "s2"], "security_groups": ["g1", "g2"]},
            )
        )
    ),
    "a failure that cannot be classified": trial(
        load_test(LOAD),
        RunTask=Failed("States.TaskFailed"),
        ClassifyStop=Failed("Lambda.Unknown"),
        CollectRates=LOST,
    ),
    "a failure that is classified late": trial(
        load_test(LOAD),
        RunTask=Failed("States.TaskFailed"),
        ClassifyStop=[BUSY, classified],
        CollectRates=LOST,
    ),
    "a service": trial(load_test(service(), LOAD), CheckCondition=[LATER, HOST]),
    "a service of a size": trial(
        load_test(service(size={"Cpu": "1024", "Memory": "2048"}), LOAD), CheckCondition=HOST
    ),
    "two services": trial(
        load_test(service("database"), service("web", 2), LOAD),
        RunService=[PLACED, {"Tasks": [{"TaskArn": "arn:s2"}]}],
        CheckCondition=HOST,
    ),
    "a service that is never ready": trial(
        load_test(service(), LOAD),
        CheckCondition=[LATER, {**OVER, "stopped_by": "service server: not ready"}],
    ),
    "a service without room at first": trial(
        load_test(service(), LOAD), RunService=[NO_ROOM, NO_ROOM, PLACED]
    ),
    "a service without room for ever": trial(
        load_test(service(), LOAD), RunService=NO_ROOM, CollectRates=LOST
    ),
    "the second service has no room": trial(
        load_test(service("database"), service("web", 2), LOAD),
        RunService=[PLACED, NO_ROOM],
        CollectRates=LOST,
    ),
    "a service that ECS refuses": trial(
        load_test(service(), LOAD),
        RunService=Failed("ECS.ClientException", "no such definition"),
        CollectRates=LOST,
    ),
    "a service that ECS refuses at first": trial(
        load_test(service(), LOAD), RunService=[Failed("ECS.ServerException"), PLACED]
    ),
    "a service that stops late": trial(
        load_test(service(), LOAD),
        StopServices=[{"over": False, "wait_seconds": 2, "tasks": []}, STOPPED],
    ),
    "a service that cannot be stopped": trial(
        load_test(service(), LOAD), StopServices=Failed("KeyError", "no cluster")
    ),
    "a task fails beside a service": trial(
        load_test(service(), LOAD, step("check")),
        RunTask=Failed("States.TaskFailed", "x"),
        CollectRates=LOST,
    ),
    "a failure that cannot be classified beside a service": trial(
        load_test(service(), LOAD),
        RunTask=Failed("States.TaskFailed"),
        ClassifyStop=Failed("Lambda.Unknown"),
        CollectRates=LOST,
    ),
    "a function": trial(load_test(CALL, LOAD), warm={"x": 1}),
    "a function that answers null": trial(load_test(CALL, LOAD), warm=None),
    "a function that dies": trial(
        load_test(CALL, LOAD), warm=Failed("Sandbox.Timedout", "t" * 2000)
    ),
    "a function that dies without a cause": trial(load_test(CALL), warm=Failed("KeyError")),
    "a function that times out": trial(load_test(CALL), warm=Silent()),
    "a function that is throttled": trial(load_test(CALL), warm=[BUSY, BUSY, {}]),
    "a function whose cause has any letters": trial(
        load_test(CALL), warm=Failed("X", "\u221e\U0001f600\"'\\\n\t" * 80)
    ),
    "a pause of one rule": trial(load_test({"name": "p", "rules": ["nightly"]}, LOAD)),
    "a pause of two rules": trial(load_test({"name": "p", "rules": ["nightly", "hourly"]}, LOAD)),
    "a pause that is refused": trial(
        load_test({"name": "p", "rules": ["nightly"]}, LOAD),
        PauseRules=Failed("Refused", "pause: no rule"),
        CollectRates=LOST,
    ),
    "a search that finds nothing": trial(
        load_test(SEARCH, LOAD), FindTasks={"tasks": [], "stopped_by": "step compact: none"}
    ),
    "a search that finds a task": trial(
        load_test(SEARCH, LOAD), FindTasks={"tasks": [FOUND], "stopped_by": None}
    ),
    "a search that finds a failed task": trial(
        load_test(SEARCH, LOAD),
        FindTasks={"tasks": [FOUND, {**FOUND, "status": "failed"}], "stopped_by": None},
    ),
    "a search that is denied": trial(load_test(SEARCH), FindTasks=DENIED, CollectRates=LOST),
    "a search whose answer lacks a member": trial(
        load_test(SEARCH), FindTasks={"tasks": []}, CollectRates=LOST
    ),
    "searches that fill an argument": trial(
        load_test(SEARCH, {**SEARCH, "name": "more"}),
        FindTasks={
            "tasks": [{"index": i, "status": "ok", "p": "z" * 1300} for i in range(110)],
            "stopped_by": None,
        },
    ),
    "a wait": trial(
        load_test(LOAD, WAIT, step("compact", first=1, groups=[group(1, 1)])),
        CheckCondition=[LATER, {**LATER, "holds": 2}, OVER],
    ),
    "a wait that ends without a row": trial(
        load_test(WAIT, LOAD), CheckCondition={**OVER, "stopped_by": "no row"}, CollectRates=LOST
    ),
    "a wait whose query fails": trial(
        load_test(WAIT, LOAD),
        CheckCondition=Failed("MalformedQueryException", "syntax"),
        CollectRates=LOST,
    ),
    "a wait whose query is throttled": trial(
        load_test(WAIT), CheckCondition=[Failed("QueryFailed", "Timeout"), OVER]
    ),
    "a result above 256 KiB": trial(
        load_test(LOAD), CollectRates={**COLLECTED, "x": "y" * 300_000}
    ),
    "a result that lacks a member": trial(
        load_test(LOAD), CollectRates={"complete": True, "status": "ok"}
    ),
    "rules that cannot be enabled again": trial(load_test(LOAD), CleanUpTrial=Failed("X")),
    "a record that fails": trial(load_test(LOAD), RecordTrial=Failed("X", "y")),
    "a record that is throttled": trial(
        load_test(LOAD), RecordTrial=[BUSY, {"trial": 1, "status": "ok"}]
    ),
    "an abort while logs are read": trial(load_test(LOAD), CollectRates=[LATE, Abort()]),
    "an input without its trial": Scenario("trial", {"run_id": "r"}, {"PrepareTrial": prepared()}),
}


# A run.

PLANNED = {"run_id": "r", "budget_usd": None, "holder": None, "started_by": None}
NONE_LEFT = {"rounds": [], "done": 1, "spent": None, "failures": {}, "cut_short": None}
REQUEST = {"suite": "rocksdb", "versions": ["9.0.0", "9.8.4"]}
HOLDER = {"executionArn": "arn:holder", "status": "GONE", "error": None, "cause": None}
DONE = {"run_id": "r", "status": "complete", "reason": None}
FULL = {"run_id": None, "status": "rejected", "reason": "input: it is too large"}


def batch(*trials: int) -> dict[str, Any]:
    """Return a choice of rounds of two versions, by their first trials."""
    rounds = [
        {"trial": n, "trials": [n, n + 1], "name": f"r-{n}", "wait_seconds": n // 3} for n in trials
    ]
    return {**NONE_LEFT, "rounds": rounds, "done": 0}


def lost_round(trial: int, error: Failed | Silent) -> Callable[[Any], Any]:
    """Return the answer to a start of a round: the round of a trial is lost."""
    return lambda arguments: (
        error if arguments["Input"]["trial"] == trial else {"Status": "SUCCEEDED"}
    )


def workflow(given: Any = REQUEST, **answers: Any) -> Scenario:
    usual = {
        "PlanRun": PLANNED, "ChooseTrial": [batch(1), NONE_LEFT],
        "RunTrial": {"Status": "SUCCEEDED"}, "RecordRates": {}, "PublishReport": {},
        "RecordOutcome": DONE, "EndRun": {"outcome": None},
    }  # fmt: skip
    return Scenario("workflow", given, {**usual, **answers})


WORKFLOWS = {
    "a run": workflow(),
    "a run of a batch": workflow(ChooseTrial=[batch(*range(1, 25, 2)), NONE_LEFT]),
    "a run of two batches": workflow(ChooseTrial=[batch(1, 3), batch(5, 7), NONE_LEFT]),
    "a trial that has no other": workflow(
        ChooseTrial=[
            {**batch(1), "rounds": [{"trial": 1, "trials": [1], "name": "r-1", "wait_seconds": 0}]},
            NONE_LEFT,
        ]
    ),
    "a request that is refused": workflow(
        PlanRun=Failed("Refused", "suite: none"), RecordOutcome=FULL
    ),
    "a plan that times out": workflow(PlanRun=Silent(), RecordOutcome={**FULL, "status": "failed"}),
    "a plan that is throttled": workflow(PlanRun=[BUSY, PLANNED]),
    "a plan without a budget": workflow(
        PlanRun={"run_id": "r"}, RecordOutcome={**FULL, "status": "failed"}
    ),
    "a run that was started before": workflow(PlanRun={**PLANNED, "started_by": "arn:first"}),
    "a dead holder": workflow(PlanRun=[{**PLANNED, "holder": HOLDER}, PLANNED]),
    "a dead holder that cannot be ended": workflow(
        PlanRun={**PLANNED, "holder": HOLDER},
        EndRun=Failed("X", "y"),
        RecordOutcome={**FULL, "status": "failed"},
    ),
    "a lost round": workflow(
        ChooseTrial=[batch(1, 3, 5), NONE_LEFT],
        RunTrial=lost_round(3, Failed("States.TaskFailed", "died")),
    ),
    "a round that times out": workflow(
        ChooseTrial=[batch(1, 3), NONE_LEFT], RunTrial=lost_round(3, Silent())
    ),
    "a batch that is lost for the longest reasons": workflow(
        ChooseTrial=[batch(*range(1, 25, 2)), NONE_LEFT],
        RunTrial=Failed("States.TaskFailed", LONGEST_CAUSE),
    ),
    "a lost round, and another after it": workflow(
        ChooseTrial=[batch(1), batch(3), NONE_LEFT],
        RunTrial=[Failed("States.TaskFailed", "died"), {"Status": "SUCCEEDED"}],
    ),
    "too many executions at first": workflow(
        RunTrial=[Failed("StepFunctions.ExecutionLimitExceeded"), {"Status": "SUCCEEDED"}]
    ),
    "too many executions for ever": workflow(
        RunTrial=Failed("StepFunctions.ExecutionLimitExceeded")
    ),
    "a run over its budget": workflow(
        PlanRun={**PLANNED, "budget_usd": 3},
        ChooseTrial=[
            {**batch(1), "spent": {"trials": [1], "usd": 2}},
            {**NONE_LEFT, "cut_short": "too dear"},
        ],
        RecordOutcome={**DONE, "status": "incomplete", "reason": "too dear"},
    ),
    "a choice that fails": workflow(
        ChooseTrial=Failed("KeyError", "x"),
        RecordOutcome={**DONE, "status": "failed", "reason": "x"},
    ),
    "a choice that lacks a member": workflow(
        ChooseTrial={"rounds": []}, RecordOutcome={**DONE, "status": "failed", "reason": "x"}
    ),
    "rates that cannot be recorded": workflow(
        RecordRates=Failed("X"), RecordOutcome={**DONE, "status": "failed", "reason": "X"}
    ),
    "a report that cannot be written": workflow(
        PublishReport=Failed("X"), RecordOutcome={**DONE, "status": "failed", "reason": "X"}
    ),
    "nobody is told at first": workflow(RecordOutcome=[Failed("NotTold"), Failed("NotTold"), DONE]),
    "nobody is told for ever": workflow(RecordOutcome=Failed("NotTold", "topic")),
    "an outcome that fails": workflow(RecordOutcome=Failed("X", "y")),
    "an incomplete run": workflow(
        RecordOutcome={**DONE, "status": "incomplete", "reason": "trial 1: it failed"}
    ),
    "an incomplete run without a reason": workflow(
        RecordOutcome={**DONE, "status": "incomplete", "reason": None}
    ),
    "an abort while rates are recorded": workflow(RecordRates=Abort()),
    "an input of a list": workflow([1, 2]),
    "an input of nothing": workflow(None),
    "an input of a text": workflow("x"),
    "an input of a number": workflow(5),
    "an input of 60,000 characters": workflow({"x": "a" * (60_000 - 8)}),
    "an input of 60,001 characters": workflow({"x": "a" * (60_000 - 7)}, RecordOutcome=FULL),
    "an input of 59,000 long characters": workflow({"x": "\u221e" * 59_000}),
    "an input that nearly fills a payload": workflow({"x": "a" * 261_000}, RecordOutcome=FULL),
}


# A refresh of the reports.

IMPORTED = {"Ingestion": {"IngestionStatus": "COMPLETED"}}
RUNNING = {"Ingestion": {"IngestionStatus": "RUNNING"}}
CANCELLED = {"Ingestion": {"IngestionStatus": "CANCELLED"}}
REPLACED = {
    "Ingestion": {"IngestionStatus": "FAILED", "ErrorInfo": {"Type": "INGESTION_SUPERSEDED"}}
}


def for_rates(answer: Any, other: Any) -> Callable[[Any], Any]:
    return lambda arguments: answer if arguments["DataSetId"] == "rates" else other


def refresh(**answers: Any) -> Scenario:
    usual = {"CreateIngestion": {"IngestionStatus": "INITIALIZED"}, "DescribeIngestion": IMPORTED}
    return Scenario("refresh", {"detail": {}}, {**usual, **answers})


REFRESHES = {
    "a refresh": refresh(),
    "a refresh that another replaces": refresh(DescribeIngestion=REPLACED),
    "a refresh of one data set fails": refresh(DescribeIngestion=for_rates(CANCELLED, IMPORTED)),
    "a refresh of both data sets fails": refresh(DescribeIngestion=CANCELLED),
    "a refresh above the limit for ever": refresh(
        CreateIngestion=for_rates(Failed("QuickSight.LimitExceededException"), {})
    ),
    "a refresh that is refused": refresh(
        CreateIngestion=for_rates(Failed("QuickSight.ResourceNotFoundException"), {})
    ),
    "a refresh without end": refresh(DescribeIngestion=for_rates(RUNNING, IMPORTED)),
}

SCENARIOS: dict[str, Scenario] = {**TRIALS, **WORKFLOWS, **REFRESHES}
