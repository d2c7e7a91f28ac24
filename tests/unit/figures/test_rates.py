import math

import pytest

from tidemark.figures.query_rows import MetricRows
from tidemark.figures.rates import impossible, missing, rates, surplus
from tidemark.model.refusal import Refused
from tidemark.model.results import TaskResult
from tidemark.model.suite_files import read_suites

METRIC = read_suites()["rocksdb"].test("compaction").metrics[0]
STREAMS = {"t0": "rocksdb/rocksdb/t0", "t1": "rocksdb/rocksdb/t1"}


def row(stream, mean, count):
    """Return a row of the rate query; a stream without a number has no mean."""
    cells = {"@logStream": STREAMS[stream], "n": str(count)}
    return cells | ({"value": str(mean)} if count else {})


def line(stream, text, **more):
    return {
        "@logStream": STREAMS[stream],
        "@timestamp": "2026-11-20 12:00:00.000",
        "value": text,
    } | more


def rows(rate_rows, sample_rows):
    return MetricRows(METRIC, rate_rows, sample_rows)


def rate(rows, **known):
    """Return the only rate of a metric."""
    (only,) = rates(rows, **known)
    return only


def task(index, status="ok", **more):
    return TaskResult(index=index, status=status, task_arn=f"arn:task/c/t{index}", **more)


TWO_STREAMS = rows(
    [row("t0", 100.5, 2), row("t1", 200.0, 1)],
    [line("t0", "100.0"), line("t0", "101.0"), line("t1", "200.0")],
)


def test_the_rate_is_the_mean_of_all_samples_not_of_the_streams():
    found = rate(TWO_STREAMS, expected=3, whole=True)

    assert found.value == pytest.approx((100 + 101 + 200) / 3, rel=1e-15)
    assert (found.samples, found.min, found.max) == (3, 100.0, 200.0)
    assert math.isclose(found.stddev, 57.4485277, rel_tol=1e-7)


def test_a_partial_test_has_samples_and_no_rate():
    found = rate(TWO_STREAMS, expected=4, whole=False)

    assert (found.value, found.samples) == (None, 3)


JOBS = METRIC.model_copy(update={"began": "jobs"})


def of_jobs(logged, began, metric=JOBS):
    """Return the rows of a metric whose tasks began jobs, and logged values of jobs by stream."""
    streams = [stream for stream, _ in logged]
    return MetricRows(
        metric,
        [row(stream, 100.0, streams.count(stream)) for stream in dict.fromkeys(streams)],
        [line(stream, "100.0", job=job) for stream, job in logged],
        began=[{"@logStream": STREAMS["t0"], "job": job} for job in began],
    )


@pytest.mark.parametrize(
    ("logged", "began", "reasons"),
    [
        ([("t0", "a"), ("t1", "b")], "ab", []),
        # A job goes back to the queue when its task fails, and begins again in another one.
        ([("t0", "a"), ("t1", "b")], "aab", []),
        ([("t0", "a")], "abc", ["job b began and logged no", "job c began and logged no"]),
        ([], "", ["the tasks began no job of"]),
        ([("t0", "a"), ("t1", "b")], "a", ["the tasks logged 2 lines of {}, and began 1 job"]),
        ([("t0", "a"), ("t1", "a")], "a", ["the tasks logged 2 lines of {}, and began 1 job"]),
    ],
)
def test_every_job_that_began_has_one_value_and_another_one_is_named(logged, began, reasons):
    metric = of_jobs(logged, began)
    tasks = [task(index) for index in range(len(STREAMS))]

    found = missing([metric], tasks, STREAMS, 1) + surplus([metric], tasks, STREAMS, 1)

    ends = [each.format(METRIC.name) for each in reasons]
    assert found == [each if METRIC.name in each else f"{each} {METRIC.name}" for each in ends]


def test_a_query_that_names_no_jobs_has_to_count_as_many_as_began():
    counting = JOBS.model_copy(update={"samples": None})
    metric = MetricRows(counting, [row("t0", 100.0, 1)], [], began=[{"job": job} for job in "ab"])

    (reason,) = missing([metric], [], STREAMS, 1)
    assert reason == f"the tasks began 2 jobs and logged 1 line of {METRIC.name}"
    # Each new line may be a job that no other line has told of.
    assert (metric.lines_of_any_number, of_jobs([("t0", "a")], "ab").lines_of_any_number) == (3, 4)


