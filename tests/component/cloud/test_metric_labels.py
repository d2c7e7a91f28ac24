"""A metric with labels, from log lines to figures."""

import re

import pytest

from aws.log_queries import InsightsQueries
from tidemark.figures.query_rows import MetricRows, measured_series
from tidemark.figures.rates import differing, missing, rates
from tidemark.model.checkout import ROOT
from tidemark.model.metric import Metric, Series
from tidemark.model.results import TaskResult

GROUP = "/Tidemark/kiwi"
NOON = 1_763_640_000  # 2025-11-20 12:00:00 UTC [s]
STREAM = "kiwi/kiwi/t0"
LATENCY = Metric(
    name="latency", unit="ms", direction="lower", query="latency", samples="latency_samples",
    statistics=("mean", "p99"), labels=("operation",), most_labels=1000, values="any",
)  # fmt: skip
PAGE = ROOT / "docs" / "suites" / "metrics.md"
# The queries of the page that tells users how to write them.
*QUERIES, SERIES_QUERY, HISTOGRAMS_QUERY = re.findall(
    r"^```\n(fields @message.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.M
)


@pytest.fixture
def rows(store, endpoint, logs):
    """Return the rows of the metric for the lines of one task."""
    endpoint.client("logs").create_log_group(logGroupName=GROUP)
    queries = InsightsQueries(endpoint.client("logs"))

    def rows(lines):
        append(store, lines)
        answers = [queries.run(q, GROUP, NOON - 60, NOON + 60, 60, [STREAM]) for q in QUERIES]
        return MetricRows(LATENCY, *(answer.rows for answer in answers))

    return rows


def append(store, lines, stream=STREAM):
    store.append(GROUP, stream, [(NOON * 1000, line) for line in lines], NOON * 1000)


def test_a_thousand_labels_on_one_stream_have_the_figures_of_their_lines(rows):
    found = rows(f"op-{n:04d} took {n}.{job} ms" for n in range(1000) for job in range(9))

    task = TaskResult(index=0, status="ok", task_arn="arn:task/c/t0")
    assert missing([found], [task], {"t0": STREAM}, jobs=1) == []
    assert differing(found) == []
    figures = rates(found, expected=1, whole=True)
    assert [rate.value for rate in figures[:1000]] == [pytest.approx(n + 0.4) for n in range(1000)]
    assert [rate.value for rate in figures[1000:]] == [
        pytest.approx(n + 0.792) for n in range(1000)
    ]
    assert figures[0].labels == {"operation": "op-0000"}


def test_the_p99_is_the_pct_of_the_query_language(rows, endpoint):
    found = rows(f"create took {n * n % 101}.{n} ms" for n in range(400))

    query = QUERIES[0].replace("avg(number)", "pct(number, 99)")
    queries = InsightsQueries(endpoint.client("logs"))
    (row,) = queries.run(query, GROUP, NOON - 60, NOON + 60, 60, [STREAM]).rows
    (_, p99) = rates(found, expected=1, whole=True)
    assert p99.value == pytest.approx(float(row["value"]))


def test_a_text_that_is_no_number_is_in_the_samples_alone(rows):
    found = rows(["create took 1.5 ms", "create took ∞ ms", "delete took NaN ms"])

    create, delete, *_ = rates(found, expected=1, whole=True)
    assert (create.value, create.samples, create.not_finite) == (None, 1, 1)
    assert (delete.value, delete.samples, delete.not_finite) == (None, 0, 1)
    assert differing(found) == []


def test_a_series_adds_up_the_streams_of_a_time(store, endpoint, logs):
    endpoint.client("logs").create_log_group(logGroupName=GROUP)
    append(store, ["10 users", "20 users"])
    append(store, ["7 users"], "kiwi/kiwi/t1")
    streams = [STREAM, "kiwi/kiwi/t1"]
    queries = InsightsQueries(endpoint.client("logs"))

    answer = queries.run(SERIES_QUERY, GROUP, NOON - 60, NOON + 60, 60, streams)

    users = Series(name="active_users", unit="users", query="users_over_time")
    (point,) = measured_series(users, answer.rows).points
    assert (point.at, point.value) == ("2025-11-20 12:00:00.000", 22.0)


def test_a_quantile_of_a_series_is_that_of_all_streams_of_a_time(store, endpoint, logs):
    endpoint.client("logs").create_log_group(logGroupName=GROUP)
    append(store, ["Histogram create count 99 average 5.0 ms buckets 5.0:99"])
    append(store, ["Histogram create count 99 average 20.0 ms buckets 20.0:99"], "kiwi/kiwi/t1")
    streams = [STREAM, "kiwi/kiwi/t1"]
    queries = InsightsQueries(endpoint.client("logs"))

    answer = queries.run(HISTOGRAMS_QUERY, GROUP, NOON - 60, NOON + 60, 60, streams)

    p99 = Series(name="p99", unit="ms", query="times_over_time", statistic="p99")
    (point,) = measured_series(p99, answer.rows).points
    # The middle of the bucket that begins at 20.0 ms.
    assert (point.at, point.value) == ("2025-11-20 12:00:00.000", 20.5)
