"""Hints at other commands, with the target of the command that gives them."""

import os
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from tidemark.cli.target import Target, console_link, place, target_options
from tidemark.client.deployed import Stack
from tidemark.model.parameters import MOST_TASKS


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


def test_a_stack_is_named_by_its_place_and_has_room_for_every_task_at_once():
    arn = "arn:aws:cloudformation:eu-west-2:123456789012:stack/Tidemark/8d6f"

    assert place(Stack(arn, {})) == "Tidemark in eu-west-2 of account 123456789012"
    assert Target(Path("/state"), "Tidemark").at_once == MOST_TASKS
    assert Target(Path("/state"), None).at_once == os.cpu_count()


@pytest.mark.parametrize(
    ("partition", "region", "console"),
    [
        ("aws", "eu-west-2", "https://eu-west-2.console.aws.amazon.com"),
        ("aws-cn", "cn-north-1", "https://cn-north-1.console.amazonaws.cn"),
        ("aws-iso", "us-iso-east-1", None),
    ],
)
def test_the_link_to_an_execution_leads_to_the_console_of_its_partition(partition, region, console):
    arn = f"arn:{partition}:states:{region}:1:execution:Tidemark:x"

    page = f"{console}/states/home?region={region}#/v2/executions/details/{arn}"
    assert console_link(arn) == (page if console else None)
