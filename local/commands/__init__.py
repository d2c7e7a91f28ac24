"""The command line: ``tidemark``."""

from __future__ import annotations

import importlib
import signal
import sys

import click

from suites.refusal import Refused

# By module and function; a module is imported when it is asked for: --help answers at once.
_COMMANDS = {
    "run": "run.command",
    "stop": "stop.command",
    "history": "history.command",
    "runs": "runs.command",
    "show": "show.command",
    "report": "report.command",
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
    """Run the command line; a refused input is one sentence and exit code 2."""
    # A closed terminal or a cancelled job ends as Ctrl-C does: with no task left behind.
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup leaves it
            signal.signal(number, signal.default_int_handler)
    try:
        tidemark()
    except Refused as refused:
        click.echo(f"tidemark: {refused}", err=True)
        sys.exit(2)
