"""ECS tasks on one machine, through the ECS API."""

import itertools
import json
import os
import re
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from local.cloud import tasks as ecs_tasks

SECONDS = 60  # how long a test waits for a task's end before it fails


@pytest.fixture
def workloads(tmp_path):
    (tmp_path / "workloads" / "load").mkdir(parents=True)
    return tmp_path / "workloads"


@pytest.fixture
def tasks(tmp_path, workloads, endpoint, logs, guard):
    endpoint.client("ecs").create_cluster(clusterName="tests")
    endpoint.client("logs").create_log_group(logGroupName="load")
    tasks = ecs_tasks.install(workloads, tmp_path / "state", endpoint, logs, guard)
    yield tasks
    tasks.close()


@pytest.fixture
def define(endpoint, tasks):
    """Return a way to define the task ``load`` with a Python script as its command."""
    return lambda script="", **container: endpoint.client("ecs").register_task_definition(
        **definition(script, **container)
    )


def definition(script="", *, task=None, **container):
    return {
        "family": "load",
        "requiresCompatibilities": ["FARGATE"],
        "networkMode": "awsvpc",
        "cpu": "1024",
        "memory": "2048",
        "containerDefinitions": [
            {
                "name": "main",
                "image": "an/image",
                "entryPoint": ["python", "-c"],
                "command": [script],
                "dockerLabels": {"tidemark.workload": "load"},
                "logConfiguration": {
                    "logDriver": "awslogs",
                    "options": {
                        "awslogs-group": "load",
                        "awslogs-region": "us-east-1",
                        "awslogs-stream-prefix": "trial",
                    },
                },
                **container,
            }
        ],
        **(task or {}),
    }


@pytest.fixture
def run(endpoint, tasks):
    """Return a way to run one task and have its ARN."""

    def run(**request):
        answer = endpoint.client("ecs").run_task(**{**REQUEST, **request})
        assert answer["failures"] == []
        return answer["tasks"][0]["taskArn"]

    return run


REQUEST = {
    "cluster": "tests",
    "taskDefinition": "load",
    "launchType": "FARGATE",
    "networkConfiguration": {"awsvpcConfiguration": {"subnets": ["subnet-1"]}},
}


@pytest.fixture
def ended(endpoint, tasks):
    """Return a way to wait until a task has stopped, and have its description."""

    def ended(arn):
        tasks.stopped(arn).result(SECONDS)
        (task,) = endpoint.client("ecs").describe_tasks(cluster="tests", tasks=[arn])["tasks"]
        return task

    return ended


@pytest.fixture
def lines(endpoint):
    """Return a way to read what a task has logged."""

    def lines(arn):
        events = endpoint.client("logs").get_log_events(
            logGroupName="load",
            logStreamName=f"trial/main/{arn.rsplit('/', 1)[1]}",
            startFromHead=True,
        )["events"]
        return [event["message"] for event in events]

    return lines


def override(*command, **variables):
    environment = [{"name": name, "value": value} for name, value in variables.items()]
    changed = {"name": "main", "environment": environment}
    return {"containerOverrides": [{**changed, "command": list(command)} if command else changed]}


def waits_for(path):
    return f"import pathlib, time\nwhile not pathlib.Path({str(path)!r}).exists(): time.sleep(0.01)"


def test_a_task_runs_its_command_in_the_folder_of_its_workload(
    define, run, ended, lines, workloads
):
    define("import os, sys; print(os.getcwd()); print(sys.executable)")
    arn = run()
    assert ended(arn)["containers"][0]["exitCode"] == 0
    assert lines(arn) == [str(workloads / "load"), sys.executable]


