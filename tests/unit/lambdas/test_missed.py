"""Suites that were not measured when their schedule was due, as the sweep finds them."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from botocore.exceptions import ClientError

from lambdas import plan_run, sweep_runs
from lambdas.attempts import Attempts, AttemptsFailed
from lambdas.missed import tell_missed

pytestmark = pytest.mark.usefixtures("packed")

DUE = datetime(2026, 11, 19, 2, tzinfo=UTC)
WATCHED = {"rocksdb": "weekly"}


def schedule(**changed):
    """Describe a schedule of Thursdays, as GetSchedule does."""
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
    """A way to let the handler sweep, by the clock of today."""
    monkeypatch.setenv("SCHEDULES", json.dumps(WATCHED))
    return lambda: world.call(sweep_runs, {})


def start(world, **asked):
    """Start a run of the suite as the schedule does."""
    given = {"suite": "rocksdb", "scheduled_at": f"{DUE:%Y-%m-%dT%H:%M:%SZ}", **asked}
    event = {
        "execution_arn": "arn:e",
        "execution_name": "e",
        "started_at": f"{DUE:%Y-%m-%dT%H:%M:%SZ}",
        "input": {key: value for key, value in given.items() if value},
    }
    world.call(plan_run, event)
    world.executions.add("arn:e")


def missed(world, after=timedelta(days=2)):
    """Return the suites that are found missed some time after one was due."""
    return tell_missed(world.bucket, world.schedules, WATCHED, DUE + after, Attempts())


def metrics(capsys):
    lines = [line for line in capsys.readouterr().out.splitlines() if "CloudWatchMetrics" in line]
    return [json.loads(line) for line in lines]


def test_a_suite_without_a_run_for_the_last_time_that_it_was_due_is_missed(watched, capsys):
    assert missed(watched) == ["rocksdb"]
    (metric,) = metrics(capsys)
    (directive,) = metric["_aws"]["CloudWatchMetrics"]
    assert (directive["Namespace"], directive["Dimensions"]) == ("Tidemark", [["stack"]])
    assert (metric["MissedSchedules"], metric["stack"]) == ([1.0], "Tidemark")


def test_a_suite_with_a_run_for_it_is_not_whatever_became_of_the_run(watched, capsys):
    start(watched)

    assert missed(watched) == []
    (metric,) = metrics(capsys)
    assert metric["MissedSchedules"] == [0.0]


@pytest.mark.parametrize("scheduled_at", [None, f"{DUE - timedelta(days=1):%Y-%m-%dT%H:%M:%SZ}"])
def test_a_run_that_somebody_started_otherwise_is_no_run_for_it(watched, scheduled_at):
    start(watched, scheduled_at=scheduled_at)

    assert missed(watched) == ["rocksdb"]


def test_a_run_of_another_suite_for_the_same_time_is_no_run_for_it(watched):
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
def test_nothing_was_due_of_a_schedule_that_was_off_or_another(watched, changed, suites):
    watched.schedules.known["weekly"] = schedule(**changed)

    assert missed(watched) == suites


@pytest.mark.parametrize(("minutes", "suites"), [(74, []), (75, ["rocksdb"])])
def test_a_start_has_as_long_as_it_is_tried_and_planned(watched, minutes, suites):
    # Until then the week before counts, when the schedule was another.
    changed = {"LastModificationDate": DUE - timedelta(days=3)}
    watched.schedules.known["weekly"] = schedule(**changed)

    assert missed(watched, timedelta(minutes=minutes)) == suites


def test_a_schedule_that_somebody_deleted_is_missed(swept, capsys):
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
        AttemptsFailed, match=r"^schedule weekly: Refused: 'rate\(7 days\)' is no cron"
    ):
        swept()


@pytest.mark.parametrize(("state", "told"), [("ENABLED", [[1.0]]), ("DISABLED", [])])
def test_one_that_cannot_be_read_hides_no_other_and_takes_no_alarm_back(
    watched, swept, monkeypatch, capsys, state, told
):
    watched.schedules.known |= {
        "odd": schedule(ScheduleExpression="rate(7 days)"),
        "weekly": schedule(State=state),
    }
    monkeypatch.setenv("SCHEDULES", json.dumps({"other": "odd", **WATCHED}))

    with pytest.raises(AttemptsFailed, match=r"^schedule odd: Refused: "):
        swept()

    assert [metric["MissedSchedules"] for metric in metrics(capsys)] == told
