"""Runs that are large, or too large."""

from __future__ import annotations

from collections.abc import Callable

from botocore.exceptions import ClientError

from local.asl import history
from local.following import Run
from tests.faults.fault import Ending, Fault
from tests.faults.ground import Ground, NeverHappened


def _side_by_side(tasks: int, *versions: str) -> Callable[[Ground], list[Run]]:
    return lambda ground: [ground.run(*versions, tasks=tasks)]


def _past_the_history(ground: Ground) -> list[Run]:
    # Two trials take the run's own history past what stands for 25,000 events here.
    ground.replaced.set(history, "MAX_EVENTS", 30)
    return [ground.settled(ground.ended(ground.start(repetitions=2)))]


def _input_of(size: int) -> Callable[[Ground], list[Run]]:
    return lambda ground: [ground.ended(ground.start(note="x" * size))]


def _refused_by_the_service(ground: Ground) -> list[Run]:
    try:
        ground.start(note="x" * 300_000)
    except ClientError as error:
        if error.response["Error"]["Code"] == "InvalidExecutionInput":
            return []
    raise NeverHappened("an input of 300 kB was not refused by Step Functions")


FAULTS = (
    Fault(
        name="11-tasks",
        happens="eleven tasks do each test side by side",
        act=_side_by_side(11),
        endings=(Ending("complete", "", 2),),
    ),
    Fault(
        name="110-tasks",
        happens="110 tasks do each test side by side, in Maps of 40",
        act=_side_by_side(110),
        endings=(Ending("complete", "", 2),),
    ),
    Fault(
        name="110-tasks-fail",
        happens="110 tasks fail at once: what is said of them would pass 256 KiB",
        act=_side_by_side(110, "without-input"),
        endings=(Ending("incomplete", "?", 3),),
    ),
    Fault(
        name="past-25000-events",
        happens="a run's history is full (at 30 events, for the test)",
        act=_past_the_history,
        endings=(Ending("failed", "?", 2),),
    ),
    Fault(
        name="long-input",
        happens="an input of 200 kB, of which a sentence would not fit into a payload",
        act=_input_of(200_000),
        endings=(Ending("rejected", "?"),),
    ),
    Fault(
        name="past-256-kib",
        happens="an input of 300 kB, which Step Functions refuses before anything begins",
        act=_refused_by_the_service,
        endings=(),
    ),
)