def test_a_task_goes_from_provisioning_to_running_to_stopped(
    define, endpoint, ended, tasks, tmp_path
):
    define(waits_for(tmp_path / "go"))
    ecs = endpoint.client("ecs")
    (provisioned,) = ecs.run_task(**REQUEST)["tasks"]
    assert provisioned["lastStatus"] == "PROVISIONING"
    arn = provisioned["taskArn"]
    (running,) = ecs.describe_tasks(cluster="tests", tasks=[arn])["tasks"]
    assert (running["lastStatus"], running["desiredStatus"]) == ("RUNNING", "RUNNING")
    assert not tasks.stopped(arn).done()
    (tmp_path / "go").touch()
    stopped = ended(arn)
    assert (stopped["lastStatus"], stopped["desiredStatus"]) == ("STOPPED", "STOPPED")
    moments = [stopped[at] for at in ("createdAt", "startedAt", "stoppingAt", "stoppedAt")]
    # The API tells milliseconds.
    assert all(first <= second for first, second in itertools.pairwise(moments))
    assert abs(datetime.now(UTC) - moments[-1]).total_seconds() < SECONDS


def test_a_task_is_described_with_all_that_a_reader_of_its_end_needs(define, run, ended):
    registered = define("raise SystemExit(3)")["taskDefinition"]
    arn = run()
    task = ended(arn)
    assert re.fullmatch(r"arn:aws:ecs:us-east-1:123456789012:task/tests/[0-9a-f]{32}", arn)
    assert task["taskDefinitionArn"] == registered["taskDefinitionArn"]
    assert task["clusterArn"] == "arn:aws:ecs:us-east-1:123456789012:cluster/tests"
    assert task["launchType"] == "FARGATE"
    assert task["group"] == "family:load"
    assert task["stopCode"] == "EssentialContainerExited"
    assert task["stoppedReason"] == "Essential container in task exited"
    (container,) = task["containers"]
    assert container["name"] == "main"
    assert container["lastStatus"] == "STOPPED"
    assert container["exitCode"] == 3
    assert container["taskArn"] == arn


def test_a_containers_image_digest_is_that_of_what_its_workload_holds(
    define, run, ended, workloads
):
    def digest():
        (container,) = ended(run())["containers"]
        return container["imageDigest"]

    define("pass")
    (workloads / "load" / "main.py").write_text("one")
    first = digest()
    (workloads / "load" / "__pycache__").mkdir()
    (workloads / "load" / "__pycache__" / "main.pyc").write_text("compiled")
    compiled = digest()
    (workloads / "load" / "main.py").write_text("two")

    assert re.fullmatch("sha256:[0-9a-f]{64}", first)
    assert compiled == first
    assert digest() != first


