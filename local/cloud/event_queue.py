"""Lambda's asynchronous invocations: events that wait for their function, and are tried again.

Source: AWS documentation, "How Lambda handles errors and retries with asynchronous invocation": a
function that fails gets its event up to two times more, after one and two minutes. Nobody waits
minutes for one machine: here it is after one and two seconds, and at once when the cloud closes.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait

from moto.awslambda.exceptions import LambdaClientError

from local.cloud.sandboxes import Answer, Function

_PAUSES_SECONDS = (1.0, 2.0)
_AT_ONCE = 16

_log = logging.getLogger(__name__)


class EventQueue:
    """The events that functions have yet to get; ``invoke`` runs a function on one."""

    def __init__(self, invoke: Callable[[Function, bytes], Answer]) -> None:
        self._invoke = invoke
        self._threads = ThreadPoolExecutor(_AT_ONCE, "functions-events")
        self._lock = threading.Lock()
        self._unfinished: set[Future[None]] = set()
        self._hurried = threading.Event()

    def put(self, function: Function, payload: bytes) -> None:
        """Hand an event to a function, soon."""
        with self._lock:
            delivery = self._threads.submit(self._deliver, function, payload)
            self._unfinished.add(delivery)
        delivery.add_done_callback(self._forget)

    def drain(self, seconds: float) -> None:
        """Wait until every function has had its events, but no longer than ``seconds``."""
        self._hurried.set()
        with self._lock:
            unfinished = list(self._unfinished)
        _, late = wait(unfinished, seconds)
        if late:
            _log.warning("%d events found no end of their function in %g s.", len(late), seconds)

    def close(self) -> None:
        """End; what has not begun is dropped. The functions themselves must have been ended."""
        self._hurried.set()
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
                self._hurried.wait(pause)
                answer = self._invoke(function, payload)
        except LambdaClientError as error:  # the cloud is closing
            _log.warning("%s did not get an event: %s.", function.name, error.message)
            return
        if answer.failed:
            # Without a destination for failures Lambda drops the event, and only its metrics tell.
            said = answer.payload.decode(errors="replace")
            _log.warning("%s failed each time that it was tried: %s", function.name, said)
