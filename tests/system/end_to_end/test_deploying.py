"""Commands of docs/deploy.md: deploy the app with the CDK and use it with the AWS CLI.

An empty cloud of this machine takes the place of an account.
"""

import json
import os
import re
import signal
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest

from cdk import release
from tests.system.end_to_end.command_line import TIDEMARK, tidemark, up
from tidemark.model.checkout import ROOT

# The CDK's commands take longer than 30 s.
pytestmark = pytest.mark.systems

AWS_CLI = ROOT / ".aws-cli" / "bin"
PAGE = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
BLOCKS = [
    re.findall(r"^\$ (.*)$", block, re.MULTILINE)
    for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
]
CDK_COMMANDS, TIDEMARK_COMMANDS, AWS_CLI_COMMANDS, (DESTROY,) = BLOCKS
LONG = ["--versions", "9.0.0", "--repetitions", "3", "--set", "records=1000000"]
QUICK = {"repetitions": 1, "records": 2000}
# Within `make test`, make would print the folders that it enters.
ALONE = "--no-print-directory"


@contextmanager
def empty_account(folder):
    """Yield the environment variables that point command lines to an empty cloud."""
    with up([TIDEMARK, "up", "--empty", "--state", folder / "account"]) as output:
        printed = dict(re.findall(r"^export (\w+)=(\S+)$", output, re.MULTILINE))
        yield {
            **{name: value for name, value in os.environ.items() if not name.startswith("AWS_")},
            **printed,
            "TIDEMARK_STATE": str(folder / "saved"),
            "PATH": f"{AWS_CLI}{os.pathsep}{os.environ['PATH']}",
        }


@pytest.fixture(scope="module")
def account(tmp_path_factory):
    with empty_account(tmp_path_factory.mktemp("cdk")) as environment:
        yield environment