def test_a_task_that_a_signal_ended_has_128_and_the_signal_as_exit_code(define, run, ended):
    define("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert ended(run())["containers"][0]["exitCode"] == 137


def test_a_task_that_cannot_start_has_no_exit_code(define, run, ended):
    define(entryPoint=["no-such-program"])
    task = ended(run())
    assert task["stopCode"] == "TaskFailedToStart"
    assert task["stoppedReason"] == "Task failed to start"
    assert "startedAt" not in task
    (container,) = task["containers"]
    assert "exitCode" not in container
    assert container["reason"].startswith("CannotStartContainerError: no-such-program: ")


def test_a_task_without_its_log_group_does_not_start(define, run, ended, endpoint):
    endpoint.client("logs").delete_log_group(logGroupName="load")
    define("print('lost')")
    task = ended(run())
    assert task["stopCode"] == "TaskFailedToStart"
    assert task["containers"][0]["reason"].startswith("ResourceInitializationError: ")


def test_stdout_and_stderr_are_logged_line_by_line_before_the_end_is_told(
    define, run, ended, lines
):
    define("""
import sys
for number in range(5000):
    print(number, file=(sys.stdout, sys.stderr)[number % 2], flush=True)
print("unfinished", end="")
""")
    arn = run()
    ended(arn)
    assert lines(arn) == [*map(str, range(5000)), "unfinished"]


def test_a_task_has_a_clean_environment_with_its_variables_and_the_cloud(
    define, run, ended, lines, endpoint, monkeypatch
):
    monkeypatch.setenv("SECRET_OF_THE_HOST", "1")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:3128")
    define(
        "import json, os; print(json.dumps(dict(os.environ)))",
        task={"taskRoleArn": "arn:aws:iam::123456789012:role/loader"},
        environment=[{"name": "RECORDS", "value": "10"}, {"name": "VERSION", "value": "8.8.1"}],
    )
    arn = run(overrides=override(VERSION="9.8.4"))
    ended(arn)
    environment = json.loads(lines(arn)[0])
    assert "SECRET_OF_THE_HOST" not in environment
    assert environment["RECORDS"] == "10"
    assert environment["VERSION"] == "9.8.4"
    assert environment["AWS_ENDPOINT_URL"] == endpoint.url
    assert environment["AWS_ACCESS_KEY_ID"] == "loader"
    assert environment["AWS_EXECUTION_ENV"] == "AWS_ECS_FARGATE"
    assert environment["HTTPS_PROXY"] == "http://proxy:3128"
    assert environment["PATH"].split(":")[0] == str(Path(sys.executable).parent)
    assert os.access(environment["TIDEMARK_UV"], os.X_OK)


def test_a_task_s_scratch_folder_is_its_own_and_is_gone_when_it_has_stopped(
    define, run, ended, lines
):
    define("import tempfile; print(tempfile.mkdtemp())")
    first, second = run(), run()
    ended(first)
    ended(second)
    folders = [Path(lines(arn)[0]).parent for arn in (first, second)]
    assert folders[0] != folders[1]
    assert not any(folder.exists() for folder in folders)


def test_an_override_replaces_the_command(define, run, ended, lines):
    define("print('defined')")
    arn = run(overrides=override("print('overridden')"))
    ended(arn)
    assert lines(arn) == ["overridden"]


def test_a_stopped_task_may_end_by_itself(define, run, ended, lines, endpoint, tmp_path):
    define(f"""
import pathlib, signal, sys, time
def end(*_):
    print("told to stop", flush=True)
    sys.exit(7)
signal.signal(signal.SIGTERM, end)
pathlib.Path({str(tmp_path / "up")!r}).touch()
time.sleep(600)
""")
    arn = run()
    wait_for(tmp_path / "up")
    endpoint.client("ecs").stop_task(cluster="tests", task=arn, reason="the run was aborted")
    task = ended(arn)
    assert task["stopCode"] == "UserInitiated"
    assert task["stoppedReason"] == "the run was aborted"
    assert task["containers"][0]["exitCode"] == 7
    assert lines(arn) == ["told to stop"]


def test_a_stopped_task_that_does_not_end_is_killed_after_its_stop_timeout(
    define, run, ended, endpoint, tmp_path
):
    define(
        f"""
import pathlib, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
pathlib.Path({str(tmp_path / "up")!r}).touch()
time.sleep(600)
""",
        stopTimeout=1,
    )
    arn = run()
    wait_for(tmp_path / "up")
    endpoint.client("ecs").stop_task(cluster="tests", task=arn)
    task = ended(arn)
    assert task["stopCode"] == "UserInitiated"
    assert task["containers"][0]["exitCode"] == 137


def test_what_a_task_started_ends_with_it(define, run, ended, lines, has_ended):
    define("import subprocess; print(subprocess.Popen(['sleep', '600']).pid)")
    arn = run()
    ended(arn)
    assert has_ended(lines(arn)[0])


def test_a_program_that_left_its_group_does_not_keep_its_task_from_stopping(
    define, run, ended, lines
):
    define("""
import subprocess
print(subprocess.Popen(["sleep", "600"], start_new_session=True).pid)
""")
    arn = run()
    assert ended(arn)["lastStatus"] == "STOPPED"
    os.kill(int(lines(arn)[0]), 9)


def test_closing_kills_every_task(define, run, tasks, endpoint):
    define("import time; time.sleep(600)")
    arns = [run(), run()]
    ecs = endpoint.client("ecs")
    tasks.close()
    assert all(tasks.stopped(arn).done() for arn in arns)
    tasks.replace_methods()
    described = ecs.describe_tasks(cluster="tests", tasks=arns)["tasks"]
    assert [task["containers"][0]["exitCode"] for task in described] == [137, 137]
    with pytest.raises(ClientError, match="is closing"):
        run()


def test_several_tasks_of_one_request_are_tasks_of_their_own(define, endpoint, ended):
    define("pass")
    answer = endpoint.client("ecs").run_task(**REQUEST, count=3)
    arns = {task["taskArn"] for task in answer["tasks"]}
    assert len(arns) == 3
    assert {ended(arn)["lastStatus"] for arn in arns} == {"STOPPED"}


def test_a_request_that_is_repeated_starts_nothing_anew(define, run):
    define("pass")
    assert run(clientToken="once") == run(clientToken="once") != run(clientToken="twice")


def test_tasks_are_listed_by_their_family_and_their_status(define, run, ended, endpoint, tmp_path):
    define(waits_for(tmp_path / "go"))
    one, other = run(), run()
    ecs = endpoint.client("ecs")

    def listed(**by):
        return set(ecs.list_tasks(cluster="tests", **by)["taskArns"])

    assert listed() == {one, other}
    assert listed(family="load") == {one, other}
    assert listed(family="other") == set()
    (tmp_path / "go").touch()
    ended(one)
    ended(other)
    assert listed() == set()
    assert listed(desiredStatus="STOPPED") == {one, other}


def test_a_task_of_a_cluster_with_container_insights_is_logged_with_what_it_uses(
    define, run, ended, endpoint, tmp_path
):
    group = "/aws/ecs/containerinsights/watched/performance"
    endpoint.client("logs").create_log_group(logGroupName=group)
    endpoint.client("ecs").create_cluster(
        clusterName="watched", settings=[{"name": "containerInsights", "value": "enabled"}]
    )
    define(waits_for(tmp_path / "go"))
    run()
    watched = run(cluster="watched")

    found = []
    while not found:
        found = endpoint.client("logs").filter_log_events(logGroupName=group)["events"]
        time.sleep(0.05)
    (tmp_path / "go").touch()

    event = json.loads(found[0]["message"])
    assert (event["TaskId"], event["ClusterName"]) == (watched.rsplit("/", 1)[-1], "watched")


def test_an_unknown_task_is_missing(define, run, ended, endpoint):
    define("pass")
    arn = run()
    ended(arn)
    unknown = arn[:-1] + "x"
    answer = endpoint.client("ecs").describe_tasks(cluster="tests", tasks=[arn, unknown])
    assert [task["taskArn"] for task in answer["tasks"]] == [arn]
    assert answer["failures"] == [{"arn": unknown, "reason": "MISSING"}]
    with pytest.raises(ClientError, match="The referenced task was not found"):
        endpoint.client("ecs").stop_task(cluster="tests", task=unknown)


def test_a_task_of_another_cluster_is_missing(define, run, ended, endpoint):
    endpoint.client("ecs").create_cluster(clusterName="other")
    define("pass")
    arn = run()
    ended(arn)
    answer = endpoint.client("ecs").describe_tasks(cluster="other", tasks=[arn])
    assert answer["failures"] == [{"arn": arn, "reason": "MISSING"}]


def test_tasks_may_start_while_others_are_described(define, run, ended, endpoint):
    define("pass")
    arns = []
    ecs = endpoint.client("ecs")
    for _ in range(10):
        arns.append(run())
        ecs.describe_tasks(cluster="tests", tasks=arns)
    assert {ended(arn)["containers"][0]["exitCode"] for arn in arns} == {0}


def test_the_task_definition_of_a_template_can_be_run(endpoint, tasks, run, ended, lines):
    container = {
        "Name": "main",
        "Image": "an/image",
        "Essential": True,
        "EntryPoint": ["python3", "-c"],
        "Command": ["import os; print(os.environ['RECORDS'])"],
        "Environment": [{"Name": "RECORDS", "Value": "7"}],
        "DockerLabels": {"tidemark.workload": "load"},
        "LogConfiguration": {
            "LogDriver": "awslogs",
            "Options": {
                "awslogs-group": "load",
                "awslogs-region": "us-east-1",
                "awslogs-stream-prefix": "trial",
            },
        },
    }
    properties = {
        "Family": "load",
        "RequiresCompatibilities": ["FARGATE"],
        "NetworkMode": "awsvpc",
        "Cpu": "1024",
        "Memory": "2048",
        "ContainerDefinitions": [container],
    }
    template = {"Resources": {"T": {"Type": "AWS::ECS::TaskDefinition", "Properties": properties}}}
    endpoint.client("cloudformation").create_stack(
        StackName="stack", TemplateBody=json.dumps(template)
    )
    arn = run()
    assert ended(arn)["containers"][0]["exitCode"] == 0
    assert lines(arn) == ["7"]


@pytest.mark.parametrize(
    ("container", "words"),
    [
        ({"dockerLabels": {}}, "no label tidemark.workload; no image is run here"),
        ({"dockerLabels": {"tidemark.workload": "../x"}}, r"'\.\./x'.*the workloads are load"),
        ({"entryPoint": []}, "no entryPoint"),
        ({"logConfiguration": {"logDriver": "fluentd"}}, "log driver fluentd; accepted: awslogs"),
        ({"secrets": [{"name": "A", "valueFrom": "b"}]}, "has secrets"),
        ({"healthCheck": {"command": ["true"]}}, "has healthCheck"),
        ({"essential": False}, "accepted: one essential container"),
        ({"task": {"volumes": [{"name": "data"}]}}, "has volumes; accepted: none"),
        ({"task": {"requiresCompatibilities": ["EC2"]}}, "accepted: FARGATE"),
    ],
)
def test_what_a_process_cannot_honour_of_a_definition_is_refused_by_name(
    define, run, container, words
):
    define(**container)
    with pytest.raises(ClientError, match=words):
        run()


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({"launchType": "EC2"}, "launchType is EC2; accepted: FARGATE"),
        ({"networkConfiguration": {}}, "Network Configuration must be provided"),
        ({"count": 11}, "count is 11; accepted: 1 to 10"),
        ({"startedBy": "run"}, "RunTask request has startedBy"),
        ({"propagateTags": "SERVICE"}, "propagateTags is SERVICE; accepted: NONE, TASK_DEFINITION"),
        ({"enableExecuteCommand": True}, "RunTask request has enableExecuteCommand"),
        ({"cluster": "nowhere"}, "ClusterNotFoundException"),
        ({"taskDefinition": "nothing"}, "Unable to describe task definition"),
        ({"overrides": {"cpu": "2048"}}, "task override has cpu"),
        (
            {"overrides": {"containerOverrides": [{"name": "side", "command": ["x"]}]}},
            "named side is not a container in the TaskDefinition; accepted: main",
        ),
        (
            {"overrides": {"containerOverrides": [{"name": "main", "memory": 1}]}},
            "override of main has memory",
        ),
    ],
)
def test_what_cannot_be_honoured_of_a_request_is_refused_by_name(define, run, request_, words):
    define("pass")
    with pytest.raises(ClientError, match=words):
        run(**request_)


