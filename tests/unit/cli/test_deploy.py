"""The command line of the CDK that `tidemark deploy` runs."""

import shlex
import sys

import pytest
from click.testing import CliRunner

from tidemark.cli import deploy
from tidemark.cli.chosen_suite import systems
from tidemark.cli.deploy import cdk_words

APP = ["--app", f"{shlex.quote(sys.executable)} -m cdk.app"]
OUTPUT, SYSTEMS = ["--output", "/made"], ["-c", f"systems={systems()}"]


@pytest.mark.parametrize(
    ("only", "options", "words"),
    [
        (None, [], ["deploy", "--all", *APP, *OUTPUT, *SYSTEMS]),
        ("diff", ["--profile", "work"], ["diff", *APP, *OUTPUT, *SYSTEMS, "--profile", "work"]),
        ("synth", ["--output=/x"], ["synth", "--quiet", *APP, *SYSTEMS, "--output=/x"]),
        ("diff", ["-a", "/x"], ["diff", *OUTPUT, *SYSTEMS, "-a", "/x"]),
        ("diff", ["-c", "systems=/x"], ["diff", *APP, *OUTPUT, "-c", "systems=/x"]),
        ("diff", ["-csystems=/x"], ["diff", *APP, *OUTPUT, "-csystems=/x"]),
        ("diff", ["--context=systems=/x"], ["diff", *APP, *OUTPUT, "--context=systems=/x"]),
        ("bootstrap", ["--profile", "work"], ["bootstrap", "--profile", "work"]),
    ],
)
def test_the_cdk_gets_the_app_of_this_python_unless_options_say_otherwise(only, options, words):
    assert [*cdk_words(only, options, "/made")] == words


def test_an_install_without_the_cdk_names_the_extra(monkeypatch):
    monkeypatch.setattr(deploy, "find_spec", lambda _: None)

    missing = CliRunner().invoke(deploy.command).exception

    assert (type(missing), missing.name) == (ModuleNotFoundError, "aws_cdk")


@pytest.fixture
def npm(monkeypatch, tmp_path):
    """Return a function that sets the shell program of npm; keep what it installs in a folder."""
    program = tmp_path / "bin" / "npm"
    program.parent.mkdir()
    monkeypatch.setattr(deploy.sys, "executable", str(program.with_name("python")))
    monkeypatch.setenv("TIDEMARK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(deploy, "_PROGRAM", deploy.Path("not", "there"))

    def set_program(text):
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(0o755)

    return set_program


def test_what_npm_cannot_install_is_one_sentence_and_leaves_nothing(npm, tmp_path):
    npm("exit 7")

    with pytest.raises(deploy.click.ClickException, match="npm ended with 7"):
        deploy.cdk_program()
    assert [*(tmp_path / "cache" / "cdk").iterdir()] == []


def test_of_two_first_deployments_at_once_both_have_the_command_line(npm, tmp_path):
    npm("mkdir node_modules")
    kept = deploy.cdk_program().parents[1]
    kept.rename(tmp_path / "other")
    # The other one ends while npm runs.
    npm(f"mkdir node_modules; mv {tmp_path}/other {kept}")

    assert deploy.cdk_program().parents[1] == kept
    assert [*kept.parent.iterdir()] == [kept]
