"""The points of a series, from the rows of its query."""

import pytest

from tidemark.figures.series_points import measured_series
from tidemark.model.refusal import Refused
from tidemark.model.series import Series

USERS = Series(name="users", unit="users", query="users_over_time")


def row(stream, second, value):
    return {"@logStream": stream, "at": f"2026-11-20 12:00:{second:02d}.000", "value": value}


@pytest.mark.parametrize(
    ("statistic", "merged"), [("total", 30.5), ("mean", 15.25), ("max", 20.0), ("min", 10.5)]
)
def test_the_streams_of_one_time_are_one_point(statistic, merged):
    series = USERS.model_copy(update={"statistic": statistic})

    found = measured_series(series, [row("b", 2, "7"), row("a", 1, "10.5"), row("b", 1, "20")])

    assert [(point.at[-6:], point.value) for point in found.points] == [
        ("01.000", merged), ("02.000", 7.0)
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["∞", "nan", "many", ""])
def test_a_value_that_is_no_finite_number_is_refused(text):
    sentence = r"^users_over_time\.cwli: value '.*' is not accepted; expected a finite number$"
    with pytest.raises(Refused, match=sentence):
        measured_series(USERS, [row("a", 1, text)])


def test_a_time_that_is_none_is_refused():
    sentence = (
        "users_over_time.cwli: at 'noon' is not accepted; expected a time, such as bin(1s) or "
        "@timestamp gives"
    )
    with pytest.raises(Refused) as refused:
        measured_series(USERS, [{"@logStream": "a", "at": "noon", "value": "1"}])
    assert str(refused.value) == sentence
