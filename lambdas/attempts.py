"""Steps that are each attempted, whatever became of those before."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lambdas.aws import SERVICE_FAULTS
from lambdas.failure import shortened
from lambdas.observability import logger

_LONGEST_REASON = 500  # bytes


class AttemptsFailed(RuntimeError):
    """Steps that failed, each with its reason; the others were made."""


class Attempts:
    """The steps of one invocation, and which of them failed."""

    def __init__(self) -> None:
        self._failed: list[str] = []

    @contextmanager
    def at(self, step: str) -> Iterator[None]:
        """Log what a service or stored data makes fail here, and go on after it."""
        try:
            yield
        except (*SERVICE_FAULTS, RuntimeError, ValueError, LookupError) as error:
            logger.exception("failed", extra={"step": step})
            reason = shortened(str(error), _LONGEST_REASON)
            self._failed.append(f"{step}: {type(error).__name__}: {reason}")

    def check(self) -> None:
        """Raise AttemptsFailed, which names every step that failed, if any did."""
        if self._failed:
            raise AttemptsFailed("; ".join(self._failed))
