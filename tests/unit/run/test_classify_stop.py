import json

import pytest

from tests.unit.documented import documented
from tidemark.run.classify_stop import classify, failed

LIMIT = 60


def classified(index, error, cause, limit_seconds=LIMIT, container="rocksdb"):
    return classify(index, container, error, cause, limit_seconds)


def stopped(exit_code, *, stop_code="EssentialContainerExited", reason="", container_reason=""):
    container = {"Name": "rocksdb", "ExitCode": exit_code, "Reason": container_reason}
    if exit_code is None:
        del container["ExitCode"]
    return json.dumps(
        {
            "TaskArn": "arn:aws:ecs:eu-west-2:1:task/cluster/0123",
            "StopCode": stop_code,
            "StoppedReason": reason,
            "Containers": [container],
            "StartedAt": 1593617144436,
            "StoppedAt": 1593617145936,
        }
    )


@pytest.mark.parametrize(
    ("cause", "category", "words"),
    [
        (stopped(1), "exit code", "task 4: its container ended with exit code 1"),
        (
            stopped(1, container_reason="the cloud killed 1 process that the task left: 'sleep 9'"),
            "exit code",
            "task 4: its container ended with exit code 1: the cloud killed 1 process that the "
            "task left: 'sleep 9'",
        ),
        (
            stopped(139),
            "exit code",
            "task 4: its container ended with exit code 139 (SIGSEGV: a segmentation fault)",
        ),
        (
            stopped(137),
            "killed",
            "task 4: it was killed (exit code 137), most often for lack of memory; choose "
            "smaller parameters or raise task.memory of the suite",
        ),
        (
            stopped(1, container_reason="OutOfMemoryError: Container killed due to memory usage"),
            "out of memory",
            "task 4: its memory ran out: OutOfMemoryError: Container killed due to memory usage; "
            "choose smaller parameters or raise its memory in the suite",
        ),
        (
            stopped(
                None,
                stop_code="TaskFailedToStart",
                reason="CannotPullContainerError: no such image",
            ),
            "image",
            "task 4: its image could not be pulled: CannotPullContainerError: no such image; check "
            "the setting images or the image of the suite's subject, and that the task's execution "
            "role and network reach it",
        ),
        (
            stopped(
                None,
                stop_code="TaskFailedToStart",
                reason="Task failed to start",
                container_reason="ResourceInitializationError: failed to validate logger args: The "
                "task cannot find the Amazon CloudWatch log group defined in the task definition",
            ),
            "log group",
            "task 4: it could not start because its log group does not exist: "
            "ResourceInitializationError: failed to validate logger args: The task cannot find the "
            "Amazon CloudWatch log group defined in the task definition; deploy the stack again",
        ),
        (
            stopped(None, stop_code="TaskFailedToStart", reason="ResourceInitializationError"),
            "not started",
            "task 4: it never started: ResourceInitializationError; the ECS developer guide, "
            '"Amazon ECS stopped tasks error messages", explains it',
        ),
        (
            stopped(143, stop_code="UserInitiated", reason="stopped by hand"),
            "stopped",
            "task 4: it was stopped: stopped by hand",
        ),
        (
            stopped(143, stop_code="InfrastructureHealth", reason="host is failing"),
            "host",
            "task 4: the host under it failed or was taken away: host is failing; resume the run "
            "or start another",
        ),
        (
            stopped(143, stop_code="SpotInterruption", reason="Spot was taken"),
            "spot",
            "task 4: it ran on Fargate Spot and was interrupted: Spot was taken; launch it without "
            "Spot, which is not for measurements",
        ),
    ],
)
def test_a_stopped_task_is_classified_from_its_description(cause, category, words):
    task = classified(4, "States.TaskFailed", cause)

    assert (task.status, task.stop_category, task.reason) == ("failed", category, words)
    assert task.task_id == "0123"
    assert task.seconds == 1.5


def test_the_result_of_a_stopped_task_has_its_image_its_zone_and_the_start_of_its_pull():
    described = json.loads(stopped(1)) | {
        "AvailabilityZone": "eu-west-2a",
        "PullStartedAt": 1593617140936,
    }
    described["Containers"][0]["ImageDigest"] = "sha256:ab12"

    task = classified(0, "States.TaskFailed", json.dumps(described))

    assert (task.image_digest, task.zone) == ("sha256:ab12", "eu-west-2a")
    assert (task.stopped_at - task.pull_started_at).total_seconds() == 5.0


def in_pascal_case(value):
    """Return a description of ECS as Step Functions gives it."""
    if isinstance(value, list):
        return [in_pascal_case(item) for item in value]
    if isinstance(value, dict):
        return {name[0].upper() + name[1:]: in_pascal_case(item) for name, item in value.items()}
    return value


