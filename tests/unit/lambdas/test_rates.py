import math

import pytest

from lambdas.rates import MetricRows, different, environments, missing, rate, samples
from lambdas.results import TaskResult
from suites.files import read_suites

METRIC = read_suites()["rocksdb"].test("compaction").metrics[0]
STREAMS = {"t0": "rocksdb/rocksdb/t0", "t1": "rocksdb/rocksdb/t1"}


def row(stream, mean, count, lines=None):
    """Give a row of the rate query; streams without a number have no avg."""
    cells = {
        "@logStream": STREAMS[stream],
        "count(number)": str(count),
        "count(rate)": str(count if lines is None else lines),
    }
    return cells | ({"avg(number)": str(mean)} if count else {})


def line(stream, text, **more):
    return {
        "@logStream": STREAMS[stream],
        "@timestamp": "2026-11-20 12:00:00.000",
        "rate": text,
    } | more


def rows(rate_rows, sample_rows):
    return MetricRows(METRIC, rate_rows, sample_rows, set(STREAMS.values()))


def task(index, status="ok"):
    return TaskResult(index=index, status=status, task_arn=f"arn:task/c/t{index}")


TWO_STREAMS = rows(
    [row("t0", 100.5, 2), row("t1", 200.0, 1)],
    [line("t0", "100.0"), line("t0", "101.0"), line("t1", "200.0")],
)


def test_the_rate_is_the_mean_of_all_samples_not_of_the_streams():
    found = rate(TWO_STREAMS, expected=3, whole=True)

    assert found.value == pytest.approx((100 + 101 + 200) / 3, rel=1e-15)
    assert (found.samples, found.min, found.max) == (3, 100.0, 200.0)
    assert math.isclose(found.stddev, 57.4485277, rel_tol=1e-7)


def test_streams_of_other_trials_are_left_out():
    other = {"@logStream": "rocksdb/rocksdb/other", "avg(number)": "9", "count(number)": "1"}
    mixed = rows([row("t0", 100.0, 1), other], [line("t0", "100.0"), other])

    assert rate(mixed, expected=1, whole=True).value == 100.0


def test_half_a_test_has_samples_and_no_rate():
    found = rate(TWO_STREAMS, expected=4, whole=False)

    assert (found.value, found.samples) == (None, 3)


@pytest.mark.parametrize("text", ["∞", "NaN", "Infinity", "1_000", "-5"])
def test_what_is_no_finite_number_is_counted_and_never_averaged(text):
    found = rate(
        rows([row("t0", 100.0, 1, lines=2)], [line("t0", "100.0"), line("t0", text)]),
        expected=2,
        whole=True,
    )

    assert (found.value, found.not_finite, found.samples) == (None, 1, 1)
    assert found.max == 100.0


def test_more_lines_than_expected_are_no_rate_either():
    assert rate(TWO_STREAMS, expected=2, whole=True).value is None


def test_a_sample_keeps_what_was_logged():
    (sample,) = samples(rows([], [line("t0", "100.50", job="j", records="7")]))

    assert (sample.value_text, sample.value, sample.job, sample.records) == (
        "100.50",
        100.5,
        "j",
        7,
    )


def test_records_are_summed_only_if_every_line_gives_them():
    with_records = rows(
        [row("t0", 1.0, 2)], [line("t0", "1.0", records="7"), line("t0", "1.0", records="8")]
    )
    without = rows([row("t0", 1.0, 2)], [line("t0", "1.0", records="7"), line("t0", "1.0")])

    assert rate(with_records, expected=2, whole=True).records == 15
    assert rate(without, expected=2, whole=True).records is None


def test_a_task_that_has_not_logged_all_its_rates_is_named():
    lacking = missing([TWO_STREAMS], [task(0), task(1)], STREAMS, jobs=2)

    assert lacking == ["task 1 (t1) logged 1 of 2 lines of compaction_rate"]


def test_a_line_that_only_one_of_the_two_queries_saw_is_still_missing():
    late = rows([row("t0", 100.0, 1)], [])

    assert missing([late], [task(0)], STREAMS, jobs=1)


def test_a_failed_task_is_not_waited_for():
    assert missing([TWO_STREAMS], [task(1, "failed")], STREAMS, jobs=5) == []


def test_environments_that_differ_are_all_kept_and_equal_ones_once():
    logged = [
        {"@logStream": STREAMS["t0"], "environment": '{"cpu": "A", "arch": "x"}'},
        {"@logStream": "t2", "environment": '{"arch": "x", "cpu": "A"}'},
        {"@logStream": STREAMS["t1"], "environment": '{"cpu": "B"}'},
        {"@logStream": "other", "environment": '{"cpu": "C"}'},
    ]

    found = environments(logged, {*STREAMS.values(), "t2"})

    assert found[STREAMS["t1"]] == {"cpu": "B"}

    assert different(found.values()) == [{"cpu": "A", "arch": "x"}, {"cpu": "B"}]
