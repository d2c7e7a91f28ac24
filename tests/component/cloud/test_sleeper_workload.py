"""Sleeper's workload with programs in the place of Sleeper's own, and the cloud of one machine."""

import importlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import uuid
import zipfile

import boto3
import pytest
from botocore.exceptions import ClientError

from onebox.cloud.containers import address_of
from tidemark.model.checkout import ROOT
from tidemark.store.keys import DATA

FOLDER = ROOT / "workloads" / "sleeper"
ROLE = "arn:aws:iam::123456789012:role/task"
PLACE = "us-east-1:123456789012"
OWN = "sleeper-tm0123456789abcdef"
ALLOWED = {
    "dynamodb:*": [f"arn:aws:dynamodb:{PLACE}:table/{OWN}-*"],
    "sqs:*": [f"arn:aws:sqs:{PLACE}:{OWN}-*"],
    "s3:*": [f"arn:aws:s3:::{OWN}-*", f"arn:aws:s3:::results/{DATA}*"],
}
# It signs as Sleeper does: for the relay alone, with a key that the cloud does not know.
DEPLOYMENT = """#!{python}
import http.client, os, sys, time
key = "Credential=test-access-key/20261123/us-east-1/s3/aws4_request"
signed = "SignedHeaders=host;x-amz-content-sha256;x-amz-date"
headers = {{
    "Authorization": f"AWS4-HMAC-SHA256 {{key}}, {{signed}}, Signature=0",
    "X-Amz-Content-Sha256": "UNSIGNED-PAYLOAD",
    "X-Amz-Date": time.strftime("%Y%m%dT%H%M%SZ", time.gmtime()),
}}
cloud = http.client.HTTPConnection(os.environ["AWS_ENDPOINT_URL"].removeprefix("http://"))
objects = {{"-data": b"", "-config": b"", "-config/tables/t": b"a=b", "-data/1": b"1"}}
for path, body in objects.items():
    cloud.request("PUT", f"/sleeper-{{sys.argv[-1]}}{{path}}", body, headers)
    answer = cloud.getresponse()
    answer.read()
    assert answer.status == 200, answer.status
sys.exit({code})
"""


@pytest.fixture
def variables(endpoint, tmp_path):
    """Return the environment of a task, whose role may have resources of its own."""
    iam = endpoint.client("iam")
    iam.create_role(RoleName="task", AssumeRolePolicyDocument="{}")
    statements = [
        {"Effect": "Allow", "Action": action, "Resource": resources}
        for action, resources in ALLOWED.items()
    ]
    policy = json.dumps({"Version": "2012-10-17", "Statement": statements})
    iam.put_role_policy(RoleName="task", PolicyName="p", PolicyDocument=policy)
    endpoint.client("ecs").register_task_definition(
        family="load",
        containerDefinitions=[{"name": "main", "image": "none", "memory": 512}],
        taskRoleArn=ROLE,
    )
    endpoint.client("s3").create_bucket(Bucket="results")
    return {
        **endpoint.environment(ROLE),
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "workloads" / "harness"),
        "TIDEMARK_ENGINE": "java",
        "TIDEMARK_TASKS": "4",
        "TIDEMARK_ADDRESS": address_of(uuid.uuid4().hex),
        "TIDEMARK_DATA": f"s3://results/{DATA}trial",
        "TIDEMARK_OWN": OWN,
        "TIDEMARK_PREPARED": str(tmp_path),
        "TMPDIR": str(tmp_path),
    }


