"""Lambda functions on one machine, through the Lambda API."""

import base64
import errno
import io
import json
import os
import re
import zipfile
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psutil
import pytest
from botocore.exceptions import ClientError

from onebox.cloud import environments
from onebox.cloud.functions import Functions
from onebox.cloud.logs import CloudWatchLogs
from onebox.cloud.processes import Guard
from onebox.cloud.runtime import ForkServer

ROLE = "arn:aws:iam::123456789012:role/functions"
POWERTOOLS = (
    "arn:aws:lambda:us-east-1:017000801446:layer:AWSLambdaPowertoolsPythonV3-python311-x86_64:7"
)


class Kept:
    """The fork server of all tests; the functions of one test cannot close it."""

    def __init__(self, server):
        self.start = server.start

    def close(self):
        pass


@pytest.fixture(scope="module")
def fork_server():
    """Return a fork server: to begin one takes much longer than most tests."""
    with Guard() as guard:
        server = ForkServer(guard)
        yield server
        server.close()


@pytest.fixture
def functions(tmp_path, fork_server, endpoint, logs, guard, monkeypatch):
    monkeypatch.setattr(environments, "ForkServer", lambda _: Kept(fork_server))
    endpoint.client("iam").create_role(RoleName="functions", AssumeRolePolicyDocument="{}")
    functions = Functions(tmp_path / "state", endpoint, logs, guard)
    yield functions
    functions.close()


@pytest.fixture
def create(endpoint, functions):
    """Return a way to create function ``f`` from the source of its module ``index``."""

    def create(source, name="f", **configuration):
        return endpoint.client("lambda").create_function(
            FunctionName=name,
            **{
                "Runtime": "python3.13",
                "Role": ROLE,
                "Handler": "index.handler",
                "Code": {"ZipFile": asset(source)},
                **configuration,
            },
        )

    return create


@pytest.fixture
def invoke(endpoint, functions):
    """Return a way to invoke function ``f``; it returns payload, FunctionError and log tail."""

    def invoke(event=None, name="f", **options):
        answer = endpoint.client("lambda").invoke(
            FunctionName=name, Payload=json.dumps(event or {}), LogType="Tail", **options
        )
        tail = base64.b64decode(answer.get("LogResult", "")).decode()
        payload = answer["Payload"].read()
        return json.loads(payload) if payload else None, answer.get("FunctionError"), tail

    return invoke


def asset(source):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("index.py", source)
    return packed.getvalue()


def messages(endpoint, group="/aws/lambda/f"):
    events = endpoint.client("logs").filter_log_events(logGroupName=group)["events"]
    return [event["message"] for event in events]


def test_a_function_sees_the_variables_of_its_configuration_of_lambda_and_of_the_cloud(
    create, invoke, endpoint, monkeypatch
):
    monkeypatch.setenv("SECRET_OF_THE_HOST", "1")
    create(
        "import os\ndef handler(event, context): return dict(os.environ)",
        Environment={"Variables": {"POWERTOOLS_SERVICE_NAME": "tidemark"}},
        MemorySize=256,
    )
    environment, _, _ = invoke()
    assert "SECRET_OF_THE_HOST" not in environment
    assert environment["POWERTOOLS_SERVICE_NAME"] == "tidemark"
    assert environment["AWS_ENDPOINT_URL"] == endpoint.url
    assert environment["AWS_LAMBDA_FUNCTION_NAME"] == "f"
    assert environment["AWS_LAMBDA_FUNCTION_VERSION"] == "$LATEST"
    assert environment["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"] == "256"
    assert environment["AWS_LAMBDA_LOG_GROUP_NAME"] == "/aws/lambda/f"
    assert environment["_HANDLER"] == "index.handler"
    assert environment["LAMBDA_TASK_ROOT"] == environment["PYTHONPATH"]


def test_a_function_signs_with_the_key_of_its_role(create, invoke, endpoint, monkeypatch, tmp_path):
    config = tmp_path / ".aws" / "config"
    config.parent.mkdir()
    config.write_text("[default]\nrole_arn = arn:aws:iam::1:role/another\nsource_profile = x\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    create(
        "from botocore.session import Session\n"
        "def handler(event, context):\n"
        "    found = Session().get_credentials()\n"
        "    return [found.access_key, found.secret_key]"
    )

    assert invoke()[0] == list(endpoint.access_key(ROLE).values())


