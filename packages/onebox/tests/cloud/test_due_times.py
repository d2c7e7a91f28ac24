from datetime import UTC, datetime, timedelta

import pytest

from onebox.cloud.schedules import due_times

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


class Cron:
    """A cron expression that is not read."""

    def __init__(self, fields, zone):
        if fields == "bogus":
            raise ValueError(f"{fields!r} is no cron expression")
        self.fields, self.zone = fields, zone


def test_a_rate_is_due_at_its_creation_and_then_at_its_rate():
    times = due_times("rate(90 minutes)", "Etc/UTC", NOON, Cron)

    assert times.next_after(NOON - timedelta(seconds=1)) == NOON
    assert times.next_after(NOON) == NOON + timedelta(minutes=90)
    assert times.next_after(NOON + timedelta(minutes=100)) == NOON + timedelta(hours=3)


def test_an_at_expression_is_due_once_in_its_time_zone():
    times = due_times("at(2026-11-21T14:00:00)", "Europe/Berlin", NOON, Cron)

    assert times.next_after(NOON) == NOON + timedelta(hours=1)
    assert times.next_after(NOON + timedelta(hours=1)) is None


def test_a_cron_expression_is_read_by_its_reader():
    times = due_times("cron(0 14 * * ? *)", "Europe/Berlin", NOON, Cron)

    assert (times.fields, times.zone) == ("0 14 * * ? *", "Europe/Berlin")


@pytest.mark.parametrize(
    ("expression", "zone", "sentence"),
    [
        (
            "rate(0 days)",
            "Etc/UTC",
            r"'rate\(0 days\)' is no schedule expression; accepted: such as rate\(7 days\), ",
        ),
        ("rate(1 week)", "Etc/UTC", "is no schedule expression"),
        ("at(2026-02-30T00:00:00)", "Etc/UTC", "is no schedule expression"),
        ("cron(bogus)", "Etc/UTC", "'bogus' is no cron expression"),
        ("0 2 ? * SUN *", "Etc/UTC", "is no schedule expression"),
        ("rate(1 day)", "Mars/Olympus", "'Mars/Olympus' is no time zone"),
        ("at(2026-11-21T14:00:00)", "Mars/Olympus", "'Mars/Olympus' is no time zone"),
    ],
)
def test_an_invalid_expression_is_refused(expression, zone, sentence):
    with pytest.raises(ValueError, match=sentence):
        due_times(expression, zone, NOON, Cron)
