"""How a command that is hinted at is told of the place of the one that hints."""

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from local.commands.target import target_options


@click.command
@target_options
def flags_of(target):
    click.echo(target.flags)


@pytest.mark.parametrize(
    ("given", "flags"),
    [
        ((), ""),
        (("--state", "/a b"), " --state '/a b'"),
        (("--aws",), " --aws"),
        (("--aws", "--stack", "Own", "--state", "/saved"), " --aws --stack Own --state /saved"),
    ],
)
def test_a_hint_names_the_place_that_the_command_line_named(given, flags):
    assert CliRunner().invoke(flags_of, given).output == f"{flags}\n"


def test_a_relative_folder_is_named_so_that_it_holds_in_any_other():
    said = CliRunner().invoke(flags_of, ["--state", "mine"]).output
    assert said == f" --state {Path('mine').resolve()}\n"


def test_a_folder_of_the_environment_holds_for_the_next_command_untold():
    done = CliRunner(env={"TIDEMARK_STATE": "/elsewhere"}).invoke(flags_of)
    assert done.output == "\n"
