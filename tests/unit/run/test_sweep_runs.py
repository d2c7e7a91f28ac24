"""Suites without a run for a due time of their schedule, as the sweep finds them."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from botocore.exceptions import ClientError

from aws.announcements import EmbeddedMetrics
from lambdas import plan_run, sweep_runs
from tidemark.run.sweep_runs import Attempts, AttemptsFailed, tell_missed_schedules

pytestmark = pytest.mark.usefixtures("packed")

DUE = datetime(2026, 11, 19, 2, tzinfo=UTC)
WATCHED = {"rocksdb": "weekly"}


def schedule(**changed):
    """Return a schedule of Thursdays as GetSchedule describes it."""
    return {
        "Name": "weekly",
        "ScheduleExpression": "cron(0 2 ? * THU *)",
        "ScheduleExpressionTimezone": "Etc/UTC",
        "State": "ENABLED",
        "LastModificationDate": DUE - timedelta(days=30),
        "Target": {
            "RetryPolicy": {"MaximumEventAgeInSeconds": 3600, "MaximumRetryAttempts": 2},
        },
        **changed,
    }


@pytest.fixture
def watched(world):
    world.schedules.known["weekly"] = schedule()
    return world


@pytest.fixture
def swept(world, monkeypatch):
    """Return a function that calls the handler of the sweep at the time of now."""
    monkeypatch.setenv("SCHEDULES", json.dumps(WATCHED))
    return lambda: world.call(sweep_runs, {})


def start(world, **fields):
    """Start a run of the suite as the schedule does."""
    request = {"suite": "rocksdb", "scheduled_at": f"{DUE:%Y-%m-%dT%H:%M:%SZ}", **fields}
    event = {
        "execution_arn": "arn:e",
        "execution_name": "e",
        "started_at": f"{DUE:%Y-%m-%dT%H:%M:%SZ}",
        "input": {key: value for key, value in request.items() if value},
    }
    world.call(plan_run, event)
    world.executions.add("arn:e")


def missed(world, after=timedelta(days=2)):
    """Return the missed suites some time after a due time."""
    return tell_missed_schedules(
        world.bucket, world.schedules, EmbeddedMetrics("Tidemark"), WATCHED, DUE + after, Attempts()
    )


def metrics(capsys):
    lines = [line for line in capsys.readouterr().out.splitlines() if "CloudWatchMetrics" in line]
    return [json.loads(line) for line in lines]


def test_a_suite_without_a_run_for_its_last_due_time_is_missed(watched, capsys):
    assert missed(watched) == ["rocksdb"]
    (metric,) = metrics(capsys)
    (directive,) = metric["_aws"]["CloudWatchMetrics"]
    assert (directive["Namespace"], directive["Dimensions"]) == ("Tidemark", [["stack"]])
    assert (metric["MissedSchedules"], metric["stack"]) == ([1.0], "Tidemark")


def test_a_suite_with_a_run_for_its_last_due_time_is_not_missed(watched, capsys):
    start(watched)

    assert missed(watched) == []
    (metric,) = metrics(capsys)
    assert metric["MissedSchedules"] == [0.0]


@pytest.mark.parametrize("scheduled_at", [None, f"{DUE - timedelta(days=1):%Y-%m-%dT%H:%M:%SZ}"])
def test_a_run_that_the_schedule_did_not_start_does_not_count(watched, scheduled_at):
    start(watched, scheduled_at=scheduled_at)

    assert missed(watched) == ["rocksdb"]


def test_a_run_of_another_suite_for_the_same_time_does_not_count(watched):
    start(watched)
    (key,) = [
        key for key in watched.bucket.objects if key.startswith(f"runs/{DUE:%Y%m%dT%H%M%SZ}-")
    ]
    other = {**watched.json(key)["request"], "suite": "x"}
    watched.bucket.write(key, json.dumps({**watched.json(key), "request": other}).encode())

    assert missed(watched) == ["rocksdb"]


@pytest.mark.parametrize(
    ("changed", "suites"),
    [
        ({"State": "DISABLED"}, []),
        ({"LastModificationDate": DUE + timedelta(seconds=1)}, []),
        ({"LastModificationDate": DUE}, ["rocksdb"]),
    ],
)
def test_a_due_time_before_a_change_or_while_disabled_does_not_count(watched, changed, suites):
    watched.schedules.known["weekly"] = schedule(**changed)

    assert missed(watched) == suites


@pytest.mark.parametrize(("minutes", "suites"), [(74, []), (75, ["rocksdb"])])
def test_a_start_is_missed_only_after_the_time_for_its_retries_and_its_plan(
    watched, minutes, suites
):
    # Until then the week before is the last due time, which is before the change.
    changed = {"LastModificationDate": DUE - timedelta(days=3)}
    watched.schedules.known["weekly"] = schedule(**changed)

    assert missed(watched, timedelta(minutes=minutes)) == suites


def test_the_suite_of_a_deleted_schedule_is_missed(swept, capsys):
    assert swept() == {"outcomes": [], "missed": ["rocksdb"]}
    (metric,) = metrics(capsys)
    assert metric["MissedSchedules"] == [1.0]


def test_without_schedules_there_is_no_metric(world, capsys):
    assert world.call(sweep_runs, {})["missed"] == []
    assert metrics(capsys) == []


def test_a_schedule_that_cannot_be_read_is_named(world, swept, monkeypatch):
    def refuse(name):
        raise ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "GetSchedule")

    monkeypatch.setattr(world.schedules, "describe", refuse)

    with pytest.raises(AttemptsFailed, match=r"^schedule weekly: ClientError: .*AccessDenied"):
        swept()


def test_a_schedule_of_another_kind_is_named(watched, swept):
    watched.schedules.known["weekly"] = schedule(ScheduleExpression="rate(7 days)")

    with pytest.raises(
        AttemptsFailed, match=r"^schedule weekly: Refused: 'rate\(7 days\)' is not a supported cron"
    ):
        swept()


@pytest.mark.parametrize(("state", "values"), [("ENABLED", [[1.0]]), ("DISABLED", [])])
def test_a_schedule_that_cannot_be_read_hides_no_other_and_clears_no_alarm(
    watched, swept, monkeypatch, capsys, state, values
):
    watched.schedules.known |= {
        "odd": schedule(ScheduleExpression="rate(7 days)"),
        "weekly": schedule(State=state),
    }
    monkeypatch.setenv("SCHEDULES", json.dumps({"other": "odd", **WATCHED}))

    with pytest.raises(AttemptsFailed, match=r"^schedule odd: Refused: "):
        swept()

    assert [metric["MissedSchedules"] for metric in metrics(capsys)] == values
