"""Hints at other commands, with the target of the command that gives them."""

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from tidemark.cli.target import target_options


@click.command
@target_options
def flags_of(target):
    click.echo(target.flags)


@pytest.mark.parametrize(
    ("arguments", "flags"),
    [
        ((), ""),
        (("--state", "/a b"), " --state '/a b'"),
        (("--aws",), " --aws"),
        (("--aws", "--stack", "Own", "--state", "/saved"), " --aws --stack Own --state /saved"),
    ],
)
def test_a_hint_has_the_options_of_the_command_line(arguments, flags):
    assert CliRunner().invoke(flags_of, arguments).output == f"{flags}\n"


def test_a_hint_has_the_absolute_path_of_a_relative_folder():
    output = CliRunner().invoke(flags_of, ["--state", "mine"]).output
    assert output == f" --state {Path('mine').resolve()}\n"


def test_a_hint_leaves_out_the_folder_of_the_environment():
    result = CliRunner(env={"TIDEMARK_STATE": "/elsewhere"}).invoke(flags_of)
    assert result.output == "\n"
