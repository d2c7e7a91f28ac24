from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from tidemark.model.cron import Cron, exceed_in_a_day
from tidemark.model.refusal import Refused

WEEKLY = "0 2 ? * SUN *"


def utc(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def times(fields, zone, after, count=3):
    cron, moment, due = Cron(fields, zone), utc(after), []
    for _ in range(count):
        moment = cron.next_after(moment)
        due.append(f"{moment:%Y-%m-%d %H:%M}")
    return due


@pytest.mark.parametrize(
    ("fields", "due"),
    [
        (WEEKLY, ["2026-11-22 02:00", "2026-11-29 02:00", "2026-12-06 02:00"]),
        ("0 2 ? * 1 *", ["2026-11-22 02:00", "2026-11-29 02:00", "2026-12-06 02:00"]),
        ("5/20 9-10 ? * FRI-MON *", ["2026-11-21 09:05", "2026-11-21 09:25", "2026-11-21 09:45"]),
        ("0 0 L * ? *", ["2026-11-30 00:00", "2026-12-31 00:00", "2027-01-31 00:00"]),
        ("0 0 15W * ? *", ["2026-12-15 00:00", "2027-01-15 00:00", "2027-02-15 00:00"]),
        ("0 0 ? * MON#1 *", ["2026-12-07 00:00", "2027-01-04 00:00", "2027-02-01 00:00"]),
        ("0 0 ? * 6L *", ["2026-11-27 00:00", "2026-12-25 00:00", "2027-01-29 00:00"]),
        ("0 0 1 JAN,JUL ? 2027-2028", ["2027-01-01 00:00", "2027-07-01 00:00", "2028-01-01 00:00"]),
        ("0 0 29 2 ? *", ["2028-02-29 00:00", "2032-02-29 00:00", "2036-02-29 00:00"]),
    ],
)
def test_a_cron_is_due_when_its_fields_match(fields, due):
    assert times(fields, "Etc/UTC", "2026-11-21 08:00") == due


def test_a_cron_is_due_by_the_clocks_of_its_zone():
    assert times(WEEKLY, "Asia/Tokyo", "2026-11-21 08:00", 1) == ["2026-11-21 17:00"]
    # In London summer begins on 29 March 2026, and ends on 25 October.
    assert times("0 9 ? * MON *", "Europe/London", "2026-03-22 00:00", 2) == [
        "2026-03-23 09:00",
        "2026-03-30 08:00",
    ]


def test_a_time_that_clocks_skip_is_never_due():
    assert times("30 1 * * ? *", "Europe/London", "2026-03-28 00:00") == [
        "2026-03-28 01:30",
        "2026-03-30 00:30",
        "2026-03-31 00:30",
    ]


def test_a_time_that_clocks_repeat_is_due_once():
    assert times("30 1 * * ? *", "Europe/London", "2026-10-24 12:00") == [
        "2026-10-25 00:30",
        "2026-10-26 01:30",
        "2026-10-27 01:30",
    ]


@pytest.mark.parametrize(
    ("zone", "around"),
    [
        ("Europe/London", "2026-03-29 01:00"),
        ("Europe/London", "2026-10-25 01:00"),
        ("Australia/Lord_Howe", "2026-04-04 15:00"),
        ("Antarctica/Troll", "2026-10-25 01:00"),
    ],
)
def test_next_and_last_due_times_agree_where_clocks_change(zone, around):
    cron = Cron("0/20 * * * ? *", zone)
    start, end = utc(around) - timedelta(hours=4), utc(around) + timedelta(hours=4)
    forth = [start]
    while (due := cron.next_after(forth[-1])) <= end:
        forth.append(due)

    for before, due in pairwise(forth[1:]):
        assert cron.last_until(due) == due
        assert cron.last_until(due - timedelta(seconds=1)) == before


def test_a_past_cron_has_no_next_time_and_a_future_cron_has_no_last_time():
    assert Cron("0 0 1 1 ? 2020", "Etc/UTC").next_after(utc("2026-11-21 08:00")) is None
    assert Cron("0 0 1 1 ? 2030", "Etc/UTC").last_until(utc("2026-11-21 08:00")) is None


@pytest.mark.parametrize(
    "fields",
    [
        "",
        "x",
        "0 2 * * SUN",
        "0 2 * * SUN *",
        "60 2 ? * SUN *",
        "0/0 2 ? * SUN *",
        "0 2 31 4 ? *",
        "0 2 LW * ? *",
        "0 2 ? * L *",
    ],
)
def test_unsupported_fields_are_refused(fields):
    with pytest.raises(
        Refused, match=r" is not a supported cron expression; expected minutes, hours"
    ):
        Cron(fields, "Etc/UTC")


@pytest.mark.parametrize(
    "zone", ["", "Europe", "Europe/Atlantis", "../etc/passwd", "/etc/localtime"]
)
def test_an_unknown_zone_is_refused(zone):
    with pytest.raises(Refused, match=r" is not a time zone such as Etc/UTC or Europe/London$"):
        Cron(WEEKLY, zone)


HOURLY = Cron("0 * ? * MON *", "Etc/UTC")


@pytest.mark.parametrize(
    ("crons", "most", "exceeded"),
    [
        ([], 0, False),
        ([HOURLY], 24, False),
        ([HOURLY], 23, True),
        ([HOURLY, Cron("30 0-8 ? * MON *", "Etc/UTC")], 32, True),
        # Half a day of one and half a day of the other are within 24 hours.
        ([Cron("0 12-23 ? * MON *", "Etc/UTC"), Cron("0 0-11 ? * TUE *", "Etc/UTC")], 23, True),
        ([HOURLY, Cron("0 * ? * MON 2030", "Etc/UTC")], 47, True),
        ([HOURLY, Cron("0 * ? * THU *", "Etc/UTC")], 24, False),
        ([Cron("* * ? * * *", "Etc/UTC")], 1439, True),
    ],
)
def test_schedules_exceed_a_number_of_starts_within_any_24_hours(crons, most, exceeded):
    assert exceed_in_a_day(crons, most) is exceeded
