"""The start of a service: it is ready once the harness in its container has logged so."""

import math
from collections.abc import Mapping
from typing import Any

from tidemark.figures.last_lines import last_lines
from tidemark.model.services import LAST_LINES_QUERY, READY_QUERY, Service, pause_seconds
from tidemark.model.suite import Suite
from tidemark.run.condition import CheckedCondition, ConditionEvent, ask
from tidemark.run.ports import LogQueries, Tasks
from tidemark.run.services import RunningService
from tidemark.run.system import System


def check_ready(
    queries: LogQueries,
    tasks: Tasks,
    system: System,
    suite: Suite,
    event: ConditionEvent,
    running: RunningService,
) -> CheckedCondition:
    """Return the address of a service that is ready, or how long to wait for it."""
    service = suite.services[running.name]
    task = tasks.describe([running.task_arn]).get(running.task_arn, {})
    streams = [system.stream(running.task_id, running.name)]
    answer = ask(queries, suite.name, READY_QUERY, system.log_group, streams, event)
    scanned = event.bytes_scanned + answer.bytes_scanned
    address = _address(task)
    if task.get("DesiredStatus") == "STOPPED":
        why = f"service {running.name}: it ended before it was ready"
        return CheckedCondition(over=True, stopped_by=why, bytes_scanned=scanned)
    if answer.rows and address:
        host = {"Name": f"TIDEMARK_{running.name.upper()}", "Value": address}
        return CheckedCondition(over=True, environment=(host,), bytes_scanned=scanned)
    if event.waited_seconds < service.within_seconds:
        left = math.ceil(service.within_seconds - event.waited_seconds)
        seconds = min(pause_seconds(event.waited_seconds), left)
        return CheckedCondition(over=False, wait_seconds=seconds, bytes_scanned=scanned)
    lines = ask(queries, suite.name, LAST_LINES_QUERY, system.log_group, streams, event)
    return CheckedCondition(
        over=True,
        stopped_by=_late(running.name, service) + last_lines(lines.rows, streams[0]),
        bytes_scanned=scanned + lines.bytes_scanned,
    )


def _late(name: str, service: Service) -> str:
    return f"service {name}: {service.ready.text} was not ready within {service.within_seconds} s"


def _address(task: Mapping[str, Any]) -> str | None:
    """Return the private address of a task; None before it has one."""
    interfaces = (
        interface
        for container in task.get("Containers", [])
        for interface in container.get("NetworkInterfaces", [])
    )
    return next((one["PrivateIpv4Address"] for one in interfaces), None)
