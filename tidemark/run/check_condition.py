"""CheckCondition: whether a service is ready or the wait of a step is over."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from tidemark.figures.task_logs import last_lines
from tidemark.model.sentences import plural
from tidemark.model.services import LAST_LINES_QUERY, READY_QUERY, Service, pause_seconds
from tidemark.model.steps import WaitUntil
from tidemark.model.suite import Suite
from tidemark.run.condition import CheckedCondition, ConditionEvent, ask
from tidemark.run.ecs_resources import System, by_value
from tidemark.run.load_levels import hold
from tidemark.run.ports import Backlog, LogQueries, Tasks
from tidemark.run.stop_services import RunningService
from tidemark.store.bucket import Bucket
from tidemark.store.stored_plan import read_plan

# Amazon SQS API reference, GetQueueAttributes: the numbers of messages are approximate, so that one
# reading may find no message in a queue that has some.
_READINGS = 3
QUEUE, CLUSTER = "queue", "cluster"
_ENTRIES = {QUEUE: "message", CLUSTER: "task"}

Backlogs = Mapping[str, Callable[[], Backlog]]
"""The source of each kind of backlog, ``queue`` and ``cluster``."""


def check_condition(
    bucket: Bucket,
    queries: LogQueries,
    tasks: Tasks,
    backlogs: Backlogs,
    event: ConditionEvent,
) -> CheckedCondition:
    """Return whether a service is ready, a condition holds or a load is over.

    Raises
    ------
    KeyError
        If the test has no such service, and no such step that waits.

    """
    plan = read_plan(bucket, event.run_id)
    suite = plan.suite
    system = event.system.of_instance(plan.known)
    if event.service:
        return _check_service(queries, tasks, system, suite, event, event.service)
    steps = {step.name: step for step in suite.test(event.test).steps}
    step = steps[event.step]
    if step.load:
        return hold(bucket, queries, tasks, system, plan, step.load, event)
    wait = step.wait_until
    if wait and wait.query:
        before = suite.test(event.test).with_steps(plan.request.tasks, event.tasks)
        return _check_query(
            queries, by_value(system.log_groups(before)), suite, wait, wait.query, event
        )
    if wait:
        return _check_backlog(backlogs, wait, event)
    raise KeyError(event.step)


def _check_service(
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
    rows, event = ask(queries, suite.name, READY_QUERY, system.log_group, streams, event)
    address = _address(task)
    if task.get("DesiredStatus") == "STOPPED":
        return event.over(f"service {running.name}: it ended before it was ready")
    if rows and address:
        host = {"Name": f"TIDEMARK_{running.name.upper()}", "Value": address}
        return event.over().model_copy(update={"environment": (host,)})
    left = service.within_seconds - event.waited_seconds
    if left > 0:
        return event.again(min(pause_seconds(event.waited_seconds), left))
    lines, event = ask(queries, suite.name, LAST_LINES_QUERY, system.log_group, streams, event)
    return event.over(_late(running.name, service) + last_lines(lines, streams[0]))


def _late(name: str, service: Service) -> str:
    return f"service {name}: {service.ready.text} was not ready within {service.within_seconds} s"


def _address(task: Mapping[str, Any]) -> str | None:
    """Return the private address of a task; None before it has one."""
    interfaces = (
        interface
        for container in task.get("Containers", [])
        for interface in container.get("NetworkInterfaces", [])
    )
    return next((each["PrivateIpv4Address"] for each in interfaces), None)


def _check_query(
    queries: LogQueries,
    streams: Mapping[str, Collection[str]],
    suite: Suite,
    wait: WaitUntil,
    query: str,
    event: ConditionEvent,
) -> CheckedCondition:
    """Return whether a query has a row of the log streams of the steps before, or how long to wait.

    The streams are by log group.
    """
    found = False
    for group, own in streams.items():
        rows, event = ask(queries, suite.name, query, group, own, event)
        found = found or bool(rows)
    why = f"no row of query {query} within {wait.within_seconds} s"
    return event.over() if found else _wait_again(wait, event, why)


def _check_backlog(backlogs: Backlogs, wait: WaitUntil, event: ConditionEvent) -> CheckedCondition:
    """Return whether enough readings in sequence found nothing left, or how long to wait."""
    kind = QUEUE if wait.queues else CLUSTER
    # A queue that the instance lacks has no name, and nothing is left in it.
    names = list(filter(None, event.awaited.split(",")))
    lefts = {_shown(kind, name): backlogs[kind]().left(name) for name in names}
    if missing := [named for named, left in lefts.items() if left is None]:
        return event.failed(f"there is no {missing[0]}")
    holds, needed = (0 if any(lefts.values()) else event.holds + 1), wait.readings or _READINGS
    if holds >= needed or not names:
        return event.over().model_copy(update={"holds": holds})
    named, left = max(lefts.items(), key=lambda entry: entry[1] or 0)
    why = f"{named} has {plural(left or 0, _ENTRIES[kind])} left after {wait.within_seconds} s"
    why += f", but only at {holds} of {needed} readings in sequence" if holds else ""
    return _wait_again(wait, event, why).model_copy(update={"holds": holds})


def _shown(kind: str, name: str) -> str:
    """Return the kind and the plain name of a queue or of a cluster, which may be an ARN."""
    return f"{kind} {name.rsplit('/', 1)[-1]}"


def _wait_again(wait: WaitUntil, event: ConditionEvent, why: str) -> CheckedCondition:
    """Return how long to wait for a condition, or that its time is over and ``why`` it failed."""
    left = wait.within_seconds - event.waited_seconds
    return event.again(min(wait.every_seconds, left)) if left > 0 else event.failed(why)
