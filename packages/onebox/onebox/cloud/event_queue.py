"""Lambda's asynchronous invocations: the queue of events, and the retries.

Source: AWS documentation, "How Lambda handles errors and retries with asynchronous invocation": a
function that fails gets its event up to two times more, after one and two minutes. On one machine
the pauses are one and two seconds, and none when the cloud closes.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait

from moto.awslambda.exceptions import LambdaClientError

from onebox.cloud.sandboxes import Answer, Function

_PAUSES_SECONDS = (1.0, 2.0)
_THREADS = 16

_log = logging.getLogger(__name__)


class EventQueue:
    """The undelivered events of functions; ``invoke`` runs a function on one event."""

    def __init__(self, invoke: Callable[[Function, bytes], Answer]) -> None:
        self._invoke = invoke
        self._threads = ThreadPoolExecutor(_THREADS, "functions-events")
        self._lock = threading.Lock()
        self._unfinished: set[Future[None]] = set()
        self._skip_pauses = threading.Event()

    def put(self, function: Function, payload: bytes) -> None:
        """Queue an event for a function."""
        with self._lock:
            delivery = self._threads.submit(self._deliver, function, payload)
            self._unfinished.add(delivery)
        delivery.add_done_callback(self._forget)

    def drain(self, seconds: float) -> None:
        """Wait at most ``seconds`` until every event is delivered."""
        self._skip_pauses.set()
        with self._lock:
            unfinished = list(self._unfinished)
        _, late = wait(unfinished, seconds)
        if late:
            _log.warning("%d events were still being delivered after %g s.", len(late), seconds)

    def close(self) -> None:
        """Drop the waiting events, and end. The caller must have killed the functions before."""
        self._skip_pauses.set()
        self._threads.shutdown(cancel_futures=True)

    def _forget(self, delivery: Future[None]) -> None:
        with self._lock:
            self._unfinished.discard(delivery)
        if not delivery.cancelled() and (fault := delivery.exception()):
            _log.error("An event was not delivered.", exc_info=fault)

    def _deliver(self, function: Function, payload: bytes) -> None:
        try:
            answer = self._invoke(function, payload)
            for pause in _PAUSES_SECONDS:
                if not answer.failed:
                    return
                self._skip_pauses.wait(pause)
                answer = self._invoke(function, payload)
        except LambdaClientError as error:  # the cloud is closing
            _log.warning("%s did not get an event: %s.", function.name, error.message)
            return
        if answer.failed:
            # Without a destination for failures Lambda drops the event; only its metrics show it.
            reason = answer.payload.decode(errors="replace")
            _log.warning("%s failed in every attempt: %s", function.name, reason)