@pytest.fixture
def modules(variables, monkeypatch):
    """Import modules of the workload as a task of it does."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    for folder in (FOLDER, FOLDER.parent / "harness"):
        monkeypatch.syspath_prepend(folder)
    names = ("relay", "upstream", "instance", "sleeper_workload")
    yield importlib.import_module
    for name in names:
        sys.modules.pop(name, None)


@pytest.fixture
def relay(modules):
    with modules("relay").Relay() as relay:
        yield relay


def sleeper(relay, service):
    """Return a client with the key that Sleeper signs with outside of AWS."""
    return boto3.client(
        service,
        endpoint_url=relay.url,
        region_name="us-east-2",
        aws_access_key_id="test-access-key",
        aws_secret_access_key="test-secret-key",
    )


def test_a_relay_signs_with_the_key_of_the_task_and_notes_what_is_made(relay, modules, endpoint):
    objects = sleeper(relay, "s3")
    objects.create_bucket(
        Bucket=f"{OWN}-a", CreateBucketConfiguration={"LocationConstraint": "us-east-2"}
    )
    objects.put_object(Bucket=f"{OWN}-a", Key="a b/+", Body=b"1" * 100_000)
    sleeper(relay, "dynamodb").create_table(
        TableName=f"{OWN}-b",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    for _ in range(2):  # as the SDK does after an answer that is lost
        sleeper(relay, "sqs").create_queue(QueueName=f"{OWN}-c")

    assert objects.get_object(Bucket=f"{OWN}-a", Key="a b/+")["Body"].read() == b"1" * 100_000
    assert sleeper(relay, "sts").get_caller_identity()["Account"] == "123456789012"
    assert relay.made == [("Bucket", f"{OWN}-a"), ("Table", f"{OWN}-b"), ("Queue", f"{OWN}-c")]

    foreign = ("Table", "theirs")
    with pytest.raises(ClientError, match="theirs"):
        modules("instance").remove([
            foreign, *relay.made, ("Bucket", f"{OWN}-d"), ("Queue", f"{OWN}-e"),
        ])  # fmt: skip
    names = [bucket["Name"] for bucket in endpoint.client("s3").list_buckets()["Buckets"]]
    assert not [name for name in names if name.startswith(OWN)]
    assert endpoint.client("dynamodb").list_tables()["TableNames"] == []
    assert "QueueUrls" not in endpoint.client("sqs").list_queues()


def test_a_relay_gives_no_more_rights_than_the_task_has(relay):
    with pytest.raises(ClientError, match=r"s3:GetObject on arn:aws:s3:::results/runs/a") as error:
        sleeper(relay, "s3").get_object(Bucket="results", Key="runs/a")
    assert error.value.response["ResponseMetadata"]["HTTPStatusCode"] == 403


def test_a_relay_answers_under_its_own_address_alone(relay):
    with socket.create_connection(relay.host.split(":")) as page:
        page.sendall(b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n")
        assert page.makefile("rb").readline().split()[1] == b"403"


def test_a_relay_closes_the_connection_of_another_user(relay, monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: 12345)

    with socket.create_connection(relay.host.split(":")) as stranger:
        assert stranger.recv(1) == b""


@pytest.mark.parametrize("code", [0, 3])
def test_an_instance_is_removed_when_its_service_is_stopped_or_its_deployment_fails(
    endpoint, variables, tmp_path, code
):
    java = tmp_path / "java"
    java.write_text(DEPLOYMENT.format(python=sys.executable, code=code))
    java.chmod(0o755)
    words = [sys.executable, "instance.py"]
    with subprocess.Popen(words, cwd=FOLDER, env=variables, stdout=subprocess.PIPE) as service:
        while service.poll() is None and not ready(variables["TIDEMARK_ADDRESS"]):
            time.sleep(0.05)
        if code == 0:
            note = endpoint.client("s3").get_object(
                Bucket="results", Key=f"{DATA}trial/config-bucket"
            )
            service.send_signal(signal.SIGTERM)
            assert note["Body"].read().decode() == f"{OWN}-config"
        output = service.stdout.read().decode()

    assert service.returncode == (143 if code == 0 else 1)
    assert "Removed 2 buckets, queues and tables" in output
    assert code == 0 or "ERROR  - DeployDockerInstance ended with exit code 3." in output
    names = [bucket["Name"] for bucket in endpoint.client("s3").list_buckets()["Buckets"]]
    assert not [name for name in names if name.startswith(OWN)]


def ready(address):
    try:
        socket.create_connection((address, 8080)).close()
    except OSError:
        return False
    return True


LINE = "[main] core.metrics.MetricsLogger INFO  - "
# Each task does a warm-up of half of the records, two jobs that count, and a larger one.
SIZES = (200, 400, 400, 600)


def wrote(rows, time="2.9 seconds"):
    return f"{LINE}Wrote {rows} rows to S3 in {time} at 200 per second\n"


def compacted(rows, rate):
    verbs = (f"compaction {verb} {rows} rows at {rate} per second" for verb in ("read", "wrote"))
    return "".join(f"{LINE}Compaction job a: {verb}\n" for verb in verbs)


OF_TASKS = [compacted(2 * size, rate) for size, rate in zip(SIZES, (50, 80, 100, 120), strict=True)]


def step(modules, monkeypatch, folder, name, lines):
    """Do a step whose program logs some lines."""
    workload = modules("sleeper_workload")
    monkeypatch.setattr(workload, "_SCRATCH", folder)
    for run in ("run_each", "run_jobs"):
        monkeypatch.setattr(workload, run, lambda *_, **__: "".join(lines).splitlines())
    monkeypatch.setattr(workload, "config_bucket", lambda: "config")
    monkeypatch.setenv("TIDEMARK_TASKS", "2")
    workload.STEPS[name](None, type("Configuration", (), {"records": 400, "jobs": 2}))


@pytest.mark.parametrize(
    ("name", "lines", "found"),
    [
        ("ingest", [*map(wrote, SIZES[:-1])], "200, 400, 400; expected 200, 400, 400, 600."),
        ("load", [*map(wrote, (200, 400, 399, 600))], "200, 400, 399, 600; expected "),
        ("ingest", [], "none; expected 200"),
        ("compact", [], "none; expected 400"),
        ("compact", OF_TASKS[:-1], "400, 800, 800; expected 400, 800, 800, 1200."),
        ("compact", [OF_TASKS[1], OF_TASKS[0], *OF_TASKS[2:]], "800, 400, 800, 1200; expected "),
        ("compact", [*OF_TASKS[:3], OF_TASKS[3].replace("wrote 1200", "wrote 9")], "800, 9; "),
    ],
)
def test_a_program_has_to_log_every_record_of_each_job(
    modules, monkeypatch, tmp_path, name, lines, found
):
    checks = modules("harness.task")

    with pytest.raises(checks.CheckFailedError, match=re.escape(found)):
        step(modules, monkeypatch, tmp_path, name, lines)


@pytest.mark.parametrize(
    ("name", "lines", "share"),
    [
        # A job takes 3 s, and the larger one 4 s: two of the 3 s are work.
        (
            "ingest",
            [*[wrote(rows, "3 seconds") for rows in SIZES[:3]], wrote(600, "4 seconds")],
            2 / 3,
        ),
        # 800 rows at 100 a second are 8 s, and 1,200 at 120 are 10 s.
        ("compact", OF_TASKS, 4 / 8),
        ("ingest", [*map(wrote, SIZES[:3]), wrote(600, "1 minute 2 seconds")], 1),
    ],
)
def test_the_share_of_work_follows_from_a_larger_job(
    modules, monkeypatch, tmp_path, capsys, name, lines, share
):
    step(modules, monkeypatch, tmp_path, name, lines)

    assert f".Work INFO  - Share of work: {share:.4f}\n" in capsys.readouterr().out


def test_the_lines_of_the_first_and_the_last_job_are_marked_so_that_no_query_counts_them(
    modules, relay, tmp_path, capfd
):
    upstream, java = modules("upstream"), tmp_path / "java"
    java.write_text("#!/bin/sh\nfor n in 1 2 3; do echo begin $n; echo end $n; done\n")
    java.chmod(0o755)

    lines = upstream.run_jobs(relay, upstream.COMPACT, "x", ends=re.compile("^end"), jobs=3)

    shown = capfd.readouterr().out.splitlines()
    assert [line for line in shown if not line.startswith("not counted: ")] == ["begin 2", "end 2"]
    assert "".join(lines).split("\n")[:3] == ["begin 1", "end 1", "begin 2"]


def test_a_program_that_runs_several_times_is_one_process(modules, relay, tmp_path):
    upstream, java = modules("upstream"), tmp_path / "java"
    java.write_text('#!/bin/sh\necho "$@"\n')
    java.chmod(0o755)

    (line,) = upstream.run_each(
        relay, upstream.INGEST, [("id", "t", "1"), ("id", "t", "2")], re.compile("x")
    )

    words = line.split()
    assert words[-2:] == [upstream.INGEST, "id,t,1;id,t,2"]
    assert words[-3].endswith("/Repeat.java")


@pytest.mark.parametrize("rust", [True, False])
def test_the_engine_datafusion_needs_the_part_in_rust(
    modules, endpoint, monkeypatch, tmp_path, rust
):
    name = "natives/x86_64-unknown-linux-gnu/release/libsleeper_df.so" if rust else "natives/"
    with zipfile.ZipFile(tmp_path / "foreign-bridge-0.36.1.jar", "w") as jar:
        jar.writestr(name, "")
    objects = endpoint.client("s3")
    objects.create_bucket(Bucket=f"{OWN}-config")
    objects.put_object(Bucket=f"{OWN}-config", Key="tables/t", Body=b"a=b")
    monkeypatch.setenv("TIDEMARK_ENGINE", "datafusion")
    monkeypatch.setenv("TIDEMARK_TASKS", "4")
    instance, checks = modules("instance"), modules("harness.task")

    if not rust:
        with pytest.raises(checks.CheckFailedError, match="build them with Rust installed"):
            instance.configure([f"{OWN}-config"])
        return
    instance.configure([f"{OWN}-config"])
    stored = objects.get_object(Bucket=f"{OWN}-config", Key="tables/t")["Body"].read().decode()
    assert stored.split() == [
        "a=b", "sleeper.table.data.engine=DATAFUSION",
        "sleeper.table.compaction.files.batch.size=4",
    ]  # fmt: skip


def test_a_writer_without_its_folder_is_refused_before_it_writes(modules, monkeypatch, tmp_path):
    workload, checks = modules("sleeper_workload"), modules("harness.task")
    scratch = tmp_path / "file" / "scratch"
    scratch.parent.touch()
    monkeypatch.setattr(workload, "_SCRATCH", scratch)
    monkeypatch.setattr(workload, "run_each", lambda *_: pytest.fail("the program was started"))

    with pytest.raises(checks.CheckFailedError) as refused:
        workload.STEPS["ingest"](None, type("Configuration", (), {"records": 400, "jobs": 2}))

    assert str(refused.value) == (
        f"Sleeper's writers keep files in {scratch}, which this task cannot use: Not a directory; "
        f"on one machine the state folder may not lie in {scratch.parent}."
    )


@pytest.mark.parametrize(
    ("program", "is_measured"),
    [
        ("DEPLOY", False),
        ("INGEST", True),
        ("CREATE_JOBS", False),
        ("DISPATCH_JOBS", False),
        ("COMPACT", True),
    ],
)
def test_a_program_keeps_its_files_in_the_scratch_of_its_task(
    modules, relay, tmp_path, program, is_measured
):
    upstream, java = modules("upstream"), tmp_path / "java"
    java.write_text('#!/bin/sh\necho "$@"\n')
    java.chmod(0o755)

    (line,) = upstream.run(relay, getattr(upstream, program), "my-id")
    words = line.split()

    assert words[-2:] == [getattr(upstream, program), "my-id"]
    assert {f"-Djava.io.tmpdir={tmp_path}", f"-Dhadoop.tmp.dir={tmp_path}"} <= {*words}
    assert ("-XX:TieredStopAtLevel=1" in words) is not is_measured
