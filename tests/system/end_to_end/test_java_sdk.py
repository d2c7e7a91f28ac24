"""The AWS SDK for Java v2 in a task on one machine; Maven downloads it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.system.end_to_end.java_sdk.__main__ import PLACE
from tidemark.model.checkout import ROOT

pytestmark = pytest.mark.systems
PROGRAM = Path(__file__).with_name("java_sdk")


@pytest.fixture
def jars(tmp_path):
    copy = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
    mvn = ["mvn", "--quiet", "--batch-mode", "--file", PROGRAM / "pom.xml", copy]
    subprocess.run([*mvn, f"-DoutputDirectory={tmp_path / 'jars'}"], check=True)
    return tmp_path / "jars"


@pytest.fixture
def variables(tmp_path):
    """Return the variables of a task, in a cloud of another process: it replaces parts of moto."""
    words = [sys.executable, "-m", "tests.system.end_to_end.java_sdk", tmp_path / "state"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(words, cwd=ROOT, **pipes) as cloud:
        yield json.loads(cloud.stdout.readline())
        cloud.stdin.close()
    assert cloud.returncode == 0


def test_a_java_program_of_a_task_uses_what_its_role_may_and_nothing_else(variables, jars):
    done = subprocess.run(
        ["java", "-cp", f"{jars}/*", PROGRAM / "Client.java", "java"],
        env={"PATH": os.environ["PATH"], **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )

    refused = "403 The role java of a task is not allowed:"
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "async true",
        "sync true",
        f"s3 {refused} s3:PutObject on arn:aws:s3:::java/results/a.",
        "item true",
        f"dynamodb {refused} dynamodb:PutItem on arn:aws:dynamodb:{PLACE}:table/theirs.",
        "message compact",
        f"sqs {refused} sqs:GetQueueUrl on arn:aws:sqs:{PLACE}:theirs.",
    ]