@pytest.mark.parametrize("text", ["∞", "NaN", "Infinity", "1_000", "-5", "9" * 400])
def test_a_text_that_is_no_finite_number_is_counted_and_never_averaged(text):
    found = rate(
        rows([row("t0", 100.0, 1)], [line("t0", "100.0"), line("t0", text)]),
        expected=2,
        whole=True,
    )

    assert (found.value, found.not_finite, found.samples) == (None, 1, 1)
    assert found.max == 100.0


@pytest.mark.parametrize(
    "cells", [{"value": "7", "n": "2.5"}, {"value": "fast", "n": "1"}, {"value": "7", "n": ""}]
)
def test_a_row_that_has_no_mean_or_no_number_of_values_is_refused_by_query_and_row(cells):
    with pytest.raises(Refused, match=r"^compaction_rate\.cwli: value '.*' with n '.*' is not acc"):
        rows([{"@logStream": STREAMS["t0"], **cells}], [])


def test_a_line_without_a_finite_number_is_not_missing():
    logged = rows([row("t0", 100.0, 1)], [line("t0", "100.0"), line("t0", "∞")])

    assert missing([logged], [task(0)], STREAMS, jobs=2) == []


def test_more_lines_than_expected_give_no_rate():
    assert rate(TWO_STREAMS, expected=2, whole=True).value is None


def test_a_sample_keeps_the_logged_text():
    (sample,) = rows([], [line("t0", "100.50", job="j", records="7")]).samples

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


def test_a_line_that_only_one_of_the_two_queries_returned_is_missing():
    late = rows([row("t0", 100.0, 1)], [])

    assert missing([late], [task(0)], STREAMS, jobs=1)


def test_a_task_that_logged_more_rates_than_it_has_jobs_is_named():
    found = surplus([TWO_STREAMS], [task(0), task(1)], STREAMS, jobs=1)

    assert found == ["task 0 (t0) logged 2 lines of compaction_rate, not 1"]


def test_a_surplus_line_that_only_one_query_returned_is_named():
    early = rows([row("t0", 100.0, 2)], [line("t0", "100.0")])

    assert surplus([early], [task(0)], STREAMS, jobs=1)


def test_a_repeated_job_is_named_even_if_the_number_of_lines_is_right():
    doubled = rows(
        [row("t0", 100.0, 2)], [line("t0", "99.0", job="a"), line("t0", "101.0", job="a")]
    )

    assert missing([doubled], [task(0)], STREAMS, jobs=2) == []
    assert surplus([doubled], [task(0)], STREAMS, jobs=2) == [
        "task 0 (t0) logged job a twice in compaction_rate"
    ]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("0", "0 records/s of compaction_rate, which is not a rate"),
        ("0.0", "0 records/s of compaction_rate, which is not a rate"),
        ("1" + "0" * 300, "1e+300 records/s of compaction_rate, which no machine does"),
        (
            "9.9",
            "9.9 records/s of compaction_rate, at which 100 records take longer than the task ran",
        ),
    ],
)
def test_an_impossible_rate_is_named_with_its_reason(text, why):
    ran = task(0, started_at=1_763_640_000_000, stopped_at=1_763_640_009_000)  # 9 s
    found = impossible(rows([], [line("t0", text, records="100")]), [ran], STREAMS)

    assert found == [f"task 0 (t0) logged {why}"]


def test_impossible_rates_are_named_once_in_the_order_of_the_tasks():
    lines = [line("t1", "0"), line("t0", "0"), line("t1", "0")]

    found = impossible(rows([], lines), [task(0), task(1)], STREAMS)

    assert [sentence.split(" logged ")[0] for sentence in found] == ["task 0 (t0)", "task 1 (t1)"]


@pytest.mark.parametrize("text", ["10.1", "0.5", "999999999999", "∞"])
def test_a_possible_rate_or_a_text_is_not_impossible(text):
    unknown = task(0)

    assert impossible(rows([], [line("t0", text, records="100")]), [unknown], STREAMS) == []


def test_a_rate_of_which_less_is_better_may_be_zero():
    errors = METRIC.model_copy(update={"unit": "errors/s", "direction": "lower"})

    assert impossible(MetricRows(errors, [], [line("t0", "0")]), [task(0)], STREAMS) == []


def test_a_metric_that_is_no_rate_per_second_may_have_any_value():
    seconds = METRIC.model_copy(update={"unit": "s"})
    latency = MetricRows(seconds, [], [line("t0", "0")])

    assert impossible(latency, [task(0)], STREAMS) == []


def test_a_failed_task_is_not_waited_for():
    assert missing([TWO_STREAMS], [task(1, "failed")], STREAMS, jobs=5) == []
