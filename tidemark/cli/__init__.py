"""The command line: ``tidemark``."""

from __future__ import annotations

import errno
import importlib
import signal
import sys
from typing import NoReturn, TextIO, cast

import click
from click.exceptions import NoArgsIsHelpError, NoSuchCommand

from tidemark.cli.standard_output import StandardOutput
from tidemark.model.checkout import ROOT
from tidemark.model.refusal import Refused
from tidemark.model.sentences import did_you_mean

# The wheel installs tidemark alone; the folders beside it are found from the checkout.
sys.path.append(str(ROOT))

_FAILED, _REFUSED = 1, 2
_INTERRUPTED = 130  # 128 and the number of SIGINT, as shells have it

# The function of each command and its line in the list, as texts: --help imports no command.
# A test compares each line with the docstring of its command.
COMMANDS = {
    "run": ("run.command", "Measure versions of SUITE (rocksdb) with the real state machine."),
    "stop": ("stop.command", "End RUN, which another terminal started."),
    "history": ("history.command", "Show the rates of each version of SUITE over all runs."),
    "import": (
        "import_figures.command",
        "Add the published figures of FILE to the stored results.",
    ),
    "dashboard": ("dashboard.command", "Write the dashboard of all figures as one HTML page."),
    "runs": ("runs.command", "List the runs of SUITE, or of all suites, the newest first."),
    "show": ("show.command", "Show the results and the end of RUN, or of the newest run."),
    "report": ("report.command", "Write the report of RUN again from its stored results."),
    "artefacts": ("artefacts.command", "List the files that the tasks of RUN left, or save them."),
    "compare": ("compare.command", "Compare version NEW with version BASE."),
    "bisect": (
        "bisect.command",
        "Find the first version after BASE, up to NEW, that is slower.",
    ),
    "sql": ("sql.command", "Query the tables of results with a SELECT in Athena's SQL."),
    "exclude": ("exclude.exclude", "Leave a run, or one trial of it, out of every figure."),
    "include": ("exclude.include", "Include an excluded run or trial in the figures again."),
    "acknowledge": (
        "acknowledge.command",
        "Accept the new level of a metric since RUN, until a day.",
    ),
    "query": ("query.command", "Run a Logs Insights query over log files or stored logs."),
    "suite": ("suite.command", "Write and check the files of systems under test."),
    "doctor": ("doctor.command", "Check everything that is stored, and say what is damaged."),
    "cost": ("cost.command", "Show what the stacks cost idle in a month and what a run costs."),
    "up": ("up.command", "Keep the local cloud up for the AWS CLI or any AWS SDK."),
}


class _Commands(click.Group):
    def list_commands(self, _: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, function = COMMANDS[name][0].split(".")
        command = getattr(importlib.import_module(f"tidemark.cli.{module}"), function)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except NoSuchCommand as error:
            name = error.command_name
            sentence = f"No such command {name!r}{did_you_mean(name, COMMANDS)}"
            raise click.UsageError(sentence, ctx) from None

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="tidemark")
def tidemark() -> None:
    """Did this version get slower, and how sure are we?"""


def main() -> None:
    """Run the command line and end the process, with exit code 0 after a success.

    An error is one sentence on standard error after ``tidemark: ``. Its exit code is 1 for a
    failure, 2 for an input that is not accepted, 130 for an interrupt.
    """
    _end_as_by_ctrl_c()
    if sys.stdout is not None:  # None if it is closed
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
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EDQUOT}:
            raise
        place = error.filename or "the state folder"
        _end(_FAILED, f"{place} cannot be written: {error.strerror}; what was stored is kept")
    except click.Abort:
        _end(_INTERRUPTED, "interrupted")


def _end_as_by_ctrl_c() -> None:
    """Let a closed terminal or a cancelled job act as Ctrl-C: no task is left behind."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup ignores SIGHUP
            signal.signal(number, signal.default_int_handler)


def _with_full_stop(sentence: str) -> str:
    return sentence if sentence.endswith((".", "?", "?)")) else f"{sentence}."


def _end(code: int, sentence: str) -> NoReturn:
    click.echo(f"tidemark: {sentence}", err=True)
    sys.exit(code)