def test_the_documented_task_is_read_with_its_image_zone_and_times():
    described = in_pascal_case(documented("task"))
    described["Containers"][0]["ExitCode"] = 1

    task = classified(0, "States.TaskFailed", json.dumps(described), container="FargateApp")

    assert (task.task_id, task.exit_code, task.stop_category) == (
        "c13b4cb40f1f4fe4a2971f76ae5a47ad", 1, "exit code",
    )  # fmt: skip
    assert task.zone == "us-west-2c"
    assert task.image_digest.startswith("sha256:74b2c688c700")
    assert (task.started_at - task.pull_started_at).total_seconds() == 6.0


def test_a_task_without_exit_code_is_a_failure():
    assert classified(0, "States.TaskFailed", stopped(None)).status == "failed"


def test_a_time_out_without_a_description_is_a_time_out():
    task = classified(0, "States.Timeout", "")

    assert task.stop_category == "timeout"
    assert task.reason == (
        "task 0: it ran longer than timeout_seconds 60, and was stopped; choose smaller parameters "
        "or raise timeout_seconds of the test"
    )


def test_a_task_that_its_deadline_ended_ran_longer_than_its_limit_by_name():
    task = classified(4, "States.TaskFailed", stopped(124), 1)

    assert (task.stop_category, task.exit_code, task.seconds) == ("timeout", 124, 1.5)
    assert task.reason == (
        "task 4: it ran 1.5 s, longer than timeout_seconds 1, and was stopped; choose smaller "
        "parameters or raise timeout_seconds of the test"
    )


@pytest.mark.parametrize(("code", "limit"), [(124, 2), (1, 1)])
def test_a_task_that_ended_by_itself_before_its_limit_is_no_time_out(code, limit):
    assert classified(4, "States.TaskFailed", stopped(code), limit).stop_category == "exit code"


@pytest.mark.parametrize("error", ["ECS.AmazonECSException", "AmazonECS.Unknown"])
def test_a_task_that_ecs_refuses_lacks_capacity(error):
    task = classified(0, error, "Capacity is unavailable at this time.")

    assert task.stop_category == "capacity"
    assert f"{error}: Capacity is unavailable at this time.; try later" in task.reason


@pytest.mark.parametrize("cause", ["no such subnet", "[1]", '"text"', "{broken", "{0} {detail}"])
def test_a_cause_that_describes_no_task_is_quoted(cause):
    task = classified(0, "ECS.InvalidParameterException", cause)

    assert task.stop_category == "not started"
    assert f"task 0: it never started: ECS.InvalidParameterException: {cause}; " in task.reason


def test_a_cut_description_is_of_an_unknown_category():
    task = classified(0, "States.TaskFailed", stopped(1)[:40])

    assert task.stop_category == "unknown"


def test_every_reason_is_short_and_on_one_line():
    task = classified(0, "ECS.InvalidParameterException", "∞ \n" * 20_000)

    assert len(task.reason.encode()) < 600
    assert "\n" not in task.reason


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_of_several_containers_the_one_that_failed_by_itself_is_named(order):
    # ECS stops the others: the database ends well, and the program by SIGTERM.
    ends = {"program": 143, "database": 0, "app": 2}
    containers = [{"Name": name, "ExitCode": code} for name, code in ends.items()]
    task = {
        "TaskArn": "arn:aws:ecs:eu-west-2:1:task/cluster/0123",
        "StopCode": "EssentialContainerExited",
        "Containers": [containers[place] for place in order],
    }

    result = failed(3, task, "service server", ["program", "database", "app"])

    assert result.reason == "service server, container app: its container ended with exit code 2"
    assert (result.container, result.exit_code) == ("app", 2)


def test_a_task_with_one_container_names_none():
    assert classified(4, "States.TaskFailed", stopped(1)).container == ""


AGENT = {
    "Name": "aws-guardduty-agent-mfjGLB",
    "ImageDigest": "sha256:ffff",
    "Reason": "CannotPullContainerError: pull image manifest has been retried 1 time(s)",
}


@pytest.mark.parametrize("first", [True, False])
def test_a_container_that_the_account_adds_decides_nothing_about_a_task(first):
    described = json.loads(stopped(0))
    own = described["Containers"][0] | {"ImageDigest": "sha256:ab12"}
    described["Containers"] = [AGENT, own] if first else [own, AGENT]

    task = classified(4, "States.TaskFailed", json.dumps(described))

    assert (task.status, task.stop_category, task.reason, task.container) == ("ok", None, "", "")
    assert (task.exit_code, task.image_digest, task.seconds) == (0, "sha256:ab12", 1.5)


def test_a_task_that_failed_beside_an_agent_has_its_own_exit_code():
    described = json.loads(stopped(3))
    described["Containers"].insert(0, AGENT | {"ExitCode": 0})

    task = classified(4, "States.TaskFailed", json.dumps(described))

    assert (task.status, task.exit_code, task.stop_category) == ("failed", 3, "exit code")


def test_a_task_that_was_stopped_is_no_success_though_it_ended_with_0():
    task = classified(4, "States.TaskFailed", stopped(0, stop_code="UserInitiated"))

    assert (task.status, task.stop_category) == ("failed", "stopped")
