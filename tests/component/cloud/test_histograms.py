"""A metric with histograms, from the log lines of several agents to its quantiles."""

import random
import re

import pytest

from aws.log_queries import InsightsQueries
from tidemark.figures import trial_statistics
from tidemark.figures.query_rows import MetricRows
from tidemark.figures.rates import differing, missing, rates
from tidemark.model.checkout import ROOT
from tidemark.model.metric import Metric
from tidemark.model.results import TaskResult
from tidemark.model.task import HARNESS

GROUP = "/Tidemark/kiwi"
NOON = 1_763_640_000  # 2025-11-20 12:00:00 UTC [s]
AGENTS = {f"t{n}": f"kiwi/kiwi/t{n}" for n in range(3)}
LATENCY = Metric(
    name="latency", unit="ms", direction="lower", query="latency", histograms="latency_histograms",
    statistics=("mean", "p50", "p99", "count"), labels=("operation",), most_labels=20, values="any",
)  # fmt: skip
PAGE = ROOT / "docs" / "suites" / "metrics.md"
# The queries of the page that tells users how to write them.
QUERIES = re.findall(
    r"^```\n(# The [a-z]+ of each operation.*?)^```", PAGE.read_text(encoding="utf-8"),
    re.DOTALL | re.M,
)  # fmt: skip


@pytest.fixture
def lines(monkeypatch):
    """Return a way to log times as the harness does."""
    monkeypatch.syspath_prepend(HARNESS)
    from harness.load import Histogram  # noqa: PLC0415

    def lines(times):
        histogram = Histogram()
        for time in times:
            histogram.add(time)
        return f"[main] kiwi.Load INFO  - {histogram.line('TestRun.add_case')}"

    return lines


@pytest.fixture
def rows(store, endpoint, logs):
    """Return the rows of the metric for the lines of each agent."""
    endpoint.client("logs").create_log_group(logGroupName=GROUP)
    queries = InsightsQueries(endpoint.client("logs"))

    def rows(by_agent):
        for stream, lines in zip(AGENTS.values(), by_agent, strict=True):
            store.append(GROUP, stream, [(NOON * 1000, line) for line in lines], NOON * 1000)
        window = NOON - 60, NOON + 60, 60
        answers = [queries.run(query, GROUP, *window, [*AGENTS.values()]) for query in QUERIES]
        return MetricRows(LATENCY, *(answer.rows for answer in answers))

    return rows


def test_the_figures_of_all_agents_are_those_of_all_times(rows, lines):
    chance = random.Random(1)
    times = [[chance.lognormvariate(3 + n, 1) for _ in range(300)] for n in range(3)]

    found = rows([[lines(each[:100]), lines(each[100:])] for each in times])

    tasks = [
        TaskResult(index=n, status="ok", task_arn=f"arn:task/c/{name}")
        for n, name in enumerate(AGENTS)
    ]
    assert missing([found], tasks, AGENTS, jobs=1) == []
    assert differing(found) == []
    mean, p50, p99, count = (rate.value for rate in rates(found, expected=3, whole=True))
    everything = [time for each in times for time in each]
    assert mean == pytest.approx(trial_statistics.of_samples("mean", everything, None), rel=1e-6)
    assert p50 == pytest.approx(trial_statistics.of_samples("p50", everything, None), abs=0.5)
    assert p99 == pytest.approx(trial_statistics.of_samples("p99", everything, None), abs=5)
    assert count == 900


def test_a_line_without_its_buckets_is_missing_values(rows, lines):
    line = lines([5.0, 7.0])

    found = rows([[line], [line], [line.replace(" buckets", " bucket")]])
    task = TaskResult(index=2, status="ok", task_arn="arn:task/c/t2")
    assert missing([found], [task], AGENTS, jobs=1) == ["task 2 (t2) logged no line of latency"]


def test_an_average_that_is_not_that_of_the_buckets_is_named(rows, lines):
    line = lines([5.0, 7.0])

    found = rows([[line], [line], [line.replace("average 6", "average 90")]])
    assert differing(found) == [
        "latency {operation: TestRun.add_case}: 34 by its query, 6.05 by its histograms"
    ]
