"""The services of a test: prepared, awaited and stopped by the handlers, over fakes."""

from datetime import UTC, datetime, timedelta

import pytest

from lambdas import check_condition, collect_rates, prepare_trial, stop_services
from tests.plans import RUN
from tidemark.model.services import Ready, Service, questions_within
from tidemark.model.steps import RunTasks, Step
from tidemark.store import keys

TRIAL = {"run_id": RUN, "trial": 1}
ARN, STREAM = "arn:task/c/s1", "rocksdb/server/s1"
RUNNING = {"name": "server", "index": 2, "containers": ["server"], "task_arn": ARN}
BEGUN = datetime(2026, 11, 20, 12, 46, tzinfo=UTC)
SERVICE = {
    "task": {
        "workload": "rocksdb", "entry_point": ["server"],
        "cpu": 512, "memory": 1024, "storage": 21,
    },
    "ready": {"http": ":8080/health"},
    "within_seconds": 60,
}  # fmt: skip
STEP = Step(name="load", run_tasks=RunTasks(timeout_seconds=100))
LINES = [
    {"@logStream": STREAM, "@message": "the disk is full"},
    {"@logStream": STREAM, "@message": "open 8080"},
    {"@logStream": "rocksdb/server/other", "@message": "another trial"},
]


@pytest.fixture
def test_with_service(world, plan):
    """Store the plan with a service of its first test."""
    services = {"server": Service.model_validate(SERVICE)}
    world.store(plan, {"services": ("server",), "steps": (STEP,)}, {"services": services})


def described(**fields):
    container = {"Name": "server", "NetworkInterfaces": [{"PrivateIpv4Address": "10.0.0.7"}]}
    container |= fields.pop("container", {})
    return {
        "TaskArn": ARN, "LastStatus": "RUNNING", "DesiredStatus": "RUNNING",
        "Containers": [container], **fields,
    }  # fmt: skip


def ended(exit_code, reason, code="EssentialContainerExited"):
    return described(
        LastStatus="STOPPED", DesiredStatus="STOPPED", StopCode=code, StoppedReason=reason,
        StartedAt=BEGUN, StoppedAt=BEGUN + timedelta(seconds=9), container={"ExitCode": exit_code},
    )  # fmt: skip


def at(seconds):
    return (BEGUN + timedelta(seconds=seconds)).isoformat()


def ask(world, task, *, after=0, ready=()):
    """Ask whether the service is ready some seconds after its start."""
    world.tasks.described[ARN] = task
    world.logs.answers = {
        "Ready": [{"@logStream": stream, "lines": "1"} for stream in ready],
        "The last lines": LINES,
    }
    return world.call(
        check_condition,
        {
            **TRIAL, "test": "ingest", "step": "server", "tasks": [], "services": [RUNNING],
            "started_at": at(0), "waiting_since": at(0), "now": at(after), "artefacts": "",
            "awaited": "ready", "bytes_scanned": 0,
        },
    )  # fmt: skip


def stop(world, task, *, after=0):
    world.tasks.described[ARN] = task
    event = {"services": [RUNNING], "stopping_since": at(0), "now": at(after)}
    return world.call(stop_services, event)


@pytest.mark.usefixtures("test_with_service")
def test_prepare_trial_starts_a_service_before_the_steps_of_its_test(world):
    prepared = world.call(prepare_trial, TRIAL)

    ingest, compaction = prepared["tests"]
    assert prepared["system"]["security_group"] == "sg-1"
    assert ingest["steps"][0] == {
        "name": "server",
        "awaited": "ready",
        "index": 2,
        "containers": ["server"],
        "size": {},
        "task_definition": "arn:server:3",
        "command": ["server"],
        "environment": [
            {"Name": "TIDEMARK_READY", "Value": ":8080/health"},
            # Its start, the step of its test, and 300 s for the start of the step's tasks.
            {"Name": "TIDEMARK_DEADLINE_SECONDS", "Value": "460"},
        ],
    }
    assert [step["command"] for step in ingest["steps"][1:]] == [["load"]]
    assert [step["command"] for step in compaction["steps"]] == [["compaction"]]


