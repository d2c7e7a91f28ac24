"""The points of a series, from the rows of its query."""

import pytest

from tidemark.figures.query_rows import measured_series
from tidemark.model.metric import MOST_POINTS, Series
from tidemark.model.refusal import Refused

USERS = Series(name="users", unit="users", query="users_over_time")


def row(stream, second, value):
    return {"@logStream": stream, "at": f"2026-11-20 12:00:{second:02d}.000", "value": value}


def binned(stream, second, text):
    return {"@logStream": stream, "at": row(stream, second, "")["at"], "histogram": text}


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


def test_a_mean_counts_each_value_of_its_streams_once():
    series = USERS.model_copy(update={"statistic": "mean"})

    found = measured_series(series, [row("a", 1, "10") | {"n": "3"}, row("b", 1, "20")])

    assert [point.value for point in found.points] == [12.5]


def test_a_quantile_is_that_of_all_histograms_of_its_time():
    series = USERS.model_copy(update={"statistic": "p99"})
    rows = [binned("a", 1, "5.0:98"), binned("b", 1, "200:1 300:1"), binned("a", 2, "40:1")]

    found = measured_series(series, rows)

    # The quantile of 100 values lies at place 98.01, between 200 to 201 and 300 to 301.
    assert [point.value for point in found.points] == [pytest.approx(201.5), 40.5]


def test_a_long_series_keeps_its_first_and_its_last_point():
    rows = [
        {"@logStream": "a", "at": f"2026-11-20 12:{n // 60:02d}:{n % 60:02d}.000", "value": str(n)}
        for n in range(3_000)
    ]

    points = measured_series(USERS, rows).points

    assert (len(points), points[0].value, points[-1].value) == (MOST_POINTS, 0, 2_999)


@pytest.mark.parametrize("text", ["0", "-1", "1.5", ""])
def test_a_number_of_values_that_is_none_is_refused(text):
    with pytest.raises(Refused, match=r"n '.*' is not accepted; expected a whole number above 0$"):
        measured_series(USERS, [row("a", 1, "1") | {"n": text}])


def test_a_histogram_that_is_none_is_refused():
    series = USERS.model_copy(update={"statistic": "p99"})

    with pytest.raises(
        Refused, match=r"^users_over_time\.cwli: histogram 'x' is not accepted; exp"
    ):
        measured_series(series, [binned("a", 1, "x")])
