"""The figures of metrics with statistics and labels."""

import pytest

from tidemark.figures.query_rows import MetricRows
from tidemark.figures.rates import differing, missing, rates, surplus
from tidemark.model.metric import MOST_SAMPLES, Metric
from tidemark.model.refusal import Refused
from tidemark.model.results import TaskResult
from tidemark.model.suite_files import read_suites

STREAMS = {"t0": "s/s/t0", "t1": "s/s/t1"}
TASKS = [TaskResult(index=n, status="ok", task_arn=f"arn:task/c/t{n}") for n in range(2)]
LATENCY = Metric(
    name="latency", unit="ms", direction="lower", query="latency", samples="latencies",
    statistics=("mean", "p99"), labels=("operation",), most_labels=1000, values="any",
)  # fmt: skip
SIZE = Metric(name="size", unit="B", direction="lower", query="size", statistics=("max", "count"))


def row(value, n, stream="t0", **labels):
    return {"@logStream": STREAMS[stream], "value": str(value), "n": str(n), **labels}


def line(text, stream="t0", **more):
    time = "2026-11-20 12:00:00.000"
    return {"@logStream": STREAMS[stream], "@timestamp": time, "value": text, **more}


def latencies(**by_operation):
    """Return the rows of both queries, with the mean of each operation."""
    means = [
        row(sum(map(float, texts)) / len(texts), len(texts), operation=name)
        for name, texts in by_operation.items()
    ]
    lines = [line(text, operation=name) for name, texts in by_operation.items() for text in texts]
    return MetricRows(LATENCY, means, lines)


def figures(rows, **known):
    found = rates(rows, **{"expected": 2, "whole": True, "seconds": 10.0, **known})
    return {rate.name: rate.value for rate in found}


def test_each_combination_of_labels_has_each_statistic():
    rows = latencies(create=["1.0", "3.0"], delete=["5.0"])

    assert figures(rows) == {
        "latency {operation: create}": 2.0,
        "latency {operation: delete}": 5.0,
        "latency p99 {operation: create}": pytest.approx(2.98),
        "latency p99 {operation: delete}": 5.0,
    }


def test_a_label_is_the_same_metric_in_every_stream():
    rows = MetricRows(
        LATENCY,
        [row(1, 1, operation="create"), row(3, 3, "t1", operation="create")],
        [line("1", operation="create"), *(line("3", "t1", operation="create") for _ in range(3))],
    )

    assert figures(rows)["latency {operation: create}"] == 2.5


def test_a_value_without_the_label_has_an_empty_one():
    assert list(figures(MetricRows(LATENCY, [row(7, 1)], [line("7")]))) == [
        "latency {operation: }", "latency p99 {operation: }",
    ]  # fmt: skip


def test_a_label_of_any_length_is_cut():
    (found, _) = rates(latencies(**{"x" * 300: ["1"]}), expected=1, whole=True)

    assert len(found.labels["operation"].encode()) == 200


def test_only_the_labels_with_a_text_have_no_figure():
    rows = MetricRows(
        LATENCY,
        [row(1, 1, operation="a"), row(2, 1, operation="b")],
        [line("1", operation="a"), line("2", operation="b"), line("∞", operation="b")],
    )

    found = rates(rows, expected=2, whole=True)
    assert [(rate.value, rate.not_finite) for rate in found[:2]] == [(1.0, 0), (None, 1)]


def test_a_thousand_labels_on_one_stream_are_a_thousand_figures():
    rows = latencies(**{f"operation-{n:04d}": [f"{n}.5"] * 9 for n in range(1000)})

    assert len(rows.samples) <= MOST_SAMPLES
    assert differing(rows) == []
    assert [rate.value for rate in rates(rows, expected=1, whole=True)] == [
        n + 0.5 for _ in LATENCY.statistics for n in range(1000)
    ]


def test_the_figures_of_streams_are_merged_without_samples():
    rows = MetricRows(SIZE, [row(70, 2), row(90, 2, "t1")], [])

    assert missing([rows], TASKS, STREAMS, jobs=2) == []
    assert figures(rows, expected=4) == {"size max": 90.0, "size count": 4.0}


def test_a_stream_without_a_number_is_not_merged():
    rows = MetricRows(SIZE, [row(70, 4), {"@logStream": STREAMS["t1"], "n": "0"}], [])

    assert figures(rows, expected=4)["size max"] == 70.0


def test_a_total_per_second_counts_from_the_first_start_to_the_last_stop():
    written = SIZE.model_copy(update={"statistics": ("per_second", "total")})
    rows = MetricRows(written, [row(70, 1), row(30, 1, "t1")], [])

    assert figures(rows) == {"size per_second": 10.0, "size total": 100.0}
    assert figures(rows, seconds=None)["size per_second"] is None


def test_any_number_of_values_is_enough_if_each_task_logs_one():
    one_stream = latencies(create=["1", "2", "3"])

    assert missing([one_stream], TASKS, STREAMS, jobs=1) == [
        "task 1 (t1) logged no line of latency"
    ]
    assert surplus([one_stream], TASKS, STREAMS, jobs=1) == []


