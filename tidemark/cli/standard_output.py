"""Standard output whose failures are one sentence, and standard streams that are closed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

import click


def open_streams() -> None:
    """Open each standard stream that is closed: Python has None in its place.

    Its reading or writing then fails, but messages to standard error are lost. Each gets its own
    number, the lowest that is free, so that no other file is taken for a standard stream.
    """
    if sys.stdin is None:
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_WRONLY), "r")
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")


class StandardOutput:
    """Standard output as a stream of text that raises a ClickException if a write fails.

    A closed pipe stays a BrokenPipeError: a reader like ``head`` wants no more output.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text; return the number of its characters."""
        # click writes '' to test whether the stream takes text; a full device refuses even ''.
        if text == "":
            return 0
        with self._one_sentence():
            return self._stream.write(text)

    def flush(self) -> None:
        """Write buffered text."""
        with self._one_sentence():
            self._stream.flush()

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)

    @contextmanager
    def _one_sentence(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            # At its end Python would write the rest once more and fail again.
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)
            raise click.ClickException(
                f"standard output cannot be written: {error.strerror}"
            ) from None
