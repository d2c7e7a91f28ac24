"""The log queries of a test, beside other tasks whose lines they would count too."""

import pytest

from aws.log_queries import InsightsQueries
from tidemark.model.metric import MOST_SAMPLES
from tidemark.model.parameters import MOST_TASKS
from tidemark.model.suite_asset import query_file
from tidemark.run.ports import TooManyRows

GROUP = "/Tidemark/rocksdb"
NOON = 1_763_640_000  # 2025-11-20 12:00:00 UTC [s]
LINE = "[main] rocksdb.Ingest INFO  - Wrote 10 records to S3 in 2.1 seconds at {}.0 per second"
JOBS = MOST_SAMPLES // MOST_TASKS


@pytest.fixture
def log(store, endpoint, logs):
    """Log lines of one task within a minute, many in the same millisecond."""
    endpoint.client("logs").create_log_group(logGroupName=GROUP)

    def log(stream, lines):
        times = [(NOON + number % 60) * 1000 for number in range(lines)]
        rates = [(time, LINE.format(number + 1)) for number, time in enumerate(times)]
        store.append(GROUP, stream, rates, NOON * 1000)

    return log


@pytest.fixture
def ask(endpoint):
    """Ask a query of the suite for the rows of some streams."""
    queries = InsightsQueries(endpoint.client("logs"))

    def ask(name, streams):
        text = query_file("rocksdb", name).read_text(encoding="utf-8")
        return queries.run(text, GROUP, NOON - 60, NOON + 120, 60, streams).rows

    return ask


def streams_of(trial, tasks=MOST_TASKS):
    return [f"rocksdb/rocksdb/{trial}{task:031x}" for task in range(tasks)]


def logged(rows):
    return sorted((row["@logStream"], float(row["value"])) for row in rows)


def test_the_largest_test_that_a_request_may_ask_for_is_read_whole_beside_another(log, ask):
    own, other = streams_of("a"), streams_of("b")
    for stream in (*own, *other):
        log(stream, JOBS)

    samples, means = ask("ingest_samples", own), ask("ingest_rate", own)

    assert logged(samples) == [(stream, job + 1.0) for stream in own for job in range(JOBS)]
    assert sorted(row["@logStream"] for row in means) == own
    assert {(row["value"], row["n"]) for row in means} == {(f"{(JOBS + 1) / 2:g}", str(JOBS))}


@pytest.mark.parametrize(
    "lines", [20_000, pytest.param(1_000_000, marks=pytest.mark.systems, id="flood")]
)
def test_the_lines_of_a_neighbour_take_no_row_from_a_test(log, ask, lines):
    log("rocksdb/rocksdb/flood", lines)
    (own,) = streams_of("a", 1)
    log(own, 2)

    assert logged(ask("ingest_samples", [own])) == [(own, 1.0), (own, 2.0)]
    assert [row["n"] for row in ask("ingest_rate", [own])] == ["2"]
    assert ask("failures", [own]) == []


def test_a_test_that_floods_its_own_log_fails_by_name(log, ask):
    (own,) = streams_of("a", 1)
    log(own, 10_000)

    with pytest.raises(TooManyRows, match="over /Tidemark/rocksdb has 10000 rows or more"):
        ask("ingest_samples", [own])
