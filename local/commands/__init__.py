"""The command line: ``tidemark``."""

from __future__ import annotations

import importlib
import signal
import sys
from typing import NoReturn, TextIO, cast

import click
from click.exceptions import NoArgsIsHelpError

from local.commands.output import StandardOutput
from suites.refusal import Refused

_FAILED, _REFUSED = 1, 2
_INTERRUPTED = 130  # 128 and the number of SIGINT, as shells have it

# By module and function; a module is imported when it is asked for: --help answers at once.
_COMMANDS = {
    "run": "run.command",
    "stop": "stop.command",
    "history": "history.command",
    "dashboard": "dashboard.command",
    "runs": "runs.command",
    "show": "show.command",
    "report": "report.command",
    "compare": "compare.command",
    "sql": "sql.command",
    "exclude": "exclusion.exclude",
    "include": "exclusion.include",
    "query": "query.command",
    "cost": "cost.command",
    "up": "up.command",
}


class _Commands(click.Group):
    def list_commands(self, _: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        module, function = _COMMANDS[name].split(".")
        command = getattr(importlib.import_module(f"local.commands.{module}"), function)
        assert isinstance(command, click.Command)
        return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="tidemark")
def tidemark() -> None:
    """Did this version get slower, and how sure are we?"""


def main() -> None:
    """Run the command line and end the process, with 0 if what was asked is done.

    What keeps it from that is one sentence on standard error after ``tidemark: ``. Exit code 1 is
    a failure, 2 an input that is not accepted, 130 an interrupt.
    """
    # A closed terminal or a cancelled job ends as Ctrl-C does: with no task left behind.
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup leaves it
            signal.signal(number, signal.default_int_handler)
    if sys.stdout is not None:  # as Python has it where it is closed
        sys.stdout = cast(TextIO, StandardOutput(sys.stdout))
    try:
        sys.exit(tidemark(prog_name="tidemark", standalone_mode=False))
    except Refused as refused:
        _end(_REFUSED, str(refused))
    except NoArgsIsHelpError as error:
        error.show()
        sys.exit(_REFUSED)
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "tidemark"
        sentence = _with_full_stop(error.format_message())
        _end(_REFUSED, f"{sentence} `{command} --help` says what is accepted.")
    except click.ClickException as error:
        _end(_FAILED, error.format_message())
    except click.Abort:
        _end(_INTERRUPTED, "interrupted")


def _with_full_stop(sentence: str) -> str:
    return sentence if sentence.endswith((".", "?")) else f"{sentence}."


def _end(code: int, why: str) -> NoReturn:
    click.echo(f"tidemark: {why}", err=True)
    sys.exit(code)
