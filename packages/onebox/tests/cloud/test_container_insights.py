"""The usage of tasks, and of a cloud without its tasks, in the form of Container Insights."""

import errno
import json
import os
import subprocess
import sys
import time
from contextlib import closing
from queue import Queue

import pytest

from onebox.cloud import container_insights
from onebox.cloud.container_insights import ContainerInsights, log_group, own_programs, own_usage
from onebox.cloud.tasks import OwnCores

GROUP = "/aws/ecs/containerinsights/tests/performance"
# The load waits for a child that works, then holds 64 MiB and works itself.
LOAD = """
import subprocess, sys
subprocess.run([sys.executable, "-c", "for n in range(3_000_000): pass"])
held = bytearray(64 * 2**20)
print("working", flush=True)
while True:
    sum(range(10_000))
"""


@pytest.fixture
def insights(logs):
    logs.create_group(GROUP)
    insights = ContainerInsights(logs, period_seconds=0.05)
    yield insights
    insights.close()


@pytest.fixture
def load():
    """A process group that works."""
    with subprocess.Popen(
        [sys.executable, "-c", LOAD], stdout=subprocess.PIPE, start_new_session=True
    ) as load:
        assert load.stdout.readline() == b"working\n"
        yield load
        load.kill()


@pytest.fixture
def await_events(endpoint):
    """Return a way to wait for ``count`` logged events; it returns all events, in order."""

    def await_events(count):
        while True:
            events = endpoint.client("logs").filter_log_events(logGroupName=GROUP)["events"]
            if len(events) >= count:
                return [json.loads(event["message"]) for event in events]
            time.sleep(0.02)

    return await_events


def test_the_usage_of_a_task_is_logged_in_the_form_of_container_insights(
    insights, load, await_events
):
    insights.watch("abc", "tests", load.pid)

    events = await_events(3)

    assert {(event["Type"], event["TaskId"], event["ClusterName"]) for event in events} == {
        ("Task", "abc", "tests")
    }
    assert all(64 <= event["MemoryUtilized"] < 200 for event in events)
    assert any(event["CpuUtilized"] > 0 for event in events)
    assert all(
        event[name] >= 0
        for event in events
        for name in ("NetworkRxBytes", "NetworkTxBytes", "StorageReadBytes", "StorageWriteBytes")
    )


# Its child works for 0.1 s and has ended before the answer.
PARENT = """
import os, time
print("begun", flush=True)
input()
if not os.fork():
    while time.process_time() < 0.1: pass
    os._exit(0)
os.wait()
print("waited", flush=True)
input()
"""


def test_the_cpu_time_of_a_child_counts_after_its_end():
    logs = FakeLogs()
    with (
        subprocess.Popen(
            [sys.executable, "-S", "-c", PARENT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        ) as parent,
        closing(ContainerInsights(logs, period_seconds=3600)) as insights,
    ):
        assert parent.stdout.readline() == b"begun\n"
        began = time.monotonic()
        insights.watch("abc", "tests", parent.pid)
        parent.stdin.write(b"\n")
        parent.stdin.flush()
        assert parent.stdout.readline() == b"waited\n"
        insights._period_seconds = 0.0
        insights.log()
        seconds = time.monotonic() - began
        parent.communicate(b"\n")

    (line,) = logs.written.get(timeout=60)
    assert json.loads(line)["CpuUtilized"] / 1024 * seconds >= 0.08


def test_storage_bytes_count_from_the_start_of_the_task_as_they_do_on_aws(load, monkeypatch):
    written = iter([500, 700, 1200, 900, 1000])  # a process of the task ends with 300 bytes
    monkeypatch.setattr(
        container_insights,
        "_usage",
        lambda _: container_insights._Usage(time.monotonic(), 0.0, 1, 0, next(written), 0, 0),
    )
    logs = FakeLogs()
    with closing(ContainerInsights(logs, period_seconds=3600)) as insights:
        insights.watch("abc", "tests", load.pid)
        monkeypatch.setattr(insights, "_period_seconds", 0.0)
        for _ in range(4):
            insights.log()

    lines = [json.loads(*logs.written.get(timeout=60)) for _ in range(4)]
    assert [line["StorageWriteBytes"] for line in lines] == [200, 700, 700, 800]


def test_a_forgotten_or_ended_task_is_not_logged(insights, load, await_events):
    insights.watch("abc", "tests", load.pid)
    await_events(1)
    insights.forget("abc")
    insights.watch("gone", "tests", 2**30)
    insights.watch("def", "tests", load.pid)

    events = await_events(len(await_events(1)) + 3)

    assert {event["TaskId"] for event in events} == {"abc", "def"}
    assert [event["TaskId"] for event in events[-2:]] == ["def", "def"]


class FakeLogs:
    """Logs on a disk that is full for the first writes."""

    def __init__(self, failures=0):
        self.failures = failures
        self.written = Queue()

    def create_group(self, _):
        pass

    def write(self, group, stream, lines):
        if self.failures:
            self.failures -= 1
            raise OSError(errno.ENOSPC, "No space left on device")
        self.written.put(lines)


def test_a_task_is_not_logged_before_its_cpu_time_can_be_measured(load):
    logs = FakeLogs()
    with closing(ContainerInsights(logs, period_seconds=3600)) as insights:
        insights.watch("abc", "tests", load.pid)

        insights.log()

    assert logs.written.empty()


def test_usage_is_logged_again_when_the_disk_has_room_again(load, caplog):
    logs = FakeLogs(failures=2)
    with closing(ContainerInsights(logs, period_seconds=0.01)) as insights:
        insights.watch("abc", "tests", load.pid)

        (line,) = logs.written.get(timeout=60)

    assert json.loads(line)["TaskId"] == "abc"
    warning = "The usage of task abc was not logged: [Errno 28] No space left on device"
    assert [record.getMessage() for record in caplog.records] == [warning, warning]


def test_the_log_group_of_a_cluster_is_made_with_its_first_event(logs, load):
    with closing(ContainerInsights(logs, period_seconds=0.05)) as insights:
        insights.watch("abc", "another", load.pid)
        while not logs.has_group(log_group("another")):
            time.sleep(0.02)


WORK = "import time\nwhile time.process_time() < 0.3: pass\nprint('worked', flush=True)\ninput()"


@pytest.fixture
def begin():
    """Return a function that begins a program, perhaps as a task; it has worked for 0.3 s."""
    begun = []

    def begin(*, task):
        child = subprocess.Popen(
            [sys.executable, "-c", WORK],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=task,
        )
        begun.append(child)
        assert child.stdout.readline() == b"worked\n"
        return child

    yield begin
    for child in begun:
        child.communicate(b"\n")


def test_the_programs_of_a_cloud_are_all_that_it_began_but_its_tasks(begin):
    task, function = begin(task=True), begin(task=False)

    found = {program.pid for program in own_programs({task.pid})}

    assert {os.getpid(), function.pid} <= found
    assert task.pid not in found


def test_the_usage_of_a_cloud_has_none_of_its_tasks(begin):
    task = begin(task=True)
    without, _ = own_usage({task.pid})
    with_task, _ = own_usage(())

    assert with_task - without >= 0.25


def test_a_cloud_takes_its_cores_back_after_the_last_of_several_services():
    before = sorted(os.sched_getaffinity(0))
    own = OwnCores()
    own.give_way(())
    own.give_way(())

    assert not own.take_back(())
    assert sorted(os.sched_getaffinity(0)) == (before[: len(before) // 2] or before)
    assert own.take_back(())
    assert sorted(os.sched_getaffinity(0)) == before
