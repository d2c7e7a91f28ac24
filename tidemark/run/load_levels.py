"""The load of a test: the next level of users, once the agents have logged the level before."""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime

from tidemark.figures.stop_rule import Decision, Level, decide
from tidemark.model.load import CONNECTED, HeldLevel, Load, LoadCourse
from tidemark.model.plan import Plan
from tidemark.model.refusal import Refused
from tidemark.model.sentences import listed, searched, shown
from tidemark.money.prices import list_prices
from tidemark.run.condition import CheckedCondition, ConditionEvent, ask
from tidemark.run.ecs_resources import System
from tidemark.run.ports import LogQueries, Tasks
from tidemark.run.stop_services import ended_services
from tidemark.store import keys
from tidemark.store.bucket import Bucket
from tidemark.store.stored_plan import planned

# An agent asks for the level once a second, and its line takes a moment.
_GRACE_SECONDS = 2
# The least share of a level's users that have to be connected.
_CONNECTED = 0.95
_Rows = Sequence[Mapping[str, str]]


def hold(
    bucket: Bucket,
    queries: LogQueries,
    tasks: Tasks,
    system: System,
    plan: Plan,
    load: Load,
    event: ConditionEvent,
) -> CheckedCondition:
    """Return how long the agents hold their level, or that the load is over.

    It is over, too, if an agent has not logged its level and a service of the test has ended.

    The function may run twice: a level begins once, and ends when all agents have logged it.
    """
    stored = bucket.find(keys.course(event.levels_key))
    if stored is None:
        return _go_on(bucket, plan, load, event, event.now, ())
    course = LoadCourse.model_validate_json(stored.body)
    late = _late_seconds(load, event, course)
    if course.over or late < 0:
        return _wait(event, course, -late)
    agents = [each for each in event.services if each.name in load.agents]
    streams = [system.stream(each.task_id, each.name) for each in agents]
    logged, event = ask(queries, plan.suite.name, load.query, system.log_group, streams, event)
    rows = [row for row in logged if row.get("level") == str(course.level)]
    missing = len(streams) - len({row.get("@logStream") for row in rows})
    if missing > 0:
        return _without(missing, load, tasks, event, course)
    try:
        level = _held(load, event, course, rows)
    except Refused as refused:
        return event.failed(str(refused))
    return _go_on(bucket, plan, load, event, course.started_at, (*course.held, level))


def _late_seconds(load: Load, event: ConditionEvent, course: LoadCourse) -> float:
    """Return how long ago the agents should have logged their level [s], below 0 before that."""
    return (event.now - course.begun_at).total_seconds() - load.level_seconds - _GRACE_SECONDS


def _go_on(
    bucket: Bucket,
    plan: Plan,
    load: Load,
    event: ConditionEvent,
    started_at: datetime,
    held: tuple[HeldLevel, ...],
) -> CheckedCondition:
    """Begin the level that follows the held levels, or end the load."""
    levels = _levels(held, started_at)
    decision = decide(load.rule, load.bounds, levels, _usd_per_second(plan, event))
    following = _course(load, event, started_at, _decided(held, decision), decision)
    body = following.model_dump_json().encode()
    # The agents read a copy: any task of the trial may write below the secret of its data. The
    # course itself comes last, so that a repeated call judges the level again.
    bucket.write(event.levels_key, body)
    bucket.write(keys.course(event.levels_key), body)
    return _wait(event, following, load.level_seconds + _GRACE_SECONDS)


def _levels(held: Sequence[HeldLevel], started_at: datetime) -> list[Level]:
    """Return levels for the rule, with times from the start of the search."""
    return [
        Level(
            each.users,
            (each.ended_at - started_at).total_seconds(),
            each.hit,
            each.connected,
            each.agents_hit,
        )
        for each in held
    ]


def _decided(held: tuple[HeldLevel, ...], decision: Decision) -> tuple[HeldLevel, ...]:
    """Return the levels; the last of them gets the decision that followed it."""
    last = [each.model_copy(update={"decision": decision.reason}) for each in held[-1:]]
    return (*held[:-1], *last)


def _course(
    load: Load,
    event: ConditionEvent,
    started_at: datetime,
    held: tuple[HeldLevel, ...],
    decision: Decision,
) -> LoadCourse:
    """Return the course with the level that a decision begins now, or with its end."""
    return LoadCourse(
        level=len(held) + 1,
        users=load.shares(decision.users),
        settle_seconds=load.settle_seconds,
        hold_seconds=load.hold_seconds,
        started_at=started_at,
        begun_at=event.now,
        held=held,
        over=decision.end is not None,
        found=decision.found,
        end=decision.end or "",
        reason=decision.reason,
    )


def _usd_per_second(plan: Plan, event: ConditionEvent) -> float:
    """Return the price of the services that the test has started, in the trial's sizes [USD/s]."""
    prices, axes = plan.prices or list_prices(), planned(plan, event.trial).axes
    tasks = [plan.suite.task_of(each.name, axes) for each in event.services]
    return math.fsum(prices.of_tasks(task, 1.0) for task in tasks)


def _wait(event: ConditionEvent, course: LoadCourse, seconds: float) -> CheckedCondition:
    if not course.over:
        return event.again(seconds)
    # Without a figure, or without the service, there is nothing to report.
    if course.end in {"dropped", "agents"} or not course.found:
        return event.failed(course.reason)
    return event.over()


def _without(
    missing: int, load: Load, tasks: Tasks, event: ConditionEvent, course: LoadCourse
) -> CheckedCondition:
    """Wait for the agents that have not logged their level, or end the load with the reason."""
    if gone := ended_services(tasks, event.services):
        return event.failed(f"service {listed(gone)} ended before the search")
    late = _late_seconds(load, event, course)
    if late < load.report_seconds:
        return event.again(min(max(2.0, late), load.report_seconds - late))
    why = f"{missing} of {len(load.agents)} agents did not log level {course.level}"
    # An agent with a wrong clock logs outside of the searched time.
    within = f"within {load.report_seconds} s; {searched(event.window)}"
    return event.failed(f"{why} {within}")


def _held(load: Load, event: ConditionEvent, course: LoadCourse, rows: _Rows) -> HeldLevel:
    if len(rows) > len(load.agents):
        raise Refused(
            f"{load.query}.cwli: {len(rows)} rows of level {course.level} are not accepted; "
            f"expected {len(load.agents)}, one of each agent"
        )
    values = {name: max(_number(load, row, name) for row in rows) for name in load.columns}
    users = sum(course.users.values())
    connected = math.fsum(_number(load, row, "users") for row in rows)
    hit, agents_hit = (
        [name for name, most in limits.items() if values[name] > most]
        for limits in (load.limits, load.agent_limits)
    )
    # Users without a connection wait for no answer, so that the limits say nothing of them.
    if connected < _CONNECTED * users:
        hit.append(CONNECTED)
    return HeldLevel(
        users=users,
        connected=connected,
        values=values,
        hit=tuple(hit),
        agents_hit=tuple(agents_hit),
        begun_at=course.begun_at,
        ended_at=event.now,
    )


def _number(load: Load, row: Mapping[str, str], column: str) -> float:
    """Return a number of a row; raise Refused for another text."""
    text = row.get(column, "")
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isfinite(value):
        return value
    sentence = f"{load.query}.cwli: {column} {shown(text)} is not accepted"
    raise Refused(f"{sentence}; expected a finite number")