def test_a_task_without_a_line_of_the_form_is_named_with_the_form():
    rows = MetricRows(LATENCY.model_copy(update={"log": "ms=*"}), [], [])

    assert missing([rows], TASKS[:1], STREAMS, jobs=1) == [
        "task 0 (t0) logged no line of latency in the form of 'ms=*'"
    ]


def test_a_task_that_logs_more_values_than_its_metric_allows_is_named_with_the_way_out():
    few = LATENCY.model_copy(update={"values_at_most": 2})
    rows = MetricRows(few, [row(2, 3, operation="a")], [line("2", operation="a")] * 3)

    assert surplus([rows], TASKS[:1], STREAMS, jobs=1) == [
        "task 0 (t0) logged 3 lines of latency, above its values_at_most, 2; raise it, up to 9,999"
    ]


def test_a_value_that_only_one_query_has_seen_is_missing():
    late = MetricRows(LATENCY, [row(1, 2, operation="a")], [line("1", operation="a")])

    assert missing([late], TASKS[:1], STREAMS, jobs=1) == [
        "task 0 (t0) logged lines of latency that one query counts as 1, the other as 2"
    ]


@pytest.mark.parametrize("printed", ["0.3333", "0.33333333333", "0.334", "0.33", "0"])
def test_a_figure_may_be_printed_in_any_precision(printed):
    texts = ["0", "0", "1"]
    rows = MetricRows(LATENCY, [row(printed, 3)], [line(text) for text in texts])

    assert differing(rows) == []


def test_a_figure_of_a_query_that_differs_from_its_samples_is_named():
    rows = MetricRows(
        LATENCY,
        [row("1.25", 2, operation="a"), row("2.5", 2, operation="b")],
        [line(text, operation=name) for name in "ab" for text in ("2", "3")],
    )

    assert differing(rows) == ["latency {operation: a}: 1.25 by its query, 2.5 by its samples"]


def test_a_value_of_400_digits_is_no_number_and_leaves_no_figure():
    rows = MetricRows(LATENCY, [{"@logStream": STREAMS["t0"], "n": "2"}], [line("9" * 400)] * 2)

    assert differing(rows) == []
    (found, _) = rates(rows, expected=2, whole=True)
    assert (found.value, found.not_finite) == (None, 2)


def test_a_query_without_a_number_for_numbers_is_named():
    rows = MetricRows(LATENCY, [{"@logStream": STREAMS["t0"], "n": "1"}], [line("7")])

    assert differing(rows) == ["latency {operation: }: no number by its query, 7 by its samples"]


def test_a_query_without_a_number_is_refused_without_samples():
    with pytest.raises(
        Refused, match=r"^size\.cwli: value 'Infinity' with n '2' is not accepted; "
    ):
        MetricRows(SIZE, [row("Infinity", 2)], [])


def test_values_that_the_two_queries_give_other_labels_are_named():
    rows = MetricRows(LATENCY, [row(2, 2, operation="a")], [line("2", operation=n) for n in "ab"])

    assert differing(rows) == [
        "latency {operation: a}: 2 values by its query, 1 by its samples",
        "latency {operation: b}: 0 values by its query, 1 by its samples",
    ]


def test_the_mean_of_a_trial_is_that_of_its_samples_to_the_last_bit():
    metric = read_suites()["rocksdb"].test("ingest").metrics[0]
    rows = MetricRows(metric, [row("0.333", 3)], [line(text) for text in ("0.1", "0.2", "0.7")])

    (rate,) = rates(rows, expected=3, whole=True)
    assert rate.value == (0.1 + 0.2 + 0.7) / 3


BINNED = LATENCY.model_copy(update={"samples": None, "histograms": "histograms"})


def bins(text, stream="t0"):
    return {"@logStream": STREAMS[stream], "histogram": text, "operation": "a"}


def test_the_quantile_of_histograms_is_that_of_all_streams():
    rows = MetricRows(
        BINNED,
        [row(5.05, 99, operation="a"), row(500.5, 2, "t1", operation="a")],
        [bins("5:90"), bins("5:9"), bins("500:2", "t1")],
    )

    assert missing([rows], TASKS, STREAMS, 1) == []
    assert differing(rows) == []
    assert figures(rows) == {
        "latency {operation: a}": pytest.approx((5.05 * 99 + 500.5 * 2) / 101),
        "latency p99 {operation: a}": pytest.approx(500.5),
    }


def test_histograms_of_another_number_of_values_are_late_lines():
    rows = MetricRows(BINNED, [row(5.05, 99, operation="a")], [bins("5:90")])

    assert rows.lines_of_any_number == 189
    assert missing([rows], TASKS[:1], STREAMS, 1) == [
        "task 0 (t0) logged lines of latency that one query counts as 90, the other as 99"
    ]
    assert differing(rows) == [
        "latency {operation: a}: 99 values by its query, 90 by its histograms"
    ]


def test_a_mean_outside_the_buckets_is_named():
    rows = MetricRows(BINNED, [row("5.2000", 99, operation="a")], [bins("5:99")])

    assert differing(rows) == ["latency {operation: a}: 5.2 by its query, 5.05 by its histograms"]


def test_a_text_that_is_no_histogram_is_refused_with_its_query():
    with pytest.raises(
        Refused, match=r"^histograms\.cwli: histogram '5' is not accepted; expected"
    ):
        MetricRows(BINNED, [], [bins("5")])
