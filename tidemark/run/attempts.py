"""Attempts at several steps, each made whether or not an earlier step failed."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from tidemark.model.sentences import shortened
from tidemark.model.telemetry import LOGGER

_LONGEST_REASON = 500  # bytes
_logger = logging.getLogger(LOGGER)


class AttemptsFailed(RuntimeError):
    """The steps that failed, each with its reason; the other steps succeeded."""


class Attempts:
    """The steps of one invocation and the failures among them.

    ``faults`` are the errors of the services that the steps call.
    """

    def __init__(self, faults: tuple[type[Exception], ...] = ()) -> None:
        self._faults: tuple[type[Exception], ...] = (*faults, RuntimeError, ValueError, LookupError)
        self._failures: list[str] = []

    @contextmanager
    def at(self, step: str) -> Iterator[None]:
        """Log and keep an error of a service or of stored data, and continue after the block."""
        try:
            yield
        except self._faults as error:
            _logger.exception("failed", extra={"step": step})
            reason = shortened(str(error), _LONGEST_REASON)
            self._failures.append(f"{step}: {type(error).__name__}: {reason}")

    def check(self) -> None:
        """Raise AttemptsFailed with every failed step, if any step failed."""
        if self._failures:
            raise AttemptsFailed("; ".join(self._failures))