def test_the_key_of_a_function_is_in_no_environment_of_its_processes(
    create, invoke, endpoint, functions, tmp_path
):
    create("import os\ndef handler(event, context): return os.getpgrp()")
    group, _, _ = invoke()
    secret = endpoint.access_key(ROLE)["AWS_SECRET_ACCESS_KEY"]

    processes = [one.pid for one in psutil.process_iter() if os.getpgid(one.pid) == group]
    assert len(processes) > 1
    for process in processes:
        content = Path(f"/proc/{process}/environ").read_text()
        assert "PATH=" in content
        assert secret not in content

    file = tmp_path / "state" / "keys" / "functions"
    assert secret in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    functions.close()
    assert not file.parent.exists()


def test_the_context_holds_the_request_the_function_and_the_time_left(create, invoke):
    create(
        """
def handler(event, context):
    left = context.get_remaining_time_in_millis()
    return [context.aws_request_id, context.invoked_function_arn, left]
""",
        Timeout=20,
    )
    (request_id, arn, left), _, tail = invoke()
    assert f"START RequestId: {request_id} Version: $LATEST" in tail
    assert arn == "arn:aws:lambda:us-east-1:123456789012:function:f"
    assert 0 < left <= 20_000


def test_a_warm_function_keeps_its_process(create, invoke):
    create("import os\ndef handler(event, context): return os.getpid()")
    first, _, cold = invoke()
    second, _, warm = invoke()
    assert first == second
    assert "Init Duration" in cold
    assert "Init Duration" not in warm


def test_the_output_of_the_load_comes_before_the_start_line(create, invoke):
    create(
        "import os\nprint('loaded', os.getpid())\ndef handler(event, context): return os.getpid()"
    )
    pid, _, tail = invoke()
    assert tail.startswith(f"loaded {pid}\nSTART ")
    assert "Init Duration" in tail


def test_parallel_invocations_run_in_separate_processes(create, invoke, tmp_path):
    create(f"""
import os, pathlib, time
here = pathlib.Path({str(tmp_path)!r})
def handler(event, context):
    (here / str(event)).touch()
    while not (here / str(3 - event)).exists():  # each waits for the other
        time.sleep(0.01)
    return os.getpid()
""")
    with ThreadPoolExecutor() as threads:
        first, second = threads.map(invoke, [1, 2])
    assert first[1] is second[1] is None
    assert first[0] != second[0]


def test_an_exception_is_an_unhandled_function_error_with_its_type_and_trace(create, invoke):
    create("def handler(event, context): raise ValueError('no such version')")
    payload, error, tail = invoke()
    assert error == "Unhandled"
    assert payload["errorType"] == "ValueError"
    assert payload["errorMessage"] == "no such version"
    assert "line 1, in handler" in payload["stackTrace"][0]
    assert "[ERROR] ValueError: no such version\nTraceback" in tail


def test_a_failed_import_fails_the_invocation_and_names_the_module(create, invoke):
    create("import not_there")
    payload, error, tail = invoke()
    assert error == "Unhandled"
    assert payload["errorType"] == "Runtime.ImportModuleError"
    assert payload["errorMessage"] == "Unable to import module 'index': No module named 'not_there'"
    assert tail.endswith("Status: error\tError Type: Runtime.ImportModuleError")


def test_a_function_that_runs_too_long_is_killed(create, invoke, has_ended):
    create(
        """
import os, time
print("pid", os.getpid())
def handler(event, context): time.sleep(600)
""",
        Timeout=1,
    )
    payload, error, tail = invoke()
    assert error == "Unhandled"
    assert payload["errorType"] == "Sandbox.Timedout"
    assert re.fullmatch(
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z [0-9a-f-]{36} Task timed out after 1\.00 seconds",
        payload["errorMessage"],
    )
    assert payload["errorMessage"] in tail
    assert tail.endswith("Status: timeout")
    assert has_ended(re.search(r"pid (\d+)", tail)[1], seconds=0)


