"""Runs that measure instances which exist: stand-ins in the cloud that `tidemark up` keeps."""

import json
import os
import re
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path

import boto3
import pytest

from local.account import ACCOUNT
from tests.system.end_to_end.command_line import TIDEMARK, tidemark, up

pytestmark = pytest.mark.systems
SYSTEM = Path(__file__).parent / "system"


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    """Yield a function that runs a command beside `tidemark up`, and clients of the cloud."""
    environment = {
        **os.environ,
        "TIDEMARK_SYSTEMS": str(SYSTEM),
        "TIDEMARK_STATE": str(tmp_path_factory.mktemp("state")),
    }
    with up([TIDEMARK, "up"], env=environment) as output:
        printed = dict(re.findall(r"^export (\w+)=(\S+)$", output, re.MULTILINE))
        session = boto3.Session(
            region_name=printed["AWS_DEFAULT_REGION"],
            aws_access_key_id=printed["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=printed["AWS_SECRET_ACCESS_KEY"],
        )
        account = {
            service: session.client(service, endpoint_url=printed["AWS_ENDPOINT_URL"])
            for service in ("s3", "events")
        }
        yield lambda *words: tidemark(*words, env=environment), account


def make(account, instance, bucket, key, version):
    """Make an instance that reports a version and has a nightly rule."""
    rule = f"pear-{instance}-nightly"
    account["events"].put_rule(Name=rule, ScheduleExpression="rate(1 day)")
    account["s3"].create_bucket(Bucket=bucket)
    account["s3"].put_object(Bucket=bucket, Key=key, Body=f"# ours\npear.version={version}\n")


def states_until(running, events, rule):
    """Yield the state of a rule again and again until a command has ended, and once after it."""
    ended = False
    while not ended:
        ended = running.done()
        yield events.describe_rule(Name=rule)["State"]


def test_two_instances_of_both_generations_are_measured_at_their_own_versions(command):
    run, account = command
    bucket = f"pear-new-id-config-{ACCOUNT}"
    make(account, "new-id", bucket, "instance.properties", "2.1")
    make(account, "old", "pear-old", "config", "1.0")

    with ThreadPoolExecutor() as thread:
        running = thread.submit(run, "run", "pear", "--instance", "new-id")
        states = list(states_until(running, account["events"], "pear-new-id-nightly"))
    newer = running.result()
    older = run("run", "pear", "--instance", "old", "--versions", "1.0")

    assert newer.returncode == older.returncode == 0, newer.stdout + newer.stderr + older.stderr
    # Each of the two trials disables the rule and enables it again.
    assert [state for state, _ in groupby(states)] == ["ENABLED", "DISABLED"] * 2 + ["ENABLED"]
    sql = "SELECT version, value, package FROM rates ORDER BY run_id, trial"
    rates = json.loads(run("sql", sql, "--format", "json").stdout)
    assert [(row["version"], row["value"]) for row in rates] == [
        ("2.1", "6.0"), ("2.1", "6.0"), ("1.0", "3.0"), ("1.0", "3.0"),
    ]  # fmt: skip
    parameters = run("sql", "SELECT parameters FROM runs ORDER BY run_id", "--format", "json")
    assert [json.loads(row["parameters"]) for row in json.loads(parameters.stdout)] == [
        {"instance": "new-id"}, {"instance": "old"},
    ]  # fmt: skip
    compared = run("compare", "1.0", "2.1", "--suite", "pear").stdout
    assert "Parameter instance is old for 1.0 and new-id for 2.1" in compared
    assert "a verdict needs pairs of trials in one run" in compared


def test_an_instance_that_is_not_there_or_has_another_version_is_refused(command):
    run, account = command
    make(account, "third", "pear-third", "config", "3.0")

    unknown = run("run", "pear", "--instance", "nobody")
    other = run("run", "pear", "--instance", "third", "--versions", "2.9")

    assert unknown.returncode == other.returncode == 2
    assert "instance: nobody is not known, since its properties cannot be read" in unknown.stderr
    assert "versions: 2.9 is not accepted, since third reports 3.0" in other.stderr
