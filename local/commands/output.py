"""Standard output that cannot be written, told in one sentence."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

import click


class StandardOutput:
    """Standard output as a stream of text; if it cannot be written, that is a ClickException.

    A pipe that is closed stays a BrokenPipeError: who reads no further, as ``head`` does, asked for
    no more.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text; return the number of its characters."""
        # So click asks whether this is text; a device that is full refuses even that.
        if text == "":
            return 0
        with self._told():
            return self._stream.write(text)

    def flush(self) -> None:
        """Write what was kept back."""
        with self._told():
            self._stream.flush()

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            # Python would try to write the rest once more as it ends, and fail again.
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)
            raise click.ClickException(
                f"standard output cannot be written: {error.strerror}"
            ) from None
