"""Every command in the README, run."""

import json
import os
import re
import shlex
import subprocess

import pytest

from cdk.settings import Settings
from suites.files import ROOT, read_suites
from suites.request import ResumeRequest, RunRequest, settle
from tests.end_to_end.command_line import up

README = (ROOT / "README.md").read_text(encoding="utf-8")
# Those of "Deploy" take an account, or what stands for one: test_deploying.py.
LOCAL = re.sub(r"^## Deploy$.*?(?=^## )", "", README, flags=re.MULTILINE | re.DOTALL)
COMMANDS = re.findall(r"^\$ (.*)$", LOCAL, re.MULTILINE)
COST = README.split("## Cost")[1].split("## ")[0]
QUICK = ["--versions", "9.0.0", "--repetitions", "1", "--records", "2000"]
# Continuous integration is this very command: it cannot run itself.
RUN_BY_CI = "make test"


def command(line):
    """Return the words of a README's command, with what makes its run a short one."""
    words = shlex.split(line)
    if words == ["make", "run"]:
        return [*words, f"ARGS={shlex.join(QUICK)}"]
    if "run" not in words[:2]:
        return words
    # Who names versions compares them afterwards.
    return [*words, *(QUICK[2:] if "--versions" in words else QUICK)]


@pytest.fixture(scope="module")
def environment(new_state):
    """A state folder of these commands' own; the README's first command leaves results in it."""
    # What somebody's AWS profile says, or that it is not there, is nothing to one machine.
    return {**os.environ, "TIDEMARK_STATE": str(new_state()), "AWS_PROFILE": "not-there"}


def test_the_readme_has_its_two_commands():
    assert {"make run", RUN_BY_CI} <= set(COMMANDS)


@pytest.mark.parametrize(
    "line", [line for line in COMMANDS if line != RUN_BY_CI and not line.endswith("tidemark up")]
)
def test_a_command_of_the_readme_works(line, environment):
    done = subprocess.run(
        command(line), cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr


def test_up_works_until_it_is_interrupted(environment):
    (line,) = [line for line in COMMANDS if line.endswith("tidemark up")]

    with up(command(line), cwd=ROOT, env=environment) as said:
        assert said.splitlines()[-1].startswith("Ctrl-C")


def test_the_execution_input_of_the_readme_is_accepted():
    (text,) = re.findall(r"```json\n(.*?)\n```", README, re.DOTALL)

    assert settle(json.loads(text), read_suites()).repetitions == 3


def test_the_costs_of_the_readme_are_those_that_the_command_works_out(environment):
    words = [ROOT / ".venv" / "bin" / "tidemark", "cost", "--format", "json"]
    done = subprocess.run(
        words, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    usd = {row["of"]: row["usd"] for row in json.loads(done.stdout) if row["what"] == "in all"}

    idle, run = re.findall(r"\*\*([\d.]+) USD", COST)
    assert f"{float(usd['idle month']):.2f}" == idle
    assert f"{float(usd['run of rocksdb']):.2f}" == run


def test_every_field_of_the_input_is_explained():
    section = README.split("## What goes in")[1].split("## ")[0]

    fields = {*RunRequest.model_fields, *ResumeRequest.model_fields}
    assert set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)) == fields


def test_every_setting_is_explained():
    section = README.split("## Deploy")[1].split("## ")[0]

    assert set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)) == {
        field.alias for field in Settings.model_fields.values()
    }
