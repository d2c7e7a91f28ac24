"""The result of a test."""

from datetime import UTC, datetime, timedelta

from tidemark.figures import test_result
from tidemark.figures.test_result import Logged
from tidemark.model.suite_files import read_suites

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
INGEST = read_suites()["rocksdb"].test("ingest")
NOTHING = Logged(
    log_group="g", streams={}, window=(NOON, NOON), metrics=[], grown=False, environments=[],
    failures=[], usages=[], usages_unknown="", series=[], bytes_scanned=0,
)  # fmt: skip


def test_a_test_does_not_end_before_its_start_if_the_clock_went_back():
    result = test_result.test_result(INGEST, [], NOTHING, NOON, NOON - timedelta(hours=1))

    assert (result.started_at, result.ended_at) == (NOON, NOON)