def make(line, environment, *arguments):
    """Run a make command of the page, without an image since this machine has no Docker."""
    options = " ".join(["-c images=*=none", "--no-notices", *arguments])
    return subprocess.run(
        [*line.split(), ALONE, f"ARGS={options}"],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def assembly(tmp_path_factory, account):
    """Return the output folder of the page's first command."""
    folder = tmp_path_factory.mktemp("assembly")
    done = make(CDK_COMMANDS[0], account, f"--output {folder}")
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def in_account(assembly, account):
    before = make(CDK_COMMANDS[1], account, f"--app {assembly}")
    done = make(CDK_COMMANDS[2], account, f"--app {assembly}", "--require-approval never")
    assert done.returncode == 0, done.stdout + done.stderr
    return before, done


def test_the_cdk_deploys_its_diff_and_then_finds_no_difference(in_account, assembly, account):
    before, done = in_account
    assert before.returncode == 0, before.stderr
    assert "[+] AWS::StepFunctions::StateMachine " in before.stdout + before.stderr
    assert ":stateMachine:Tidemark-" in done.stdout + done.stderr
    after = make(CDK_COMMANDS[1], account, f"--app {assembly}")
    assert "Number of stacks with differences: 0" in after.stdout + after.stderr


def test_the_command_line_follows_a_run_of_the_account_to_its_report(in_account, account):
    first, *others = (line.split()[1:] for line in TIDEMARK_COMMANDS)
    quick = ["--repetitions", "1", "--set", "records=2000"]
    ran = tidemark(*first, *quick, env=account)

    assert ran.returncode == 0, ran.stdout + ran.stderr
    _, stack, named, link, *rest = ran.stdout.splitlines()
    assert stack == "Stack Tidemark in us-east-1 of account 123456789012."
    assert re.fullmatch(r"Run \d{8}T\d{6}Z-[0-9a-f]{6}", named)
    assert link.startswith("https://us-east-1.console.aws.amazon.com/states/home?")
    assert [line[:13] for line in rest[:2]] == ["trial 1 of 2 ", "trial 2 of 2 "]
    assert Path(rest[-2].removeprefix("Report: ")).read_text().startswith("# RocksDB")
    for arguments in others:
        done = tidemark(*arguments, env=account)
        assert named.split()[1] in done.stdout, done.stderr


def test_a_run_of_the_account_continues_after_ctrl_c_until_a_stop(in_account, account):
    with subprocess.Popen(
        [TIDEMARK, "run", "--aws", *LONG], env=account, stdout=subprocess.PIPE, text=True
    ) as process:
        run = next(line.split()[1] for line in process.stdout if line.startswith("Run "))
        process.send_signal(signal.SIGINT)
        output = process.stdout.read()
    assert process.returncode == 130
    assert output.endswith(
        f"The run continues; `tidemark stop {run} --aws` ends it, "
        f"`tidemark show {run} --aws` shows its results.\n"
    )
    stopped = tidemark("stop", run, "--aws", "--reason", "seen enough", env=account)
    assert stopped.stdout.startswith(f"Run {run} is aborted, 0 of 3 trials kept; resume it with ")
    assert stopped.stdout.endswith(f"`tidemark run --resume {run} --aws`\n")


def test_the_aws_cli_starts_a_run_and_fetches_its_figures_and_report(in_account, account, tmp_path):
    lines = [re.sub(r"'(\{.*?\})'", quicker, line) for line in AWS_CLI_COMMANDS]
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", "\n".join(lines)],
        cwd=tmp_path, env=account, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr
    assert '"type": "ExecutionSucceeded"' in done.stdout
    (ingest,) = re.findall(r"9\.8\.4\s+ingest_rate\s+([\d.]+)\s+records/s", done.stdout)
    newest = max(tmp_path.glob("reports/*/report.md"))
    assert f"{float(ingest):,.1f}" in newest.read_text()


def quicker(match):
    return f"'{json.dumps({**json.loads(match[1]), **QUICK})}'"


def test_the_aws_cli_alone_deploys_the_template_and_a_run_is_measured_there(tmp_path):
    out = tmp_path / "template"
    assert release.main([str(out)]) == 0
    template = json.loads((out / "tidemark.template.json").read_text(encoding="utf-8"))
    given = {each: "none" for each in template["Parameters"] if each.startswith("Image")}
    (block,) = re.findall(r"```sh\n(aws cloudformation package.*?)```", PAGE, re.DOTALL)
    lines = re.sub(r" Key=\S+ ImageRocksdb=\S+", "".join(f" {n}=none" for n in given), block)
    decided = {"vpc-…": "$vpc", "subnet-…,subnet-…": "$subnets", "=…": "=perf@example.com"}
    for placeholder, value in {**decided, "BUCKET": "bundle"}.items():
        lines = lines.replace(placeholder, value)
    before = """
    aws s3 mb s3://bundle
    vpc=$(aws ec2 describe-vpcs --query 'Vpcs[0].VpcId' --output text)
    subnets=$(aws ec2 describe-subnets --query 'Subnets[:2].SubnetId | join(`,`, @)' --output text)
    """
    with empty_account(tmp_path) as environment:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", before + lines],
            cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        sized = ["--repetitions", "1", "--set", "records=2000", "--layout", "trials"]
        ran = tidemark("run", "rocksdb", "--aws", *sized, env=environment)

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert re.search(r"compaction", ran.stdout)


def test_destroy_takes_another_stack_name():
    done = subprocess.run(
        ["make", ALONE, "--dry-run", "destroy", "STACK=Perf"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert "Perf-Data stays" in done.stdout
    assert done.stdout.splitlines()[-1].split()[1:] == ["destroy", "Perf", "-c", "stackName=Perf"]


def test_destroy_names_the_stack_that_stays_and_would_delete_only_the_other(
    in_account, assembly, account
):
    # A cloud of one machine deletes no stack.
    done = make(DESTROY, account, f"--app {assembly}", "--force")

    lines = done.stdout.splitlines()
    assert lines[0].startswith("Tidemark is deleted: ")
    assert lines[1].startswith("Tidemark-Data stays, protected from deletion: ")
    said = done.stdout + done.stderr
    assert "Tidemark: destroy failed" in said
    assert "DeleteStack is not supported on one machine" in said
    assert "Tidemark-Data: dest" not in said
