"""Faults of the tasks: their endings and their logs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.system.faults.fault import Ending, Fault, Target
from tests.system.faults.ground import Ground
from tidemark.client.runs import Run

# One of two trials is lost; the other keeps its two rates.
_OF_TWO = "1 of 2 trials did not give all rates; the first is trial … ({version}): {cause}"


def _measured(version: str) -> Callable[[Ground], Sequence[Run]]:
    return lambda ground: [ground.run(version)]


def _task_fault(
    version: str, happens: str, cause: str, *, kept: int = 2, target: Target = "faults"
) -> Fault:
    """Return the fault of a version that loses its trial for this cause."""
    reason = _OF_TWO.format(version=version, cause=cause)
    return Fault(
        name=version,
        happens=happens,
        act=_measured(version),
        endings=(Ending("incomplete", reason, kept),),
        target=target,
    )


def both(cause: str) -> str:
    """Return the reason of a test if both of its tasks ended for this cause."""
    return "; ".join(f"task {task}: {cause}" for task in (0, 1))


_LOUD = "it was stopped: it printed more than 67,108,864 bytes, the limit of a task on one machine"
_KILLED = "it was killed (exit code 137), most often for lack of memory…"
EXIT_1 = "its container ended with exit code 1"
NO_LINES = (
    "ingest: task 0 (…) logged 0 of 2 lines of ingest_rate; task 1 (…) logged 0 of 2 lines of "
    "ingest_rate; searched from … to … UTC"
)

FAULTS = (
    _task_fault(
        "exit-1", "the tasks end with exit code 1", f"ingest: {both(EXIT_1)}", target="systems"
    ),
    _task_fault("exit-137", "the tasks end with exit code 137", f"ingest: {both(_KILLED)}"),
    _task_fault(
        "killed-at-start", "SIGKILL before a task has done anything", f"ingest: {both(_KILLED)}"
    ),
    _task_fault(
        "killed-in-the-middle",
        "SIGKILL after the first of a task's rates",
        f"ingest: {both(_KILLED)}",
        target="systems",
    ),
    _task_fault(
        "killed-at-the-end",
        "SIGKILL after the last of a task's rates",
        f"ingest: {both(_KILLED)}",
    ),
    _task_fault(
        "one-dead", "one of two tasks is killed", f"ingest: task 1: {_KILLED}", target="test"
    ),
    _task_fault(
        "deaf",
        "the tasks ignore their deadline and SIGTERM",
        "ingest: "
        "task 0: it ran … s, longer than timeout_seconds 10, and was stopped…; "
        "task 1: it ran … s, longer than timeout_seconds 10, and was stopped…",
    ),
    _task_fault("silent", "the tasks succeed and log nothing", NO_LINES, target="systems"),
    _task_fault(
        "twice",
        "the tasks log every rate twice",
        "ingest: task 0 (…) logged 4 lines of ingest_rate, not 2; task 1 (…) logged 4 lines of "
        "ingest_rate, not 2",
    ),
    _task_fault("garbage", "the tasks log bytes that are not text", NO_LINES),
    _task_fault("nearly", "the tasks log lines that nearly match", NO_LINES),
    _task_fault(
        "infinite",
        "the tasks log ∞ as their rate",
        "ingest: 4 values of ingest_rate are not positive, finite numbers",
        target="systems",
    ),
    _task_fault(
        "not-a-number",
        "the tasks log NaN as their rate",
        "ingest: 4 values of ingest_rate are not positive, finite numbers",
    ),
    _task_fault(
        "negative",
        "the tasks log a rate below zero",
        "ingest: 4 values of ingest_rate are not positive, finite numbers",
    ),
    _task_fault(
        "zero",
        "the tasks log a rate of zero",
        "ingest: task 0 (…) logged 0 records/s of ingest_rate, which is not a rate; "
        "task 1 (…) logged 0 records/s of ingest_rate, which is not a rate",
    ),
    _task_fault(
        "absurd",
        "the tasks log a rate of 400 digits",
        "ingest: 4 values of ingest_rate are not positive, finite numbers",
    ),
    _task_fault(
        "without-input",
        "compaction finds no object of ingest",
        f"compaction: {both(f'{EXIT_1}: the object of ingest is missing')}",
        kept=3,
        target="systems",
    ),
    _task_fault(
        "corrupt",
        "the object of ingest is corrupt",
        f"compaction: {both(f'{EXIT_1}: the object of ingest does not match its SHA-256')}",
        kept=3,
        target="systems",
    ),
    _task_fault(
        "full-disk",
        "a task's disk is full",
        f"ingest: {both(f'{EXIT_1}: data could not be written: File too large')}",
    ),
    Fault(
        name="hostile",
        happens="the tasks try to read, forge and delete results; S3 refuses",
        act=_measured("hostile"),
        endings=(Ending("complete", "", 4),),
        target="systems",
    ),
    Fault(
        name="strange-names",
        happens="the tasks leave objects with names that XML cannot hold",
        act=_measured("strange-names"),
        endings=(Ending("complete", "", 4),),
        target="systems",
    ),
    _task_fault("much", "each task prints 100 MB beside its rates", f"ingest: {both(_LOUD)}"),
)