def test_a_function_that_needs_more_than_its_memory_is_killed_as_lambda_kills_it(create, invoke):
    create(
        "def handler(event, context): return len(bytearray(event['mib'] * 2**20))", MemorySize=256
    )

    assert invoke({"mib": 64})[:2] == (64 * 2**20, None)
    payload, error, tail = invoke({"mib": 300})
    assert (payload["errorType"], error) == ("Runtime.ExitError", "Unhandled")
    assert "Runtime exited with error: signal: killed" in payload["errorMessage"]
    assert tail.endswith("Status: error\tError Type: Runtime.ExitError")
    assert invoke({"mib": 1})[:2] == (2**20, None)


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        ("os._exit(3)", "Runtime exited with error: exit status 3"),
        ("os._exit(0)", "Runtime exited without providing a reason"),
        ("os.kill(os.getpid(), 9)", "Runtime exited with error: signal: killed"),
    ],
)
def test_a_dead_process_is_an_exit_error_and_the_next_invocation_gets_a_new_process(
    create, invoke, end, reason
):
    create(f"""
import os
def handler(event, context):
    if event.get("die"):
        {end}
    return "well"
""")
    payload, error, _ = invoke({"die": True})
    assert error == "Unhandled"
    assert payload["errorType"] == "Runtime.ExitError"
    assert payload["errorMessage"].endswith(f"Error: {reason}")
    assert invoke()[:2] == ("well", None)


def test_the_children_of_a_function_end_with_it(create, invoke, functions, has_ended):
    create("""
import subprocess
def handler(event, context): return subprocess.Popen(["sleep", "600"]).pid
""")
    pid, _, _ = invoke()
    assert not has_ended(pid, seconds=0)
    functions.close()
    assert has_ended(pid)


def test_output_is_logged_between_the_start_and_the_end_line(create, invoke, endpoint):
    create("""
import sys
print("loading")
def handler(event, context):
    print("to stdout")
    sys.stderr.write("to stderr, unfinished")
""")
    invoke()
    loading, start, stdout, stderr, end, report = messages(endpoint)
    assert (loading, stdout, stderr) == ("loading", "to stdout", "to stderr, unfinished")
    request_id = re.fullmatch(r"START RequestId: (\S{36}) Version: \$LATEST", start)[1]
    assert end == f"END RequestId: {request_id}"
    assert re.fullmatch(
        rf"REPORT RequestId: {request_id}\tDuration: \d+\.\d\d ms\tBilled Duration: \d+ ms\t"
        r"Memory Size: 128 MB\tMax Memory Used: [1-9]\d* MB\tInit Duration: \d+\.\d\d ms",
        report,
    )


def test_the_log_stream_is_named_by_day_version_and_environment(create, invoke, endpoint):
    create(
        "import os\ndef handler(event, context): return os.environ['AWS_LAMBDA_LOG_STREAM_NAME']"
    )
    name, _, _ = invoke()
    streams = endpoint.client("logs").describe_log_streams(logGroupName="/aws/lambda/f")
    assert [stream["logStreamName"] for stream in streams["logStreams"]] == [name]
    assert re.fullmatch(r"\d{4}/\d\d/\d\d/\[\$LATEST\][0-9a-f]{32}", name)


def test_a_function_logs_to_the_group_of_its_logging_configuration(create, invoke, endpoint):
    endpoint.client("logs").create_log_group(logGroupName="tidemark")
    create("def handler(event, context): print('here')", LoggingConfig={"LogGroup": "tidemark"})
    invoke()
    assert "here" in messages(endpoint, "tidemark")


def test_the_tail_is_the_last_four_kilobytes_of_the_log(create, invoke):
    create("def handler(event, context): print('x' * 10_000)")
    _, _, tail = invoke()
    assert len(tail) == 4096
    assert "REPORT RequestId" in tail


def test_metrics_printed_in_the_embedded_format_reach_cloudwatch(create, invoke, endpoint):
    create(
        """
from aws_lambda_powertools import Metrics
metrics = Metrics(namespace="Tidemark", service="tidemark")
@metrics.log_metrics
def handler(event, context):
    metrics.add_metric(name="Rate", unit="Count/Second", value=476190.5)
""",
        Layers=[POWERTOOLS],
    )
    _, error, tail = invoke()
    assert error is None, tail
    listed = endpoint.client("cloudwatch").list_metrics(Namespace="Tidemark")["Metrics"]
    assert [metric["MetricName"] for metric in listed] == ["Rate"]
    assert listed[0]["Dimensions"] == [{"Name": "service", "Value": "tidemark"}]


