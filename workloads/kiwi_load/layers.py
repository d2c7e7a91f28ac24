"""The share of a sequence's time in each layer, as Kiwi TCMS's documentation tells them apart.

``orm`` is the time of the same work through Django's models without requests, ``web`` that of as
many requests whose method does nothing, and ``rest`` what remains: permissions, checks of the input
and the serialisation of answers.
"""

from __future__ import annotations

from time import perf_counter

import sequence
from harness import log
from harness.task import CheckFailedError
from json_rpc import Session

# The answer is a constant. Kiwi TCMS's own middleware asks the database once for each request.
_IDLE = ("system.methodSignature", "system.listMethods")


def measure(session: Session, r: int, seconds: float) -> None:
    """Log the layers of a sequence of ``r`` that took some seconds.

    Raises
    ------
    CheckFailedError
        If the same work has another number of results.
    """
    calls = sequence.calls(r)
    orm, web = _orm(session, r), _web(session, calls)
    for layer, part in (("orm", orm), ("web", web), ("rest", seconds - orm - web)):
        log.info(
            "Layers",
            f"Layer {layer} {1000 * part / calls:.6f} ms per call, {100 * part / seconds:.6f} %",
        )


def _orm(session: Session, r: int) -> float:
    """Return the time of the sequence's work without requests [s]."""
    started = perf_counter()
    results = session.post(f"/tidemark/orm?{r}")
    seconds = perf_counter() - started
    if results != sequence.results(r):
        raise CheckFailedError(
            f"The models stored {results} results: {sequence.results(r)} were expected."
        )
    return seconds


def _web(session: Session, calls: int) -> float:
    """Return the time of as many requests that do nothing [s]."""
    started = perf_counter()
    for _ in range(calls):
        session.call(*_IDLE)
    return perf_counter() - started
