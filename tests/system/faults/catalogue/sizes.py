"""Faults of size: large runs and inputs."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from botocore.exceptions import ClientError

from aws.client.deployed import deployed_stack
from onebox.asl import history
from tests.system.faults.fault import Ending, Fault
from tests.system.faults.ground import Ground, NeverHappened
from tidemark.client.runs import Run

_READERS, _POLL_SECONDS = 100, 2.0


def _in_parallel(tasks: int, *versions: str) -> Callable[[Ground], list[Run]]:
    return lambda ground: [ground.run(*versions, tasks=tasks)]


def _among_readers(ground: Ground) -> list[Run]:
    """Have readers ask for the rates of each version at once during a run."""
    run = ground.start(versions=["healthy"])
    # Each looks for its answer every other second, as a patient client does.
    client, stack = ground.cloud.endpoint.client, ground.stack
    ask = deployed_stack(client, stack, _POLL_SECONDS).tables.ask
    statement = "SELECT version, avg(value) AS rate FROM rates GROUP BY version"
    with ThreadPoolExecutor(_READERS) as readers:
        deque(readers.map(ask, [statement] * _READERS), maxlen=0)
    return [ground.wait_for_outcome(run)]


def _past_the_history(ground: Ground) -> list[Run]:
    # A trial has fewer events; ten trials give the run's own history more.
    ground.replaced.set(history, "MAX_EVENTS", 100)
    return [ground.wait_for_outcome(ground.wait_for_end(ground.start(repetitions=10, tasks=1)))]


def _long_input(ground: Ground) -> list[Run]:
    return [ground.wait_for_end(ground.start(note="x" * 200_000))]


def _refused_by_the_service(ground: Ground) -> list[Run]:
    try:
        ground.start(note="x" * 300_000)
    except ClientError as error:
        if error.response["Error"]["Code"] == "InvalidExecutionInput":
            return []
    raise NeverHappened("an input of 300 kB was not refused by Step Functions")


FAULTS = (
    Fault(
        name="100-readers",
        happens="a hundred readers query the tables at once during the run",
        act=_among_readers,
        endings=(Ending("complete", "", 2),),
        logs_deadline_seconds=60,
    ),
    Fault(
        name="11-tasks",
        happens="eleven tasks run each test in parallel",
        act=_in_parallel(11),
        endings=(Ending("complete", "", 2),),
    ),
    Fault(
        name="110-tasks",
        happens="110 tasks run each test in parallel, in Map states of 40",
        act=_in_parallel(110),
        endings=(Ending("complete", "", 2),),
    ),
    Fault(
        name="110-tasks-fail",
        happens="110 tasks fail at once; their messages together would exceed 256 KiB",
        act=_in_parallel(110, "without-input"),
        endings=(
            Ending(
                "incomplete",
                "1 of 2 trials did not give all rates; the first is trial … (without-input): "
                "compaction: task 0: its container ended with exit code 1: the object of ingest is "
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
        happens="an input of 300 kB, which Step Functions refuses before an execution begins",
        act=_refused_by_the_service,
        endings=(),
    ),
)
