import json

import pytest

from lambdas.stops import classify


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
            stopped(137),
            "out of memory",
            "task 4: it was killed (exit code 137), most often for lack of memory",
        ),
        (
            stopped(
                None,
                stop_code="TaskFailedToStart",
                reason="CannotPullContainerError: no such image",
            ),
            "image",
            "task 4: image: CannotPullContainerError: no such image",
        ),
        (
            stopped(None, stop_code="TaskFailedToStart", reason="ResourceInitializationError"),
            "not started",
            "task 4: not started: ResourceInitializationError",
        ),
        (
            stopped(143, stop_code="UserInitiated", reason="stopped by hand"),
            "stopped",
            "task 4: stopped: stopped by hand",
        ),
        (
            stopped(143, stop_code="InfrastructureHealth", reason="host is failing"),
            "host",
            "task 4: host: host is failing",
        ),
    ],
)
def test_a_stopped_task_is_classified_from_its_description(cause, category, words):
    task = classify(4, "States.TaskFailed", cause)

    assert (task.status, task.stop_category, task.reason) == ("failed", category, words)
    assert task.task_id == "0123"
    assert task.seconds == 1.5


def test_a_stopped_task_keeps_its_image_its_zone_and_the_start_of_its_pull():
    described = json.loads(stopped(1)) | {
        "AvailabilityZone": "eu-west-2a",
        "PullStartedAt": 1593617140936,
    }
    described["Containers"][0]["ImageDigest"] = "sha256:ab12"

    task = classify(0, "States.TaskFailed", json.dumps(described))

    assert (task.image_digest, task.zone) == ("sha256:ab12", "eu-west-2a")
    assert (task.stopped_at - task.pull_started_at).total_seconds() == 5.0


def test_a_task_without_exit_code_is_a_failure():
    assert classify(0, "States.TaskFailed", stopped(None)).status == "failed"


def test_a_time_out_has_no_description_and_is_named_as_one():
    task = classify(0, "States.Timeout", "")

    assert task.stop_category == "timeout"
    assert task.reason == "task 0: States.Timeout: it ran past the test's time limit"


@pytest.mark.parametrize("cause", ["no capacity", "[1]", '"text"', "{broken"])
def test_a_cause_that_describes_no_task_is_quoted(cause):
    task = classify(0, "ECS.AmazonECSException", cause)

    assert task.stop_category == "not started"
    assert task.reason == f"task 0: ECS.AmazonECSException: {cause}"