def test_each_invocation_puts_the_errors_metric(create, invoke, endpoint):
    create("def handler(event, context): return 1 / event['by']")
    invoke({"by": 0})
    invoke({"by": 1})

    now = datetime.now(UTC)
    (errors,) = endpoint.client("cloudwatch").get_metric_statistics(
        Namespace="AWS/Lambda", MetricName="Errors", Period=3600,
        Dimensions=[{"Name": "FunctionName", "Value": "f"}],
        StartTime=now - timedelta(minutes=30), EndTime=now + timedelta(minutes=30),
        Statistics=["SampleCount", "Sum"],
    )["Datapoints"]  # fmt: skip
    assert (errors["SampleCount"], errors["Sum"]) == (2, 1)


def test_a_function_of_a_template_keeps_its_layer_and_its_log_group(
    endpoint, functions, invoke, tmp_path
):
    endpoint.client("s3").create_bucket(Bucket="assets")
    endpoint.client("s3").put_object(
        Bucket="assets", Key="code.zip", Body=asset("def handler(event, context): print('hi')")
    )
    template = {
        "Resources": {
            "Group": {"Type": "AWS::Logs::LogGroup", "Properties": {"LogGroupName": "lambdas"}},
            "F": function_resource(
                LoggingConfig={"LogGroup": {"Ref": "Group"}}, Layers=[POWERTOOLS]
            ),
        }
    }
    endpoint.client("cloudformation").create_stack(
        StackName="stack", TemplateBody=json.dumps(template)
    )
    invoke()
    assert "hi" in messages(endpoint, "lambdas")


def function_resource(**properties):
    return {
        "Type": "AWS::Lambda::Function",
        "Properties": {
            "FunctionName": "f",
            "Handler": "index.handler",
            "Runtime": "python3.13",
            "Role": ROLE,
            "Code": {"S3Bucket": "assets", "S3Key": "code.zip"},
            **properties,
        },
    }


UNSUPPORTED = [
    {"Layers": ["arn:aws:lambda:us-east-1:123456789012:layer:own:1"]},
    {"VpcConfig": {"SubnetIds": ["subnet-1"], "SecurityGroupIds": ["sg-1"]}},
    {"FileSystemConfigs": [{"Arn": "arn:aws:elasticfilesystem:::a", "LocalMountPath": "/mnt/a"}]},
    {"PackageType": "Image"},
    {"Runtime": "nodejs22.x"},
    {"LoggingConfig": {"LogFormat": "JSON"}},
]


@pytest.mark.parametrize("configuration", UNSUPPORTED, ids=lambda settings: next(iter(settings)))
def test_an_unsupported_setting_of_a_function_is_refused_by_name(create, endpoint, configuration):
    with pytest.raises(ClientError, match=f"Function f has {next(iter(configuration))}"):
        create("def handler(event, context): pass", **configuration)
    assert endpoint.client("lambda").list_functions()["Functions"] == []


def test_an_unsupported_setting_in_a_template_is_refused_by_name(formation, functions):
    resource = function_resource(VpcConfig={"SubnetIds": ["subnet-1"], "SecurityGroupIds": []})
    with pytest.raises(ClientError, match="Function f has VpcConfig"):
        formation.create_stack(
            StackName="stack", TemplateBody=json.dumps({"Resources": {"F": resource}})
        )


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.ENOSPC, "EFSIOException"),
        (errno.EDQUOT, "EFSIOException"),
        (errno.EAGAIN, "ServiceException"),
    ],
)
@pytest.mark.parametrize(
    ("owner", "name"), [(environments.KeyFiles, "_write"), (environments.Sandbox, "_write")]
)
def test_a_function_that_the_machine_cannot_run_has_the_error_of_its_disk_or_of_lambda(
    create, invoke, monkeypatch, owner, name, number, code
):
    def fail(*_):
        raise OSError(number, os.strerror(number))

    create("def handler(event, context): return 1")
    with monkeypatch.context() as full:
        full.setattr(owner, name, fail)
        with pytest.raises(ClientError, match=rf"{code}.*f cannot be run: .*{os.strerror(number)}"):
            invoke()

    assert invoke()[:2] == (1, None)


