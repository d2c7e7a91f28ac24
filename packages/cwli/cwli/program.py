"""A command as a program: its errors are one sentence each, with an exit code."""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn, TextIO, cast

import click
from click.exceptions import NoArgsIsHelpError

_FAILED, _REFUSED = 1, 2
_OBJECTS = 100_000
_INTERRUPTED = 130  # 128 and the number of SIGINT, as shells have it
# The errors of a disk without room or with a broken sector: the verb, and the advice.
_ROOM = ("written", "free some space, and run the command again")
_OF_DISK = {
    errno.ENOSPC: _ROOM,
    errno.EDQUOT: _ROOM,
    errno.EIO: ("read or written", "check the disk, and run the command again"),
}
_LONGEST_SENTENCE = 4_000  # characters: an argument of 1 MB may be part of it
ENDED = object()
"""The result of a command that has closed all that it used, and has written all its output."""


class Refused(Exception):
    """An input that is not accepted; the message names argument, value and accepted values."""


def execute(command: click.Command, program: str, *refusals: type[Exception]) -> NoReturn:
    """Run a command with the arguments of the process and end it, with code 0 after a success.

    An error is one sentence on standard error after the name of the program. Its exit code is 1 for
    a failure, 2 for an input that is not accepted, 130 for an interrupt.

    Parameters
    ----------
    command : click.Command
        The command.
    program : str
        The name of the program.
    refusals : type
        Other errors than `Refused` that refuse an input in one sentence.
    """
    # Searches for garbage among the objects of imports find none, and take a short command 1 %.
    gc.set_threshold(_OBJECTS)
    _take_signals()
    _open_streams()
    sys.stdout = cast(TextIO, StandardOutput(sys.stdout))
    all_refusals: tuple[type[Exception], ...] = (Refused, *refusals)
    try:
        result = command(prog_name=program, standalone_mode=False)
        if result is ENDED:
            _leave()
        sys.exit(result)
    except all_refusals as refused:
        _end(program, _REFUSED, str(refused))
    except NoArgsIsHelpError as error:
        error.show()
        sys.exit(_REFUSED)
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else program
        sentence = _with_full_stop(error.format_message())
        _end(program, _REFUSED, f"{sentence} `{path} --help` says what is accepted.")
    except click.ClickException as error:
        _end(program, _FAILED, error.format_message())
    except click.Abort:
        _end(program, _INTERRUPTED, "interrupted")
    except (OSError, RuntimeError) as error:
        lack = _lack(error)
        if not lack:
            raise
        _end(program, _FAILED, lack)


def _lack(error: OSError | RuntimeError) -> str:
    """Return a sentence about what the machine lacks, '' for an error of another cause."""
    code = error.errno if isinstance(error, OSError) else None
    # Python raises a bare RuntimeError for a thread that the kernel does not start.
    if code == errno.EAGAIN or str(error) == "can't start new thread":
        return (
            "no more processes or threads can be started: this user has as many as `ulimit -u` or "
            "a control group allows; end some, or raise the limit"
        )
    if code in _OF_DISK and isinstance(error, OSError):
        verb, advice = _OF_DISK[code]
        place = error.filename or "the state folder"
        return f"{place} cannot be {verb}: {error.strerror}; what was stored is kept: {advice}"
    if code in {errno.EMFILE, errno.ENFILE}:
        return (
            f"no more files and connections can be opened: {os.strerror(code)}; raise the limit "
            "of `ulimit -n`"
        )
    return ""


def tell(sentences: Iterable[str]) -> None:
    """Print sentences on standard error, a line each; if it takes none, no rows are lost."""
    with suppress(OSError):
        for sentence in sentences:
            click.echo(sentence, err=True)


def warn(warnings: Iterable[str]) -> None:
    """Print warnings on standard error, a line each."""
    tell(f"warning: {warning}" for warning in warnings)


def _leave() -> NoReturn:
    """End the process at once: to take down Python and DuckDB takes a tenth of a short query."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(0)


def end_by(end: Callable[[int, FrameType | None], None], *numbers: signal.Signals) -> None:
    """Have signals call ``end``, but for those that the parent has this program ignore.

    ``nohup`` ignores SIGHUP, and a shell without job control ignores SIGINT of the programs
    that it starts in the background.
    """
    for number in numbers:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, end)


def _take_signals() -> None:
    """Let a closed terminal or a cancelled job act as Ctrl-C: no task is left behind."""
    end_by(signal.default_int_handler, signal.SIGTERM, signal.SIGHUP)
    # If a parent has this program ignore the ends of its children, Python takes each for exit
    # code 0.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def _with_full_stop(sentence: str) -> str:
    return sentence if sentence.endswith((".", "?", "?)")) else f"{sentence}."


def _end(program: str, code: int, sentence: str) -> NoReturn:
    if (rest := len(sentence) - _LONGEST_SENTENCE) > 0:
        half = _LONGEST_SENTENCE // 2
        sentence = f"{sentence[:half]}… {rest:,} characters …{sentence[-half:]}"
    click.echo(f"{program}: {sentence}", err=True)
    sys.exit(code)


def _open_streams() -> None:
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
