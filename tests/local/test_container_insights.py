"""What tasks use, as Container Insights logs it."""

import errno
import json
import subprocess
import sys
import time
from contextlib import closing
from queue import Queue

import pytest

from local.cloud.container_insights import ContainerInsights, log_group

GROUP = "/aws/ecs/containerinsights/tests/performance"
# It holds 64 MiB, works, and waits for a child that had worked before.
LOAD = """
import subprocess, sys
subprocess.run([sys.executable, "-c", "for n in range(3_000_000): pass"])
held = bytearray(64 * 2**20)
print("working", flush=True)
while True:
    sum(range(10_000))
"""


@pytest.fixture
def insights(endpoint, logs):
    endpoint.client("logs").create_log_group(logGroupName=GROUP)
    insights = ContainerInsights(logs, period_seconds=0.05)
    yield insights
    insights.close()


@pytest.fixture
def load():
    """Return a process group that works."""
    with subprocess.Popen(
        [sys.executable, "-c", LOAD], stdout=subprocess.PIPE, start_new_session=True
    ) as load:
        assert load.stdout.readline() == b"working\n"
        yield load
        load.kill()


@pytest.fixture
def logged(endpoint):
    """Return a way to have so many of the events that are logged, in order."""

    def logged(count):
        while True:
            found = endpoint.client("logs").filter_log_events(logGroupName=GROUP)["events"]
            if len(found) >= count:
                return [json.loads(event["message"]) for event in found]
            time.sleep(0.02)

    return logged


def test_a_task_is_logged_with_what_it_uses_in_the_form_of_container_insights(
    insights, load, logged
):
    insights.watch("abc", "tests", load.pid)

    events = logged(3)

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


def test_a_task_that_is_forgotten_or_gone_is_logged_no_more(insights, load, logged):
    insights.watch("abc", "tests", load.pid)
    logged(1)
    insights.forget("abc")
    insights.watch("gone", "tests", 2**30)
    insights.watch("def", "tests", load.pid)

    events = logged(len(logged(1)) + 3)

    assert {event["TaskId"] for event in events} == {"abc", "def"}
    assert [event["TaskId"] for event in events[-2:]] == ["def", "def"]


class FakeLogs:
    """The logs of a machine whose disk may be full at first."""

    def __init__(self, failures=0):
        self.failures = failures
        self.written = Queue()

    def has_group(self, _):
        return True

    def write(self, group, stream, lines):
        if self.failures:
            self.failures -= 1
            raise OSError(errno.ENOSPC, "No space left on device")
        self.written.put(lines)


def test_a_task_is_not_logged_before_its_cpu_time_can_be_told(load):
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
    why = "What task abc uses was not logged: [Errno 28] No space left on device"
    assert [record.getMessage() for record in caplog.records] == [why, why]


def test_a_cluster_without_a_log_group_logs_nothing(insights, load, endpoint, logged):
    insights.watch("abc", "another", load.pid)
    insights.watch("def", "tests", load.pid)
    logged(2)

    groups = endpoint.client("logs").describe_log_groups()["logGroups"]
    assert log_group("another") not in {group["logGroupName"] for group in groups}
