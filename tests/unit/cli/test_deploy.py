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
        ("bootstrap", ["--profile", "work"], ["bootstrap", "--profile", "work"]),
    ],
)
def test_the_cdk_gets_the_app_of_this_python_unless_options_say_otherwise(only, options, words):
    assert [*cdk_words(only, options, "/made")] == words


def test_an_install_without_the_cdk_names_the_extra(monkeypatch):
    monkeypatch.setattr(deploy, "find_spec", lambda _: None)

    missing = CliRunner().invoke(deploy.command).exception

    assert (type(missing), missing.name) == (ModuleNotFoundError, "aws_cdk")


def test_what_npm_cannot_install_is_one_sentence_and_leaves_nothing(monkeypatch, tmp_path):
    program = tmp_path / "bin"
    program.mkdir()
    (program / "npm").write_text("#!/bin/sh\nexit 7\n")
    (program / "npm").chmod(0o755)
    monkeypatch.setattr(deploy.sys, "executable", str(program / "python"))
    monkeypatch.setenv("TIDEMARK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(deploy, "_PROGRAM", deploy.Path("not", "there"))

    with pytest.raises(deploy.click.ClickException, match="npm ended with 7"):
        deploy.cdk_program()
    assert [*(tmp_path / "cache" / "cdk").iterdir()] == []
