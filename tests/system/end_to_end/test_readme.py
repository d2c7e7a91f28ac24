"""Commands and figures of the README and of the pages of docs/."""

import json
import os
import re
import shlex
import subprocess

import boto3
import pytest

from tests.system.end_to_end.command_line import README_RUN, TIDEMARK, up
from tidemark.model.checkout import ROOT
from tidemark.model.request import resolve_request
from tidemark.model.suite_files import read_suites

README = ROOT / "README.md"
DOCS = ROOT / "docs"
# The commands of these need an account, wheels, a suite or a document of their own, which other
# tests have: test_deploying.py, test_verifying.py, test_wheels.py, test_guide.py, test_comment.py
# and test_published_documents.py.
OF_OTHERS = {"deploy.md", "first-account.md", "try.md", "your-system.md", "authors.md"}
# The README's come first: the commands of docs/ read their runs.
PAGES = [README, *sorted(page for page in DOCS.glob("*.md") if page.name not in OF_OTHERS)]
COMMANDS = dict.fromkeys(
    line
    for page in PAGES
    for line in re.findall(r"^\$ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
)
QUICK = ["--versions", "9.0.0", "--repetitions", "1", "--set", "records=2000"]
# The files of a reader, and files of the tests in their place.
OWN_FILES = {
    "nightly.csv": "tests/unit/client/history_cases/nightly.csv",
    "logs/": "tests/component/queries/sleeper.log",
}
# Continuous integration runs this command, which cannot run itself.
RUN_BY_CI = "make test"
UP = " up"
MEASURING = [line for line in COMMANDS if "run" in line.split()[:2]]
(RAN,) = [line for line in MEASURING if shlex.split(line)[1:] == README_RUN]
READING = [
    line for line in COMMANDS if line not in {*MEASURING, RUN_BY_CI} and not line.endswith(UP)
]


def command(line):
    """Return the words of a command line, with options for a short run."""
    words = [OWN_FILES.get(word, word) for word in shlex.split(line)]
    if words == ["make", "run"]:
        return [*words, f"ARGS={shlex.join(QUICK)}"]
    if "run" not in words[:2]:
        return words
    # A later command compares the named versions.
    return [*words, *(QUICK[2:] if "--versions" in words else QUICK)]


@pytest.fixture(scope="module")
def environment(state_with_run):
    """Return an environment with a state folder, in which the README's second run has ended."""
    # One machine ignores the AWS profile, even a missing one.
    return {**os.environ, "TIDEMARK_STATE": str(state_with_run()), "AWS_PROFILE": "not-there"}


def test_the_readme_has_its_two_commands():
    assert {"make run", RUN_BY_CI} <= COMMANDS.keys()


def output_of(line, environment):
    done = subprocess.run(
        command(line), cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_commands_that_measure_work_beside_the_command_that_keeps_a_cloud_up(environment):
    (line,) = [line for line in COMMANDS if line.endswith(UP)]
    with up(command(line), cwd=ROOT, env=environment) as output:
        assert output.splitlines()[-1].startswith("Ctrl-C")
        assert_an_sdk_reaches_the_cloud(output)
        for measuring in MEASURING:
            if measuring != RAN:
                said = output_of(measuring, environment)
                assert "--dry-run" in measuring or re.search(r", run by process \d+\.\n", said)


def assert_an_sdk_reaches_the_cloud(output):
    variables = dict(re.findall(r"export (\w+)=(\S+)", output))
    (machine,) = re.findall(r"^State machine: (\S+)$", output, re.MULTILINE)
    states = boto3.client(
        "stepfunctions",
        endpoint_url=variables["AWS_ENDPOINT_URL"],
        region_name=variables["AWS_REGION"],
        aws_access_key_id=variables["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=variables["AWS_SECRET_ACCESS_KEY"],
    )

    assert states.describe_state_machine(stateMachineArn=machine)["status"] == "ACTIVE"
    assert f"aws stepfunctions start-execution --state-machine-arn {machine}" in output


@pytest.mark.parametrize("line", READING)
def test_a_command_works(line, environment):
    output_of(line, environment)


def test_the_example_of_an_execution_input_is_accepted():
    page = (DOCS / "input.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"```json\n(.*?)\n```", page, re.DOTALL)

    assert resolve_request(json.loads(text), read_suites()).repetitions == 5


@pytest.fixture(scope="module")
def costs(environment):
    """Return the two totals of ``tidemark cost`` in USD, as pages print them."""
    words = [TIDEMARK, "cost", "--format", "json"]
    done = subprocess.run(
        words, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    usd = {row["of"]: row["usd"] for row in json.loads(done.stdout) if row["what"] == "in all"}
    return [f"{float(usd[row]):.2f}" for row in ("idle month", "run of rocksdb")]


@pytest.mark.parametrize("page", [README, DOCS / "cost.md"], ids=lambda page: page.name)
def test_the_costs_of_a_page_are_those_of_the_command(page, costs):
    assert re.findall(r"\*\*([\d.]+) USD\*\*", page.read_text(encoding="utf-8")) == costs