def test_a_service_may_have_a_line_as_its_sign_beside_its_port():
    ready = Ready(port=5432, log="ready to accept connections")

    assert ready.variables == {
        "TIDEMARK_READY": ":5432", "TIDEMARK_READY_LOG": "ready to accept connections",
    }  # fmt: skip
    assert ready.text == ":5432, after a line with 'ready to accept connections',"


@pytest.mark.usefixtures("test_with_service")
def test_a_service_that_logged_that_it_is_ready_gives_its_address_to_the_tasks(world):
    answer = ask(world, described(), ready=[STREAM])

    assert answer == {
        "over": True, "wait_seconds": 0, "stopped_by": None, "bytes_scanned": 1000, "holds": 0,
        "environment": [{"Name": "TIDEMARK_SERVER", "Value": "10.0.0.7"}],
    }  # fmt: skip
    # A line of another trial's service does not count.
    assert not ask(world, described(), ready=["rocksdb/server/other"])["over"]


@pytest.mark.usefixtures("test_with_service")
def test_a_service_is_asked_for_often_at_first_and_no_longer_than_its_time(world):
    waited, pauses = 0, []
    while not (answer := ask(world, described(), after=waited))["over"]:
        pauses.append(answer["wait_seconds"])
        waited += pauses[-1]

    assert (pauses[0], max(pauses), waited) == (1, 10, 60)
    assert len(pauses) < questions_within(60)
    assert answer["stopped_by"] == (
        "service server: :8080/health was not ready within 60 s; "
        "its last lines: open 8080 / the disk is full"
    )


@pytest.mark.usefixtures("test_with_service")
def test_no_step_follows_a_service_that_ended_before_it_was_ready(world):
    answer = ask(world, ended(3, "Essential container in task exited"))

    assert (answer["over"], answer["environment"]) == (True, [])
    assert answer["stopped_by"] == "service server: it ended before it was ready"


def test_a_running_service_is_stopped_once_and_awaited(world):
    assert stop(world, described()) == {"over": False, "wait_seconds": 1, "tasks": []}
    assert world.tasks.stopped == {ARN: "the test of this service has ended"}
    world.tasks.stopped.clear()

    assert stop(world, described(DesiredStatus="STOPPED"))["over"] is False
    assert world.tasks.stopped == {}


@pytest.mark.parametrize("exit_code", [0, 143, 137])
def test_a_service_that_was_stopped_ended_well_whatever_its_exit_code(world, exit_code):
    reason = world_reason(world)

    answer = stop(world, ended(exit_code, reason, "UserInitiated"))

    (task,) = answer["tasks"]
    assert (answer["over"], task["status"], task["reason"]) == (True, "ok", "")
    assert (task["index"], task["service"], task["exit_code"]) == (2, "server", exit_code)


def test_a_service_that_lost_a_process_for_lack_of_memory_has_failed(world):
    stopped = ended(143, world_reason(world), "UserInitiated")
    stopped["Containers"][0]["Reason"] = "OutOfMemoryError: Container killed due to memory usage"

    (task,) = stop(world, stopped)["tasks"]

    assert (task["status"], task["stop_category"]) == ("failed", "out of memory")
    assert task["reason"].startswith("service server: its memory ran out: OutOfMemoryError: ")


def world_reason(world):
    stop(world, described())
    return world.tasks.stopped[ARN]


@pytest.mark.parametrize(
    ("task", "reason"),
    [
        (ended(3, "Essential container in task exited"), "its container ended with exit code 3"),
        (ended(0, "Essential container in task exited"), "its container ended with exit code 0"),
        (
            ended(143, "run r has ended", "UserInitiated"),
            "it was stopped: run r has ended",
        ),
        (
            ended(137, "Essential container in task exited"),
            "it was killed (exit code 137), most often for lack of memory; choose smaller "
            "parameters or raise task.memory of the suite",
        ),
    ],
)
def test_a_service_that_ended_before_its_test_has_failed(world, task, reason):
    (result,) = stop(world, task)["tasks"]

    assert (result["status"], result["reason"]) == ("failed", f"service server: {reason}")