def test_services_are_refused_by_name(define, endpoint):
    define("pass")
    with pytest.raises(ClientError, match="CreateService is not supported on one machine"):
        endpoint.client("ecs").create_service(
            cluster="tests", serviceName="s", taskDefinition="load", desiredCount=1
        )


def wait_for(path):
    deadline = time.monotonic() + SECONDS
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} did not appear"
        time.sleep(0.01)


def test_what_the_tasks_of_a_killed_process_left_is_removed(
    tmp_path, workloads, endpoint, logs, guard
):
    left = tmp_path / "state" / "tasks" / "0" / "store"
    left.mkdir(parents=True)

    ecs_tasks.install(workloads, tmp_path / "state", endpoint, logs, guard).close()

    assert not left.exists()


def test_a_task_has_the_tags_of_its_definition_if_it_is_asked_for(define, run, ended, endpoint):
    ecs = endpoint.client("ecs")
    tags = [{"key": "cost-centre", "value": "4711"}]
    ecs.register_task_definition(**definition("pass", task={"tags": tags}))
    with_tags, without = run(propagateTags="TASK_DEFINITION"), run()
    ended(with_tags)
    ended(without)

    described = ecs.describe_tasks(cluster="tests", tasks=[with_tags, without], include=["TAGS"])
    assert [task["tags"] for task in described["tasks"]] == [tags, []]
