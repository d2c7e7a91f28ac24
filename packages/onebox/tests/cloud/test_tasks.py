"""ECS tasks on one machine, through the ECS API."""

import errno
import itertools
import json
import os
import re
import socket
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from onebox.app import Programs
from onebox.cloud import tasks as cloud_tasks
from onebox.cloud.cgroups import NotWritableError, hierarchy
from onebox.cloud.logs import CloudWatchLogs
from onebox.cloud.task import TaskLog
from onebox.cloud.tasks import Tasks

SECONDS = 60  # how long a test waits for a task's end before it fails


@pytest.fixture
def workloads(tmp_path):
    (tmp_path / "workloads" / "load").mkdir(parents=True)
    return tmp_path / "workloads"


@pytest.fixture
def programs(workloads):
    (workloads / "shared").mkdir()
    (workloads / "shared" / "shared.py").touch()
    return Programs(
        folder=workloads,
        label="fruit.workload",
        shared=workloads / "shared",
        environment=lambda: {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(workloads / "shared")},
        address_variable="FRUIT_ADDRESS",
        service_variable="FRUIT_READY",
        own_task="own-cloud",
    )


@pytest.fixture
def tasks(tmp_path, programs, endpoint, logs, guard):
    endpoint.client("ecs").create_cluster(clusterName="tests")
    endpoint.client("logs").create_log_group(logGroupName="load")
    tasks = Tasks(programs, tmp_path / "state", endpoint, logs, guard)
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
                "dockerLabels": {"fruit.workload": "load"},
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
    """Return a way to run one task; it returns the ARN."""

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
def await_end(endpoint, tasks):
    """Return a way to wait until a task has stopped; it returns the description."""

    def await_end(arn):
        tasks.stopped(arn).result(SECONDS)
        (task,) = endpoint.client("ecs").describe_tasks(cluster="tests", tasks=[arn])["tasks"]
        return task

    return await_end


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


def test_the_times_of_a_task_are_in_order_if_the_clock_goes_back(
    define, run, await_end, monkeypatch
):
    hours = itertools.count()

    class Clock:
        @staticmethod
        def now(zone):
            return datetime.now(zone) - timedelta(hours=next(hours))

    monkeypatch.setattr("onebox.cloud.task.datetime", Clock)
    define("pass")
    task = await_end(run())
    times = [task[name] for name in ("createdAt", "startedAt", "stoppingAt", "stoppedAt")]
    assert times == sorted(times)


def test_a_task_runs_in_the_folder_of_its_workload_with_the_shared_code_and_nothing_of_the_cloud(
    define, run, await_end, lines, workloads
):
    define("import os, shared, sys\nprint(os.getcwd(), sys.prefix, flush=True)\nimport onebox")
    arn = run()
    assert await_end(arn)["containers"][0]["exitCode"] == 1
    first, *_, error = lines(arn)
    assert first == f"{workloads / 'load'} {sys.base_prefix}"
    assert error == "ModuleNotFoundError: No module named 'onebox'"


