"""Runs that measure instances which exist: stand-ins in the cloud that `tidemark up` keeps."""

import json
import os
import re
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import groupby
from pathlib import Path

import boto3
import pytest

from onebox.app import ACCOUNT
from onebox.cloud.cloud import start_cloud
from tests.system.end_to_end.command_line import TIDEMARK, tidemark, until_killed, up
from tidemark.model.checkout import ROOT
from tidemark.one_machine.app import deploy, machine_app
from tidemark.store import keys
from tidemark.store.claims import Claim

pytestmark = pytest.mark.systems
SYSTEM = Path(__file__).parent / "system"
POLL_SECONDS, MOST_POLLS = 0.1, 3000


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    """Yield a function that runs commands beside `tidemark up`, its clients and its variables."""
    environment = environment_of(tmp_path_factory.mktemp("state"))
    with up([TIDEMARK, "up"], env=environment) as output:
        yield lambda *words: tidemark(*words, env=environment), clients(output), environment


def environment_of(state):
    return {**os.environ, "TIDEMARK_SYSTEMS": str(SYSTEM), "TIDEMARK_STATE": str(state)}


def clients(output):
    """Return clients of the cloud that `tidemark up` has begun with this output."""
    printed = dict(re.findall(r"^export (\w+)=(\S+)$", output, re.MULTILINE))
    session = boto3.Session(
        region_name=printed["AWS_DEFAULT_REGION"],
        aws_access_key_id=printed["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=printed["AWS_SECRET_ACCESS_KEY"],
    )
    return {
        service: session.client(service, endpoint_url=printed["AWS_ENDPOINT_URL"])
        for service in ("s3", "events")
    }


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


def await_state(events, rule, state):
    for _ in range(MOST_POLLS):
        if events.describe_rule(Name=rule)["State"] == state:
            return
        time.sleep(POLL_SECONDS)
    pytest.fail(f"rule {rule} was not {state} within {MOST_POLLS * POLL_SECONDS:g} s")


def test_two_instances_of_both_generations_are_measured_at_their_own_versions(command):
    run, account, _ = command
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
    run, account, _ = command
    make(account, "third", "pear-third", "config", "3.0")

    unknown = run("run", "pear", "--instance", "nobody")
    other = run("run", "pear", "--instance", "third", "--versions", "2.9")

    assert unknown.returncode == other.returncode == 2
    assert "instance: nobody is not known, since its properties cannot be read" in unknown.stderr
    assert "versions: 2.9 is not accepted, since third reports 3.0" in other.stderr


def test_a_run_whose_command_was_killed_enables_the_rules_at_its_end(command):
    _, account, environment = command
    make(account, "watched", "pear-watched", "config", "1.0")
    words = [TIDEMARK, "run", "pear", "--instance", "watched", "--repetitions", "1"]

    with subprocess.Popen(words, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL) as process:
        await_state(account["events"], "pear-watched-nightly", "DISABLED")
        process.kill()

    await_state(account["events"], "pear-watched-nightly", "ENABLED")


def age_claim(s3, bucket):
    """Let the claim on the suite be hours old: the execution of a new one may just not be known."""
    place = {"Bucket": bucket, "Key": keys.claim("pear")}
    claim = Claim.model_validate_json(s3.get_object(**place)["Body"].read())
    older = claim.model_copy(update={"claimed_at": claim.claimed_at - timedelta(hours=1)})
    s3.put_object(**place, Body=older.model_dump_json().encode())


def test_the_next_cloud_enables_the_rules_that_a_killed_one_left_paused(tmp_path):
    environment, rule = environment_of(tmp_path), "pear-left-nightly"
    words = ["run", "pear", "--instance", "left"]
    with ThreadPoolExecutor() as thread:
        with until_killed([TIDEMARK, "up"], env=environment) as (_, output):
            account = clients(output)
            make(account, "left", "pear-left", "config", "1.0")
            running = thread.submit(tidemark, *words, env=environment)
            await_state(account["events"], rule, "DISABLED")
        assert running.result().returncode != 0

    with start_cloud(machine_app({"systems": str(SYSTEM)}), tmp_path) as cloud:
        stack = deploy(cloud, schedules=False)
        events, s3 = map(cloud.endpoint.client, ("events", "s3"))
        # EventBridge keeps the state of a rule, whatever happens to the program that has set it.
        events.put_rule(Name=rule, ScheduleExpression="rate(1 day)", State="DISABLED")
        age_claim(s3, stack.bucket)
        cloud.start_schedules()
        await_state(events, rule, "ENABLED")
        names = [each["Key"] for each in s3.list_objects_v2(Bucket=stack.bucket)["Contents"]]

    assert not [name for name in names if name.endswith("/restore.json")]