def test_a_service_that_does_not_stop_fails_its_test_after_five_minutes(world):
    answer = stop(world, described(DesiredStatus="STOPPED"), after=300)

    (result,) = answer["tasks"]
    assert (answer["over"], result["status"]) == (True, "failed")
    assert result["reason"] == "service server: it did not stop within 300 s"


def test_a_service_that_ecs_has_forgotten_fails_its_test(world):
    event = {"services": [RUNNING], "stopping_since": at(0), "now": at(0)}

    assert world.call(stop_services, event)["over"] is False
    (result,) = world.call(stop_services, {**event, "now": at(300)})["tasks"]
    assert (result["status"], result["reason"]) == (
        "failed",
        "service server: it ended before its test; ECS forgets a task an hour after its end",
    )


def test_a_test_without_services_has_none_to_stop(world):
    event = {"services": [], "stopping_since": at(0), "now": at(0)}

    assert world.call(stop_services, event) == {"over": True, "wait_seconds": 0, "tasks": []}


LOST = {
    "index": 0, "status": "failed", "task_arn": "arn:task/c/t0", "exit_code": 1,
    "reason": "task 0: its container ended with exit code 1",
}  # fmt: skip
DONE = {"index": 0, "status": "ok", "task_arn": "arn:task/c/t0", "exit_code": 0}


def collect(world, *tasks, **more):
    """Collect a test with some tasks; return its stored result."""
    world.logs.answers = {
        "The last lines": LINES,
        "ERROR": [{"@logStream": "rocksdb/rocksdb/t0", "failure": "connection refused"}],
        "Environment": [],
        "# ": [],
    }
    event = {
        **TRIAL, "test": "ingest", "tasks": tasks, "started_at": at(0), "ended_at": at(9),
        "now": at(999), "attempt": 9, "lines": 0, "artefacts": "", "bytes_scanned": 0, **more,
    }  # fmt: skip
    assert world.call(collect_rates, event)["complete"]
    return world.json(keys.measured(RUN, 1, "ingest"))


@pytest.mark.usefixtures("test_with_service")
@pytest.mark.parametrize(
    ("stopped", "code"), [(False, "EssentialContainerExited"), (True, "UserInitiated")]
)
def test_a_dead_service_fails_its_test_before_the_tasks_that_missed_it(world, stopped, code):
    why = world_reason(world) if stopped else "Essential container in task exited"
    (server,) = stop(world, ended(3, why, code))["tasks"]

    result = collect(world, LOST, server)

    assert result["status"] == "failed"
    assert result["reason"] == (
        "service server: its container ended with exit code 3; "
        "its last lines: open 8080 / the disk is full; "
        "step load: task 0: its container ended with exit code 1: connection refused"
    )
    assert {rate["value"] for rate in result["rates"]} <= {None}
    assert [task["log_stream"] for task in result["tasks"]] == ["rocksdb/rocksdb/t0", STREAM]


@pytest.mark.usefixtures("test_with_service")
def test_a_service_that_died_during_the_search_of_a_load_is_named_though_it_was_stopped(world):
    (server,) = stop(world, ended(3, world_reason(world), "UserInitiated"))["tasks"]

    reason = collect(world, DONE, server, stopped_by="step search: none of 8 users")["reason"]

    assert "service server: its container ended with exit code 3; its last lines: open" in reason


@pytest.mark.usefixtures("test_with_service")
def test_a_service_that_stops_with_an_exit_code_of_its_own_fails_no_test_that_is_ok(world):
    (server,) = stop(world, ended(3, world_reason(world), "UserInitiated"))["tasks"]

    tasks = collect(world, DONE, server)["tasks"]

    assert [(task["status"], task["reason"]) for task in tasks] == [("ok", ""), ("ok", "")]