def test_a_function_whose_output_cannot_be_stored_goes_on_and_the_cloud_says_so(
    create, invoke, monkeypatch, caplog
):
    def write(logs, group, stream, lines):
        if "printed" in lines:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        original(logs, group, stream, lines)

    original = CloudWatchLogs.write
    monkeypatch.setattr(CloudWatchLogs, "write", write)
    create("def handler(event, context):\n    print('printed')\n    return 1")

    assert invoke()[:2] == (1, None)
    assert caplog.messages == ["The log of f lacks lines: Input/output error"]


def test_the_code_of_a_function_cannot_be_changed(create, endpoint):
    create("def handler(event, context): pass")
    with pytest.raises(ClientError, match="UpdateFunctionCode is not supported on one machine"):
        endpoint.client("lambda").update_function_code(FunctionName="f", ZipFile=b"")


def test_an_unknown_function_is_not_found(invoke):
    with pytest.raises(ClientError, match=r"ResourceNotFoundException.*function:unknown") as raised:
        invoke(name="unknown")
    assert raised.value.response["ResponseMetadata"]["HTTPStatusCode"] == 404


def test_a_dry_run_runs_nothing(create, invoke, endpoint):
    create("def handler(event, context): print('ran')")
    assert invoke(InvocationType="DryRun")[0] is None
    assert endpoint.client("logs").describe_log_groups()["logGroups"] == []


def test_an_asynchronous_invocation_runs_in_the_background(create, functions, invoke, endpoint):
    create("def handler(event, context): print('got', event['number'])")
    assert invoke({"number": 7}, InvocationType="Event") == (None, None, "")
    functions.drain(60)
    assert "got 7" in messages(endpoint)


def test_an_asynchronous_event_is_tried_three_times_and_then_dropped_with_a_warning(
    create, functions, invoke, endpoint, caplog
):
    create("def handler(event, context): raise ValueError('not today')")
    invoke(InvocationType="Event")
    functions.drain(60)
    starts = [message for message in messages(endpoint) if message.startswith("START ")]
    assert len(starts) == 3
    assert "f failed in every attempt: " in caplog.text
    assert "not today" in caplog.text


def test_an_unfinished_event_does_not_block_closing(create, functions, invoke, caplog):
    create("import time\ndef handler(event, context): time.sleep(900)", Timeout=900)
    invoke(InvocationType="Event")
    functions.drain(0)
    assert "1 events were still being delivered after 0 s." in caplog.text


def test_an_asynchronous_event_above_one_megabyte_is_refused(create, invoke):
    create("def handler(event, context): pass")
    with pytest.raises(ClientError, match=r"RequestTooLargeException.*smaller than 1048576 bytes"):
        invoke("x" * 1_048_576, InvocationType="Event")


def test_an_unknown_kind_of_invocation_is_refused_by_name(create, endpoint):
    create("def handler(event, context): pass")
    with pytest.raises(ClientError, match="InvocationType Later is not supported"):
        endpoint.client("lambda").invoke(FunctionName="f", InvocationType="Later")


def test_a_request_above_six_megabytes_is_refused_with_its_size(create, invoke):
    create("def handler(event, context): pass")
    with pytest.raises(ClientError, match=r"RequestTooLargeException.*smaller than 6291456 bytes"):
        invoke("x" * 6_291_456)


def test_a_response_above_six_megabytes_is_a_function_error(create, invoke):
    create("def handler(event, context): return 'x' * 6_291_556")
    payload, error, _ = invoke()
    assert error == "Unhandled"
    assert payload["errorType"] == "Function.ResponseSizeTooLarge"


def test_a_request_that_is_no_json_is_refused(create, endpoint):
    create("def handler(event, context): pass")
    with pytest.raises(ClientError, match="InvalidRequestContentException"):
        endpoint.client("lambda").invoke(FunctionName="f", Payload=b"{'not': json}")
