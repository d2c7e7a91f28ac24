"""The reason why an ECS task stopped: a category and a sentence for a caught error.

Sources: Amazon ECS API reference, Task (stopCode, stoppedReason) and Container (exitCode,
reason); a task that never started has no exit code, which is a failure, not a zero.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tidemark.model.results import TaskResult
from tidemark.model.sentences import shortened

# The harness ends a task so at its deadline (workloads/harness/harness/deadline.py).
_PASSED_DEADLINE = 124
_KILLED = 137  # 128 + SIGKILL, which the kernel sends when memory has run out
# The usual ends of an embedded engine, 128 + the signal.
_CRASHES = {
    132: " (SIGILL: this processor lacks an instruction of it)",
    134: " (SIGABRT: it ended itself, after a failed assertion, say)",
    135: " (SIGBUS: a bus error)",
    136: " (SIGFPE: an arithmetic error)",
    139: " (SIGSEGV: a segmentation fault)",
}
# 128 + SIGTERM: ECS stops a container because another container has ended.
_STOPPED = 143
ENDED_BY_ITSELF = "EssentialContainerExited"
_LONGEST_DETAIL = 250  # [B] of UTF-8 of a text from ECS or Step Functions
_IMAGE_ERRORS = ("CannotPullContainer", "CannotPullImageManifest", "ImageNotFound")
# The errors of RunTask for lack of capacity or quota (docs/retries.md has the sources).
_CAPACITY_ERRORS = {"ECS.AmazonECSException", "AmazonECS.Unknown"}

# By category: the cause and the remedy.
_SENTENCES = {
    # The log of the task has the details.
    "exit code": "its container ended with exit code {exit_code}{detail}",
    "out of memory": (
        "its memory ran out: {detail}; choose smaller parameters or raise its memory in the suite"
    ),
    "killed": (
        "it was killed (exit code 137), most often for lack of memory; choose smaller parameters "
        "or raise task.memory of the suite"
    ),
    "timeout": (
        "it ran {detail} and was stopped; choose smaller parameters or raise timeout_seconds of "
        "the test"
    ),
    "stopped": "it was stopped: {detail}",
    "image": (
        "its image could not be pulled: {detail}; check the setting images or the image of the "
        "suite's subject, and that the task's execution role and network reach it"
    ),
    "log group": (
        "it could not start because its log group does not exist: {detail}; deploy the stack again"
    ),
    "host": "the host under it failed or was taken away: {detail}; resume the run or start another",
    "spot": (
        "it ran on Fargate Spot and was interrupted: {detail}; launch it without Spot, which is "
        "not for measurements"
    ),
    "capacity": (
        "ECS refused it at every attempt: {detail}; try later, with fewer tasks, or have the "
        "account's quota raised"
    ),
    "not started": (
        'it never started: {detail}; the ECS developer guide, "Amazon ECS stopped tasks error '
        'messages", explains it'
    ),
    "unknown": "it failed with {detail}; ECS keeps the details for an hour",
}


def classify(index: int, container: str, error: str, cause: str, limit_seconds: int) -> TaskResult:
    """Return the result of task ``index`` whose state failed with an error and a cause.

    The cause of States.TaskFailed is the task's description as JSON, other causes are any text.
    The state fails, too, if another container of the task fails or never starts, such as an agent
    that the account adds: the task is ``ok`` if its own ``container`` ended with exit code 0.
    ``limit_seconds`` is the time limit of the task.
    """
    task = _description(cause)
    if task is None:
        category = _error_category(error)
        detail = f"{error}: {cause}" if cause else error
        if category == "timeout":
            detail = _past(limit_seconds)
        return TaskResult(
            index=index,
            status="failed",
            stop_category=category,
            reason=_sentence(f"task {index}", category, detail),
        )
    result = failed(index, task, f"task {index}", [container])
    if result.exit_code == 0 and task.get("StopCode") == ENDED_BY_ITSELF:
        return replace(result, status="ok", stop_category=None, reason="")
    ended_itself = result.exit_code == _PASSED_DEADLINE and result.stop_category == "exit code"
    if ended_itself and result.seconds >= limit_seconds:
        return timed_out(result, limit_seconds)
    return result


def timed_out(task: TaskResult, limit_seconds: int) -> TaskResult:
    """Return a failed task, whose times are known, with the time limit as its reason."""
    reason = _sentence(f"task {task.index}", "timeout", _past(limit_seconds, task.seconds))
    return replace(task, stop_category="timeout", reason=reason)


def _past(limit_seconds: int, seconds: float | None = None) -> str:
    ran = f"{seconds:,.1f} s, " if seconds is not None else ""
    return f"{ran}longer than timeout_seconds {limit_seconds:,},"


def failed(index: int, task: Mapping[str, Any], name: str, containers: Sequence[str]) -> TaskResult:
    """Return the result of a failed task with a name, as Step Functions describes it.

    ``containers`` are the containers of its definition, the main container first: GuardDuty adds a
    container to each task.
    """
    described = {each.get("Name"): each for each in task.get("Containers", [])}
    own = [described[each] for each in containers if each in described]
    container = _container(own)
    exit_code, reason = container.get("ExitCode"), container.get("Reason", "")
    several = str(container.get("Name", "")) if len(own) > 1 else ""
    place = f"{name}, container {several}" if several else name
    message = f"{task.get('StoppedReason')} {reason}"
    category = _category(task.get("StopCode", ""), exit_code, message)
    detail = reason or task.get("StoppedReason") or task.get("StopCode") or "no reason was given"
    if category == "exit code":
        detail = reason and f": {reason}"
    return TaskResult(
        index=index,
        status="failed",
        task_arn=task.get("TaskArn"),
        exit_code=exit_code,
        stop_category=category,
        reason=_sentence(place, category, detail, exit_code),
        container=several,
        started_at=task.get("StartedAt"),
        stopped_at=task.get("StoppedAt"),
        pull_started_at=task.get("PullStartedAt"),
        image_digest=own[0].get("ImageDigest") if own else None,
        zone=task.get("AvailabilityZone"),
    )


def _sentence(name: str, category: str, detail: str, exit_code: int | None = None) -> str:
    # A Map's result may hold 256 KiB, a cause 32 KiB: 200 full causes would lose the trial.
    short = shortened(detail, _LONGEST_DETAIL)
    code = f"{exit_code}{_CRASHES.get(exit_code or 0, '')}"
    return f"{name}: {_SENTENCES[category].format(detail=short, exit_code=code)}"


def _error_category(error: str) -> str:
    if error == "States.Timeout":
        return "timeout"
    if error in _CAPACITY_ERRORS:
        return "capacity"
    # A description longer than 32 KiB is cut, and no JSON parser reads it.
    return "unknown" if error == "States.TaskFailed" else "not started"


def _description(cause: str) -> dict[str, Any] | None:
    try:
        task = json.loads(cause)
    except (ValueError, RecursionError):
        return None
    return task if isinstance(task, dict) and "TaskArn" in task else None


def _container(containers: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the first container that failed by itself, or else the first that failed.

    ECS stops all containers of a task once one of them has ended.
    """
    failed = [each for each in containers if each.get("ExitCode") != 0]
    own = [each for each in failed if each.get("ExitCode") not in {_STOPPED, None}]
    return next(iter([*own, *failed, *containers]), {})


def _category(stop_code: str, exit_code: int | None, message: str) -> str:
    by_code = {
        "SpotInterruption": "spot",
        "TerminationNotice": "host",
        "InfrastructureHealth": "host",
        "UserInitiated": "stopped",
    }
    if any(error in message for error in _IMAGE_ERRORS):
        return "image"
    # ECS gives this reason to a container that it stops, too, if a process of it was killed before.
    if "OutOfMemory" in message:
        return "out of memory"
    if "log group" in message:
        return "log group"
    if stop_code in by_code:
        return by_code[stop_code]
    if exit_code == _KILLED:
        return "killed"
    return "not started" if exit_code is None else "exit code"
