"""Why an ECS task stopped: from what Step Functions caught to a category and plain words.

Sources: Amazon ECS API reference, Task (stopCode, stoppedReason) and Container (exitCode,
reason); a task that never started has no exit code, which is a failure, not a zero.
"""

from __future__ import annotations

import json
from typing import Any

from lambdas.failure import shortened
from lambdas.results import TaskResult

_KILLED = 137  # 128 + SIGKILL: what the kernel sends when memory has run out
_LONGEST_REASON = 400  # [B] of UTF-8
_IMAGE_ERRORS = ("CannotPullContainer", "CannotPullImageManifest", "ImageNotFound")


def classify(index: int, error: str, cause: str) -> TaskResult:
    """Return the result of task ``index`` that failed with a state's error and cause.

    The cause of States.TaskFailed is the task's description as JSON; of other errors any text.
    """
    task = _described(cause)
    if task is None:
        category = "timeout" if error == "States.Timeout" else "not started"
        detail = "it ran past the test's time limit" if category == "timeout" else cause.strip()
        return TaskResult(
            index=index,
            status="failed",
            stop_category=category,
            reason=_sentence(index, f"{error}: {detail}" if detail else error),
        )
    exit_code, reason = _container(task)
    category = _category(
        task.get("StopCode", ""), exit_code, f"{task.get('StoppedReason')} {reason}"
    )
    words = {
        "exit code": f"its container ended with exit code {exit_code}",
        "out of memory": "it was killed (exit code 137), most often for lack of memory",
    }.get(category, f"{category}: {reason or task.get('StoppedReason') or task.get('StopCode')}")
    return TaskResult(
        index=index,
        status="failed",
        task_arn=task.get("TaskArn"),
        exit_code=exit_code,
        stop_category=category,
        reason=_sentence(index, words),
        started_at=task.get("StartedAt"),
        stopped_at=task.get("StoppedAt"),
    )


def _described(cause: str) -> dict[str, Any] | None:
    try:
        task = json.loads(cause)
    except ValueError:
        return None
    return task if isinstance(task, dict) and "TaskArn" in task else None


def _container(task: dict[str, Any]) -> tuple[int | None, str]:
    """Return the exit code and reason of the first container that did not end well."""
    ended = [
        (container.get("ExitCode"), container.get("Reason", ""))
        for container in task.get("Containers", [])
    ]
    return next((end for end in ended if end[0] != 0), (None, ""))


def _category(stop_code: str, exit_code: int | None, reason: str) -> str:
    if any(error in reason for error in _IMAGE_ERRORS):
        return "image"
    if stop_code == "UserInitiated":
        return "stopped"
    if stop_code in {"SpotInterruption", "TerminationNotice", "InfrastructureHealth"}:
        return "host"
    if exit_code == _KILLED or "OutOfMemory" in reason:
        return "out of memory"
    if exit_code is None:
        return "not started"
    return "exit code"


def _sentence(index: int, words: str) -> str:
    # A Map's result may hold 256 KiB, a cause 32: two hundred of them would lose the trial.
    return f"task {index}: {shortened(words, _LONGEST_REASON)}"
