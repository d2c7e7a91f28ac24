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
    # More than a trial takes, and fewer than ten trials take of the run's own history.
    ground.replaced.set(history, "MAX_EVENTS", 100)
    return [ground.settled(ground.ended(ground.start(repetitions=10, tasks=1)))]


def _long_input(ground: Ground) -> list[Run]:
    return [ground.ended(ground.start(note="x" * 200_000))]


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
        endings=(
            Ending(
                "incomplete",
                "1 of 2 trials did not give all rates; the first is trial … (without-input): "
                "compaction: task 0: its container ended with exit code 1: what ingest stored is "
                "missing; …and 105 more",
                3,
            ),
        ),
    ),
    Fault(
        name="past-25000-events",
        happens="a run's history is full, at 100 events instead of 25,000",
        act=_past_the_history,
        endings=(
            Ending("failed", "States.Runtime: The execution reached the maximum of 100 …", 14),
        ),
    ),
    Fault(
        name="long-input",
        happens="an input of 200 kB, refused before the first function is called",
        act=_long_input,
        endings=(
            Ending(
                "rejected",
                "input: it has more than 60000 characters; a request needs some hundred",
            ),
        ),
    ),
    Fault(
        name="past-256-kib",
        happens="an input of 300 kB, which Step Functions refuses before anything begins",
        act=_refused_by_the_service,
        endings=(),
    ),
)