def test_a_task_goes_from_provisioning_to_running_to_stopped(
    define, endpoint, await_end, tasks, tmp_path
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
    stopped = await_end(arn)
    assert (stopped["lastStatus"], stopped["desiredStatus"]) == ("STOPPED", "STOPPED")
    moments = [stopped[at] for at in ("createdAt", "startedAt", "stoppingAt", "stoppedAt")]
    # The API rounds to milliseconds.
    assert all(first <= second for first, second in itertools.pairwise(moments))
    assert abs(datetime.now(UTC) - moments[-1]).total_seconds() < SECONDS


def test_a_stopped_task_is_described_with_its_end(define, run, await_end):
    registered = define("raise SystemExit(3)")["taskDefinition"]
    arn = run()
    task = await_end(arn)
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


def test_the_image_digest_follows_the_files_of_the_workload(define, run, await_end, workloads):
    def digest():
        (container,) = await_end(run())["containers"]
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


def test_the_exit_code_after_a_signal_is_128_plus_the_signal(define, run, await_end):
    define("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert await_end(run())["containers"][0]["exitCode"] == 137


def test_a_task_that_cannot_start_has_no_exit_code(define, run, await_end):
    define(entryPoint=["no-such-program"])
    task = await_end(run())
    assert task["stopCode"] == "TaskFailedToStart"
    assert task["stoppedReason"] == "Task failed to start"
    assert "startedAt" not in task
    (container,) = task["containers"]
    assert "exitCode" not in container
    assert container["reason"].startswith("CannotStartContainerError: no-such-program: ")


def test_a_task_without_room_for_its_folder_does_not_start(define, run, await_end, tmp_path):
    (tmp_path / "state").mkdir(exist_ok=True)
    (tmp_path / "state" / "tasks").touch()
    define("pass")
    (container,) = await_end(run())["containers"]

    assert container["reason"].startswith("CannotStartContainerError: ")
    assert "Not a directory" in container["reason"]


def test_a_task_without_its_log_group_does_not_start(define, run, await_end, endpoint):
    endpoint.client("logs").delete_log_group(logGroupName="load")
    define("print('lost')")
    task = await_end(run())
    assert task["stopCode"] == "TaskFailedToStart"
    assert task["containers"][0]["reason"].startswith("ResourceInitializationError: ")


def test_stdout_and_stderr_are_logged_line_by_line_before_the_task_is_stopped(
    define, run, await_end, lines
):
    define("""
import sys
for number in range(5000):
    print(number, file=(sys.stdout, sys.stderr)[number % 2], flush=True)
print("unfinished", end="")
""")
    arn = run()
    await_end(arn)
    assert lines(arn) == [*map(str, range(5000)), "unfinished"]


def test_a_task_has_a_clean_environment_with_its_variables_and_the_cloud(
    define, run, await_end, lines, endpoint, programs, monkeypatch
):
    monkeypatch.setenv("SECRET_OF_THE_HOST", "1")
    define(
        "import json, os; print(json.dumps(dict(os.environ)))",
        task={"taskRoleArn": "arn:aws:iam::123456789012:role/loader"},
        environment=[{"name": "RECORDS", "value": "10"}, {"name": "VERSION", "value": "8.8.1"}],
    )
    arn = run(overrides=override(VERSION="9.8.4"))
    await_end(arn)
    environment = json.loads(lines(arn)[0])
    assert "SECRET_OF_THE_HOST" not in environment
    assert environment["RECORDS"] == "10"
    assert environment["VERSION"] == "9.8.4"
    assert environment["AWS_ENDPOINT_URL"] == endpoint.url
    assert environment["AWS_ACCESS_KEY_ID"] == "loader"
    assert environment["AWS_EXECUTION_ENV"] == "AWS_ECS_FARGATE"
    assert programs.environment().items() <= environment.items()


def test_a_task_without_a_role_has_no_access_key(define, run, await_end, lines, endpoint):
    define("import json, os; print(json.dumps(dict(os.environ)))")
    arn = run()
    await_end(arn)
    environment = json.loads(lines(arn)[0])
    assert environment["AWS_ENDPOINT_URL"] == endpoint.url
    assert not [name for name in environment if "KEY" in name]


def test_a_task_cannot_use_the_state_folder(define, run, await_end, lines, tmp_path):
    key = tmp_path / "state" / "cloud.json"
    key.parent.mkdir(exist_ok=True)
    key.write_text("the key")
    define(f"open({str(key)!r})")
    arn = run()
    await_end(arn)
    assert lines(arn)[-1].startswith(("PermissionError: ", "FileNotFoundError: "))


def test_each_task_has_its_own_scratch_folder_until_it_stops(define, run, await_end, lines):
    define("import tempfile; print(tempfile.mkdtemp())")
    first, second = run(), run()
    await_end(first)
    await_end(second)
    folders = [Path(lines(arn)[0]).parent for arn in (first, second)]
    assert folders[0] != folders[1]
    assert not any(folder.exists() for folder in folders)


def test_an_override_replaces_the_command(define, run, await_end, lines):
    define("print('defined')")
    arn = run(overrides=override("print('overridden')"))
    await_end(arn)
    assert lines(arn) == ["overridden"]


def test_a_stopped_task_may_end_by_itself(define, run, await_end, lines, endpoint, workloads):
    define(f"""
import pathlib, signal, sys, time
def end(*_):
    print("told to stop", flush=True)
    sys.exit(7)
signal.signal(signal.SIGTERM, end)
pathlib.Path({str(workloads / "up")!r}).touch()
while True: time.sleep(0.01)  # a signal just before one long sleep would not end it
""")
    arn = run()
    wait_for(workloads / "up")
    endpoint.client("ecs").stop_task(cluster="tests", task=arn, reason="the run was aborted")
    task = await_end(arn)
    assert task["stopCode"] == "UserInitiated"
    assert task["stoppedReason"] == "the run was aborted"
    assert task["containers"][0]["exitCode"] == 7
    assert lines(arn) == ["told to stop"]


def test_a_stopped_task_that_does_not_end_is_killed_after_its_stop_timeout(
    define, run, await_end, endpoint, workloads
):
    define(
        f"""
import pathlib, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
pathlib.Path({str(workloads / "up")!r}).touch()
time.sleep(600)
""",
        stopTimeout=1,
    )
    arn = run()
    wait_for(workloads / "up")
    endpoint.client("ecs").stop_task(cluster="tests", task=arn)
    task = await_end(arn)
    assert task["stopCode"] == "UserInitiated"
    assert task["containers"][0]["exitCode"] == 137


def test_the_children_of_a_task_end_with_it(define, run, await_end, lines, has_ended):
    define("import subprocess; print(subprocess.Popen(['sleep', '600']).pid)")
    arn = run()
    await_end(arn)
    assert has_ended(lines(arn)[0])


def test_a_task_whose_process_outside_the_group_is_killed_fails_by_its_name(
    define, run, await_end, lines, has_ended
):
    define("""
import subprocess
print(subprocess.Popen(["sleep", "600"], start_new_session=True).pid)
""")
    arn = run()
    (container,) = await_end(arn)["containers"]
    pid, sentence = lines(arn)
    left = "1 process that the task left: 'sleep 600'"
    assert (container["exitCode"], container["reason"]) == (1, f"the cloud killed {left}")
    assert sentence == f"The cloud killed {left}"
    assert has_ended(pid)


def test_a_task_that_prints_too_much_is_killed_and_named_and_its_neighbour_goes_on(
    define, run, await_end, lines, monkeypatch
):
    monkeypatch.setattr(TaskLog.__init__, "__defaults__", (1000,))
    define("""
import subprocess, time
subprocess.Popen(["sleep", "600"], start_new_session=True)
print("x" * 1000, flush=True)
time.sleep(600)
""")
    loud = run()
    define("print('quiet')")
    quiet = await_end(run())

    task = await_end(loud)

    assert task["stoppedReason"] == (
        "it printed more than 1,000 bytes, the limit of a task on one machine"
    )
    assert task["containers"][0]["exitCode"] == 137
    assert lines(loud) == ["The cloud killed 1 process that the task left: 'sleep 600'"]
    assert quiet["containers"][0]["exitCode"] == 0


def test_a_task_whose_log_cannot_be_written_is_killed_and_says_so(
    define, run, await_end, lines, monkeypatch
):
    def fail(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    define("import time; print(1, flush=True); time.sleep(600)")
    with monkeypatch.context() as full:
        full.setattr(CloudWatchLogs, "write", fail)
        task = await_end(run())

    assert task["stoppedReason"] == "its log cannot be written: No space left on device"
    assert task["containers"][0]["exitCode"] == 137
    define("print(2)")
    assert lines(await_end(run())["taskArn"]) == ["2"]


def test_a_line_without_an_end_is_cut_as_the_log_driver_cuts_it(define, run, await_end, lines):
    define("print('x' * 600_000)")
    arn = run()
    await_end(arn)
    assert "".join(lines(arn)) == "x" * 600_000
    assert max(map(len, lines(arn))) < 600_000


def test_closing_kills_every_task(define, run, tasks, endpoint):
    define("import time; time.sleep(600)")
    arns = [run(), run()]
    ecs = endpoint.client("ecs")
    tasks.close()
    assert all(tasks.stopped(arn).done() for arn in arns)
    tasks._replace_methods()
    described = ecs.describe_tasks(cluster="tests", tasks=arns)["tasks"]
    assert [task["containers"][0]["exitCode"] for task in described] == [137, 137]
    with pytest.raises(ClientError, match="is closing"):
        run()


def test_one_request_can_start_several_tasks(define, endpoint, await_end):
    define("pass")
    answer = endpoint.client("ecs").run_task(**REQUEST, count=3)
    arns = {task["taskArn"] for task in answer["tasks"]}
    assert len(arns) == 3
    assert {await_end(arn)["lastStatus"] for arn in arns} == {"STOPPED"}


def test_a_repeated_request_starts_no_new_task(define, run):
    define("pass")
    assert run(clientToken="once") == run(clientToken="once") != run(clientToken="twice")


def test_the_oldest_stopped_tasks_are_forgotten(define, run, await_end, endpoint, monkeypatch):
    monkeypatch.setattr(cloud_tasks, "_MOST_STOPPED", 1)
    define("pass")
    first = run(clientToken="once")
    await_end(first)
    second = run()
    await_end(second)

    assert run(clientToken="once") != first
    described = endpoint.client("ecs").describe_tasks(cluster="tests", tasks=[first, second])
    assert [task["taskArn"] for task in described["tasks"]] == [second]
    assert described["failures"] == [{"arn": first, "reason": "MISSING"}]


def test_tasks_are_listed_by_their_family_and_their_status(
    define, run, await_end, endpoint, tmp_path
):
    define(waits_for(tmp_path / "go"))
    one, other = run(), run()
    ecs = endpoint.client("ecs")

    def listed(**by):
        return set(ecs.list_tasks(cluster="tests", **by)["taskArns"])

    assert listed() == {one, other}
    assert listed(family="load") == {one, other}
    assert listed(family="other") == set()
    (tmp_path / "go").touch()
    await_end(one)
    await_end(other)
    assert listed() == set()
    assert listed(desiredStatus="STOPPED") == {one, other}


def test_a_cluster_has_the_tasks_that_have_not_ended(define, run, await_end, endpoint, tmp_path):
    define(waits_for(tmp_path / "go"))
    ecs = endpoint.client("ecs")
    ecs.create_cluster(clusterName="others")

    def left():
        described = ecs.describe_clusters(clusters=["tests", "others", "absent"])["clusters"]
        return {
            each["clusterName"]: each["runningTasksCount"] + each["pendingTasksCount"]
            for each in described
            if each["status"] == "ACTIVE"
        }

    before = left()
    arns = [run(), run()]

    assert (before, left()) == ({"tests": 0, "others": 0}, {"tests": 2, "others": 0})
    (tmp_path / "go").touch()
    for arn in arns:
        await_end(arn)
    ecs.delete_cluster(cluster="others")
    assert left() == {"tests": 0}


def test_container_insights_logs_the_usage_of_the_tasks_of_its_cluster(
    define, run, await_end, endpoint, tmp_path
):
    group = "/aws/ecs/containerinsights/watched/performance"
    endpoint.client("ecs").create_cluster(
        clusterName="watched", settings=[{"name": "containerInsights", "value": "enabled"}]
    )
    define(waits_for(tmp_path / "go"))
    run()
    watched = run(cluster="watched")

    events = []
    while not events:
        if not endpoint.client("logs").describe_log_groups(logGroupNamePrefix=group)["logGroups"]:
            continue
        events = endpoint.client("logs").filter_log_events(logGroupName=group)["events"]
        time.sleep(0.05)
    (tmp_path / "go").touch()

    event = json.loads(events[0]["message"])
    assert (event["TaskId"], event["ClusterName"]) == (watched.rsplit("/", 1)[-1], "watched")


def test_an_unknown_task_and_one_of_another_cluster_are_missing(define, run, await_end, endpoint):
    ecs = endpoint.client("ecs")
    ecs.create_cluster(clusterName="other")
    define("pass")
    arn = run()
    await_end(arn)
    unknown = arn[:-1] + "x"
    answer = ecs.describe_tasks(cluster="tests", tasks=[arn, unknown])
    assert [task["taskArn"] for task in answer["tasks"]] == [arn]
    assert answer["failures"] == [{"arn": unknown, "reason": "MISSING"}]
    answer = ecs.describe_tasks(cluster="other", tasks=[arn])
    assert answer["failures"] == [{"arn": arn, "reason": "MISSING"}]
    with pytest.raises(ClientError, match="The referenced task was not found"):
        ecs.stop_task(cluster="tests", task=unknown)


def test_tasks_may_start_while_others_are_described(define, run, await_end, endpoint):
    define("pass")
    arns = []
    ecs = endpoint.client("ecs")
    for _ in range(3):
        arns.append(run())
        ecs.describe_tasks(cluster="tests", tasks=arns)
    assert {await_end(arn)["containers"][0]["exitCode"] for arn in arns} == {0}


def test_the_task_definition_of_a_template_can_be_run(endpoint, tasks, run, await_end, lines):
    container = {
        "Name": "main",
        "Image": "an/image",
        "Essential": True,
        "EntryPoint": ["python3", "-c"],
        "Command": ["import os; print(os.environ['RECORDS'])"],
        "Environment": [{"Name": "RECORDS", "Value": "7"}],
        "DockerLabels": {"fruit.workload": "load"},
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
    assert await_end(arn)["containers"][0]["exitCode"] == 0
    assert lines(arn) == ["7"]


@pytest.mark.parametrize(
    ("container", "words"),
    [
        ({"dockerLabels": {}}, "no label fruit.workload; accepted: load"),
        ({"dockerLabels": {"fruit.workload": "../x"}}, r"'\.\./x'; accepted: load"),
        ({"entryPoint": []}, "no entryPoint"),
        ({"logConfiguration": {"logDriver": "fluentd"}}, "log driver fluentd; accepted: awslogs"),
        ({"secrets": [{"name": "A", "valueFrom": "b"}]}, "has secrets"),
        ({"healthCheck": {"command": ["true"]}}, "has healthCheck"),
        ({"essential": False}, "accepted: one essential container"),
        ({"task": {"volumes": [{"name": "data"}]}}, "has volumes; accepted: none"),
        ({"task": {"requiresCompatibilities": ["EC2"]}}, "accepted: FARGATE"),
    ],
)
def test_an_unsupported_setting_of_a_definition_is_refused_by_name(define, run, container, words):
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
        (
            {"overrides": {"cpu": "2 vCPU"}},
            "override cpu is 2 vCPU; accepted: a whole",
        ),
        ({"overrides": {"ephemeralStorage": {"sizeInGiB": 30}}}, "task override has ephemeralSt"),
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
def test_an_unsupported_setting_of_a_request_is_refused_by_name(define, run, request_, words):
    define("pass")
    with pytest.raises(ClientError, match=words):
        run(**request_)


def test_the_cpu_of_a_run_limits_its_task_and_leaves_no_group(define, run, await_end, lines):
    try:
        parent = hierarchy("cpu").parent
    except NotWritableError as error:
        pytest.skip(f"this machine limits nobody's CPU: {error}")
    define("print(open('/proc/self/cgroup').read())")

    arn = run(overrides={**override(), "cpu": "256"})

    task = await_end(arn)
    name = f"tidemark-{arn.rsplit('/', 1)[1]}"
    assert task["cpu"] == "256"
    assert any(line.endswith(f"/{name}") for line in lines(arn))
    assert not (parent / name).exists()


@pytest.mark.parametrize("holder", ["program", "child"])
def test_a_task_above_the_memory_of_its_run_is_killed_and_says_so(define, run, await_end, holder):
    try:
        hierarchy("memory")
    except NotWritableError as error:
        pytest.skip(f"this machine limits nobody's memory: {error}")
    takes = "bytearray(512 << 20)"
    starts = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {takes!r}])"
    define(takes if holder == "program" else starts)

    task = await_end(run(overrides={**override(), "memory": "128"}))

    (container,) = task["containers"]
    assert container["exitCode"] == (137 if holder == "program" else 0)
    assert container["reason"] == "OutOfMemoryError: Container killed due to memory usage"


def test_the_cloud_keeps_off_the_cores_of_a_service_which_has_all_of_them(
    define, run, await_end, lines, tmp_path
):
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        pytest.skip("this machine has one core")
    prints = "import os\nprint(sorted(os.sched_getaffinity(0)), flush=True)"
    define(f"{prints}\n{waits_for(tmp_path / 'go')}")

    arn = run(overrides=override(FRUIT_READY=":8080"))
    during = sorted(os.sched_getaffinity(0))
    (tmp_path / "go").touch()
    await_end(arn)

    assert during == cores[: len(cores) // 2]
    assert lines(arn) == [str(cores)]
    assert sorted(os.sched_getaffinity(0)) == cores


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


def test_the_scratch_folders_of_a_killed_process_are_removed(
    tmp_path, programs, endpoint, logs, guard
):
    left = tmp_path / "state" / "tasks" / "0" / "store"
    left.mkdir(parents=True)

    Tasks(programs, tmp_path / "state", endpoint, logs, guard).close()

    assert not left.exists()


def test_a_task_has_the_tags_of_its_definition_on_request(define, run, await_end, endpoint):
    ecs = endpoint.client("ecs")
    tags = [{"key": "cost-centre", "value": "4711"}]
    ecs.register_task_definition(**definition("pass", task={"tags": tags}))
    with_tags, without = run(propagateTags="TASK_DEFINITION"), run()
    await_end(with_tags)
    await_end(without)

    described = ecs.describe_tasks(cluster="tests", tasks=[with_tags, without], include=["TAGS"])
    assert [task["tags"] for task in described["tasks"]] == [tags, []]


def test_two_tasks_listen_at_one_port_each_at_its_own_address(
    define, run, endpoint, tasks, workloads
):
    with socket.create_server(("", 0)) as server:  # a port that is free at every address
        port = server.getsockname()[1]
    # Each task holds the port until both do.
    define(
        "import os, pathlib, socket, time\n"
        "address = os.environ['FRUIT_ADDRESS']\n"
        f"server = socket.create_server((address, {port}))\n"
        f"folder = pathlib.Path({str(workloads)!r}, 'addresses')\n"
        "folder.mkdir(exist_ok=True)\n"
        "(folder / address).touch()\n"
        "while len(list(folder.iterdir())) < 2: time.sleep(0.01)"
    )
    arns = [run(), run()]

    for arn in arns:
        tasks.stopped(arn).result(SECONDS)
    described = endpoint.client("ecs").describe_tasks(cluster="tests", tasks=arns)["tasks"]
    containers = [container for task in described for container in task["containers"]]
    addresses = [each["networkInterfaces"][0]["privateIpv4Address"] for each in containers]
    assert [each["exitCode"] for each in containers] == [0, 0]
    listening = {path.name for path in (workloads / "addresses").iterdir()}
    assert set(addresses) == listening
    assert all(address.startswith("127.") for address in listening)
