"""The result of a test."""

from datetime import UTC, datetime, timedelta

import pytest

from tidemark.figures import test_result
from tidemark.figures.query_rows import MetricRows
from tidemark.figures.test_result import Logged
from tidemark.model.results import TaskResult
from tidemark.model.suite_files import read_suites
from tidemark.model.task import Kept

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
INGEST = read_suites()["rocksdb"].test("ingest")
NOTHING = Logged(
    log_group="g", streams={}, window=(NOON, NOON), metrics=[], grown=False, version=None,
    environments=[],
    failures=[], usages=[], usages_unknown="", series=[], stopped_by="",
    kept=Kept(), bytes_scanned=0,
)  # fmt: skip


def test_a_test_does_not_end_before_its_start_if_the_clock_went_back():
    result = test_result.test_result(INGEST, [], NOTHING, NOON, NOON - timedelta(hours=1))

    assert (result.started_at, result.ended_at) == (NOON, NOON)


def judged(asked, reported):
    """Return the status and reason of a test whose task reports a version."""
    task = TaskResult(index=0, status="ok", task_arn="task/t")
    logged = NOTHING._replace(
        streams={"t": "s"},
        version=asked,
        environments=[{"@logStream": "s", "environment": f'{{"engine_version": "{reported}"}}'}],
    )
    result = test_result.test_result(INGEST, [task], logged, NOON, NOON)
    return result.status, result.reason


def test_a_task_that_measured_another_version_fails_its_test():
    assert judged("1.2.0", "2.0.0") == (
        "failed",
        "task 0: it measured version 2.0.0: 1.2.0 was asked for",
    )


@pytest.mark.parametrize(("asked", "reported"), [("1.2.0", "1.2.0"), (None, "2.0.0")])
def test_a_task_that_measured_the_version_or_a_build_passes(asked, reported):
    assert judged(asked, reported) == ("ok", "")


def test_a_flood_of_lines_is_kept_up_to_what_the_test_may_log():
    flood = {"@logStream": "s", "@timestamp": "2026-11-21 12:00:00.000", "value": "1"}
    figure = {"@logStream": "s", "value": "1", "n": "9000"}
    rows = MetricRows(INGEST.metrics[0], [figure], [flood] * 9_000)
    logged = NOTHING._replace(streams={"t": "s"}, metrics=[rows])

    result = test_result.test_result(
        INGEST, [TaskResult(index=0, status="ok", task_arn="task/t")], logged, NOON, NOON
    )

    assert result.reason == "task 0 (t) logged 9000 lines of ingest_rate, not 2"
    assert len(result.samples) == INGEST.jobs


def test_only_a_missing_file_that_is_required_makes_a_test_incomplete():
    task, note = TaskResult(index=0, status="ok", task_arn="task/t"), "task 0: no file a was kept"

    said, required = (
        test_result.test_result(
            INGEST, [task], NOTHING._replace(kept=Kept((), (note,), missing)), NOON, NOON
        )
        for missing in ((), (note,))
    )

    assert (said.status, said.artefact_notes) == ("ok", (note,))
    assert (required.status, required.reason) == ("incomplete", note)
