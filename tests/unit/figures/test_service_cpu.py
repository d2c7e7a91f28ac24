"""The CPU time of services at the levels of a load."""

from datetime import UTC, datetime, timedelta

from tidemark.figures.task_logs import with_cpu
from tidemark.model.load import HeldLevel, LoadCourse
from tidemark.model.results import TaskResult, Usage

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
TASKS = [
    TaskResult(index=0, status="ok", task_arn="t/own"),
    TaskResult(index=1, status="ok", task_arn="t/web", service="server"),
    TaskResult(index=2, status="ok", task_arn="t/agent", service="agent"),
]


def at(seconds):
    return NOON + timedelta(seconds=seconds)


def usage(task, seconds, cpu):
    return Usage(
        task_id=task, logged_at=f"{at(seconds):%Y-%m-%d %H:%M:%S.000}", cpu=cpu, memory=None,
        network_in=None, network_out=None, disk_read=None, disk_written=None,
    )  # fmt: skip


def level(begin, end):
    return HeldLevel(
        users=8, connected=8, values={}, hit=(), ended_at=at(end),
        begun_at=None if begin is None else at(begin),
    )  # fmt: skip


def cpu(usages, *levels):
    course = LoadCourse(
        level=1, users={}, settle_seconds=1, hold_seconds=1, started_at=NOON, begun_at=NOON,
        held=levels,
    )  # fmt: skip
    return [each.cpu for each in with_cpu(course, usages, TASKS).held]


def test_a_level_has_the_cpu_of_the_local_cloud_apart():
    usages = [usage("web", 12, 0.5), usage("local-cloud", 12, 0.25)]

    assert cpu(usages, level(10, 20)) == [{"server": 0.5, "the local cloud": 0.25}]


def test_a_level_has_the_mean_of_each_service_while_it_lasted():
    usages = [
        usage("web", 5, 9.0), usage("web", 12, 0.5), usage("web", 18, 1.0), usage("agent", 14, 0.1),
        usage("own", 14, 7.0), usage("web", 21, 3.0),
    ]  # fmt: skip

    assert cpu(usages, level(10, 20), level(20, 30)) == [
        {"server": 0.75, "agent": 0.1}, {"server": 3.0}
    ]  # fmt: skip


def test_a_level_without_usage_or_a_known_start_has_no_figure():
    assert cpu([usage("web", 12, None)], level(10, 20)) == [{}]
    assert cpu([usage("web", 12, 1.0)], level(None, 20)) == [{}]
