"""StopServices: the running services of a test, and their end."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from pydantic import BaseModel

from tidemark.model.base import Frozen
from tidemark.model.results import TaskResult
from tidemark.model.services import LONGEST_STOP_SECONDS, pause_seconds
from tidemark.run.classify_stop import ENDED_BY_ITSELF, failed
from tidemark.run.ports import Tasks

_ENDED = "the test of this service has ended"
# A program that is asked to stop ends with 0, or by SIGINT, SIGKILL or SIGTERM.
_OF_A_STOP = {None, 0, 130, 137, 143}
_FORGOTTEN = "it ended before its test; ECS forgets a task an hour after its end"


class RunningService(Frozen):
    """The task of a service that a test has started."""

    name: str
    index: int
    """The index of the task in the test."""
    containers: tuple[str, ...]
    """The containers of the service, its program first: a task may have others."""
    task_arn: str

    @property
    def task_id(self) -> str:
        """The last part of the ARN, by which log streams are named."""
        return self.task_arn.rsplit("/", 1)[-1]


class StopServicesEvent(BaseModel):
    """The services of a test that has ended."""

    services: list[RunningService]
    stopping_since: datetime
    now: datetime


class StoppedServices(Frozen):
    """The services of a test once all have stopped, or else the wait until that is asked again."""

    over: bool
    wait_seconds: int = 0
    """The wait before the next question [s]."""
    tasks: tuple[TaskResult, ...] = ()
    """The results of the services' tasks; a service that ended before its test has failed."""


def stop_services(tasks: Tasks, event: StopServicesEvent) -> StoppedServices:
    """Stop the services of a test; return their results once all of them have stopped."""
    arns = [service.task_arn for service in event.services]
    described = tasks.describe(arns)
    for arn, task in described.items():
        if task["DesiredStatus"] != "STOPPED":
            tasks.stop(arn, _ENDED)
    waited = (event.now - event.stopping_since).total_seconds()
    # ECS may not describe a task yet that it has just accepted.
    stopped = all(described.get(arn, {}).get("LastStatus") == "STOPPED" for arn in arns)
    if not stopped and waited < LONGEST_STOP_SECONDS:
        return StoppedServices(over=False, wait_seconds=pause_seconds(waited))
    return StoppedServices(over=True, tasks=tuple(_results(event, described)))


def ended_services(tasks: Tasks, services: Sequence[RunningService]) -> list[str]:
    """Return the names of the services whose tasks have ended or are about to."""
    described = tasks.describe([service.task_arn for service in services])
    return [
        service.name
        for service in services
        if described.get(service.task_arn, {}).get("DesiredStatus") == "STOPPED"
    ]


def _results(
    event: StopServicesEvent, described: Mapping[str, Mapping[str, Any]]
) -> Iterator[TaskResult]:
    for service in event.services:
        name = f"service {service.name}"
        task = described.get(service.task_arn, {"TaskArn": service.task_arn})
        result = replace(
            failed(service.index, task, name, service.containers), service=service.name
        )
        if service.task_arn not in described:
            yield replace(result, stop_category="unknown", reason=f"{name}: {_FORGOTTEN}")
        elif task["LastStatus"] != "STOPPED":
            why = f"it did not stop within {LONGEST_STOP_SECONDS} s"
            reason = f"{name}: {why}"
            yield replace(result, stop_category="unknown", reason=reason, stopped_at=event.now)
        elif task.get("StoppedReason") == _ENDED and result.stop_category != "out of memory":
            yield _ended_meanwhile(service, task) if _ended_itself(result) else _stopped(result)
        else:
            yield result


def _ended_meanwhile(service: RunningService, task: Mapping[str, Any]) -> TaskResult:
    """Return the result of a service that was stopped, with the exit code and reason of its own."""
    by_itself = {**task, "StopCode": ENDED_BY_ITSELF}
    result = failed(service.index, by_itself, f"service {service.name}", service.containers)
    return replace(result, service=service.name, status="ok")


def with_crashes(tasks: Sequence[TaskResult], stopped_by: str | None) -> list[TaskResult]:
    """Return the results of a test's tasks, in which a service that ended by itself has failed.

    Tasks fail as soon as they lose a service, which may be stopped before ECS has seen its end. If
    nothing failed, and nothing stopped the test, an exit code of its own is how a program stops.
    """
    if stopped_by or any(task.status != "ok" for task in tasks):
        return [replace(task, status="failed") if _ended_itself(task) else task for task in tasks]
    return [_stopped(task) if _ended_itself(task) else task for task in tasks]


def _ended_itself(task: TaskResult) -> bool:
    return bool(task.service) and task.exit_code not in _OF_A_STOP


def _stopped(task: TaskResult) -> TaskResult:
    """Return the result of a service that was stopped, and did not fail."""
    return replace(task, status="ok", stop_category=None, reason="", container="")
