"""The test of one client that makes sequences of calls, one call after another.

Kiwi TCMS's documentation tells the layers of a sequence's time apart: ``orm`` is the time of the
same work through Django's models without requests, ``web`` is the time of as many requests to a
method that does nothing, and ``rest`` what remains: permissions, checks of the input and the
serialisation of answers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from contextlib import closing
from statistics import fmean
from time import perf_counter

from harness import log
from harness.task import CheckFailedError
from json_rpc import Answered, Session, database_line
from operations import calls, report, results

_RESULT = "TestExecution.update"
# The answer is a constant. Kiwi TCMS's own middleware asks the database once for each request.
_IDLE = ("system.methodSignature", "system.listMethods")


def run(host: str, port: int, variables: Mapping[str, str]) -> None:
    """Make the sequences that the variables of the task ask for, at a server."""
    with closing(Session(host, port)) as session:
        measure(session, int(variables["TIDEMARK_R"]), int(variables["TIDEMARK_JOBS"]))


def measure(session: Session, r: int, jobs: int) -> None:
    """Make as many sequences as there are ``jobs``, after a short one that counts nowhere.

    Raises
    ------
    CheckFailedError
        If a sequence has another number of answers than the documentation gives.
    """
    _measured(session, 1, "Warm-up")
    for number in range(jobs):
        answered, seconds = _measured(session, r, f"Product {number}")
        _check(number, r, answered)
        log.info(
            "Baseline",
            f"Sequence {number}: {len(answered)} calls and {results(r)} results "
            f"in {seconds:.6f} seconds",
        )
        _log_operations(answered)
        log_layers(session, r, seconds)


def _measured(session: Session, r: int, name: str) -> tuple[list[Answered], float]:
    """Make a sequence; return its calls and its seconds."""
    session.answered.clear()
    started = perf_counter()
    report(session, r, name)
    return list(session.answered), perf_counter() - started


def _check(number: int, r: int, answered: list[Answered]) -> None:
    reported = sum(call.operation == _RESULT for call in answered)
    found, expected = (len(answered), reported), (calls(r), results(r))
    if found != expected:
        raise CheckFailedError(
            f"Sequence {number} had {found[0]} answers, {found[1]} of them for results: "
            f"{expected[0]} and {expected[1]} were expected."
        )


def _log_operations(answered: list[Answered]) -> None:
    calls_of = defaultdict(list)
    for call in answered:
        calls_of[call.operation].append(call)
    for operation, each in calls_of.items():
        mean = 1000 * fmean(call.seconds for call in each)
        log.info("Baseline", f"Operation {operation}: {len(each)} calls at {mean:.3f} ms")
        log.info("Baseline", database_line(operation, [call.statements for call in each]))


def log_layers(session: Session, r: int, seconds: float) -> None:
    """Log the layers of a sequence of ``r`` that took some seconds.

    Raises
    ------
    CheckFailedError
        If the same work has another number of results.
    """
    requests = calls(r)
    orm, web = _orm(session, r), _web(session, requests)
    for layer, part in (("orm", orm), ("web", web), ("rest", seconds - orm - web)):
        log.info(
            "Layers",
            f"Layer {layer} {1000 * part / requests:.6f} ms per call, {100 * part / seconds:.6f} %",
        )


def _orm(session: Session, r: int) -> float:
    """Return the time of the sequence's work without requests [s]."""
    started = perf_counter()
    stored = session.post(f"/tidemark/orm?{r}")
    seconds = perf_counter() - started
    if stored != results(r):
        raise CheckFailedError(f"The models stored {stored} results: {results(r)} were expected.")
    return seconds


def _web(session: Session, requests: int) -> float:
    """Return the time of as many requests that do nothing [s]."""
    started = perf_counter()
    for _ in range(requests):
        session.call(*_IDLE)
    return perf_counter() - started
