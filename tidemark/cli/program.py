"""A command as a program: its errors are one sentence each, with an exit code."""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import NoReturn, TextIO, cast

import click
from click.exceptions import NoArgsIsHelpError

from tidemark.cli.standard_output import StandardOutput, open_streams
from tidemark.model.refusal import Refused

_FAILED, _REFUSED = 1, 2
_OBJECTS = 100_000
_INTERRUPTED = 130  # 128 and the number of SIGINT, as shells have it
ENDED = object()
"""The result of a command that has closed all that it used, and has written all its output."""


def execute(command: click.Command, program: str) -> NoReturn:
    """Run a command with the arguments of the process and end it, with code 0 after a success.

    An error is one sentence on standard error after the name of the program. Its exit code is 1 for
    a failure, 2 for an input that is not accepted, 130 for an interrupt.
    """
    # Searches for garbage among the objects of imports find none, and take a short command 1 %.
    gc.set_threshold(_OBJECTS)
    _take_signals()
    open_streams()
    sys.stdout = cast(TextIO, StandardOutput(sys.stdout))
    try:
        result = command(prog_name=program, standalone_mode=False)
        if result is ENDED:
            _leave()
        sys.exit(result)
    except Refused as refused:
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
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EDQUOT}:
            raise
        place = error.filename or "the state folder"
        kept = "what was stored is kept: free some space, and run the command again"
        _end(program, _FAILED, f"{place} cannot be written: {error.strerror}; {kept}")
    except click.Abort:
        _end(program, _INTERRUPTED, "interrupted")


def _leave() -> NoReturn:
    """End the process at once: to take down Python and DuckDB takes a tenth of a short query."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(0)


def end_by(end: Callable[[int, FrameType | None], None], *numbers: signal.Signals) -> None:
    """Have signals call ``end``, but for those that the parent has this program ignore.

    ``nohup`` ignores SIGHUP, and a shell without job control ignores SIGINT of what it starts in
    the background.
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
    click.echo(f"{program}: {sentence}", err=True)
    sys.exit(code)
