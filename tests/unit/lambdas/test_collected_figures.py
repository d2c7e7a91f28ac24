"""CollectRates for metrics with statistics and labels, and for a query that is wrong."""

import pytest

from lambdas import collect_rates
from tests.plans import RUN
from tests.unit.measured_runs import with_ingest
from tidemark.model.metric import Series
from tidemark.model.refusal import Refused
from tidemark.run.ports import ClockWentBack
from tidemark.store import keys

STREAM = "rocksdb/rocksdb/t0"
LINES = [
    {"@logStream": STREAM, "@timestamp": "2026-11-20 12:45:59.000", "value": text, "level": level}
    for level, text in (("INFO", "100.0"), ("INFO", "300.0"), ("WARN", "50.0"))
]


@pytest.fixture
def collect(world, plan):
    """Return a function that collects a metric of one task from the answers of its queries."""

    def collect(answered, lines=None, now="12:46:02", at_times=(), attempt=2, **changed):
        changed_plan = with_ingest(plan, unit="ms", values="any", **changed)
        # The query of failures stands for that of a series.
        users = Series(name="users", unit="users", query="failures")
        world.store(changed_plan, {"series": (users,)})
        world.logs.answers = {
            "# Every rate": LINES, "stats avg": answered, "CpuUtilized": [], "Environment": [],
            "ERROR": at_times,
        }  # fmt: skip
        event = {
            "run_id": RUN,
            "trial": 1,
            "test": "ingest",
            "tasks": [{"index": 0, "status": "ok", "task_arn": "arn:task/c/t0"}],
            "started_at": "2026-11-20T12:45:00.000Z",
            "ended_at": "2026-11-20T12:46:00.000Z",
            "now": f"2026-11-20T{now}.000Z",
            "attempt": attempt,
            "lines": _lines(answered, changed) if lines is None else lines,
            "artefacts": "",
            "bytes_scanned": 0,
        }
        collected = world.call(collect_rates, event)
        key = keys.measured(RUN, 1, "ingest")
        return world.json(key) if collected["complete"] else collected

    return collect


def _lines(answered, changed):
    """Return the lines that an attempt before found, if it found the same."""
    n = sum(int(row["n"]) for row in answered)
    return n + (len(LINES) if changed.get("samples", "") is not None else 0)


def row(value, n, **labels):
    return {"@logStream": STREAM, "value": value, "n": n, **labels}


def test_each_combination_of_labels_is_stored_with_its_figures_and_samples(collect):
    stored = collect(
        [row("200", "2", level="INFO"), row("50", "1", level="WARN")],
        statistics=("mean", "p90"), labels=("level",), most_labels=2,
    )  # fmt: skip

    assert stored["status"] == "ok"
    assert [(r["statistic"], r["labels"]["level"], r["value"]) for r in stored["rates"]] == [
        ("mean", "INFO", 200.0), ("mean", "WARN", 50.0), ("p90", "INFO", 280.0),
        ("p90", "WARN", 50.0),
    ]  # fmt: skip
    assert [sample["labels"]["level"] for sample in stored["samples"]] == ["INFO", "INFO", "WARN"]


def test_a_metric_without_samples_asks_one_query(collect, world):
    stored = collect([row("300", "3")], samples=None, statistics=("max", "count"))

    assert [rate["value"] for rate in stored["rates"]] == [300.0, 3.0]
    assert stored["samples"] == []
    assert not [text for text, *_ in world.logs.asked if "# Every rate" in text]


def test_a_query_that_differs_from_its_samples_leaves_no_figure_and_says_both(collect):
    stored = collect([row("151.5", "3")])

    assert (stored["status"], stored["rates"][0]["value"]) == ("incomplete", None)
    assert stored["reason"] == "ingest_rate: 151.5 by its query, 150 by its samples"


def test_a_series_is_stored_in_order_of_time(collect):
    times = [{"@logStream": STREAM, "at": f"2026-11-20 12:45:{s}.000", "value": s}
             for s in ("20", "10")]  # fmt: skip

    (series,) = collect([row("150", "3")], at_times=times)["series"]

    assert (series["name"], series["unknown"]) == ("users", "")
    assert [point["value"] for point in series["points"]] == [10.0, 20.0]


def test_a_series_that_cannot_be_read_fails_no_measurement(collect):
    stored = collect([row("150", "3")], at_times=[{"@logStream": STREAM, "value": "1"}])

    assert (stored["status"], stored["rates"][0]["value"]) == ("ok", 150.0)
    assert stored["series"][0]["unknown"].startswith("failures.cwli: at '' is not accepted; ")


def test_a_query_that_gives_no_number_is_refused_at_once(collect):
    with pytest.raises(Refused, match=r"^ingest_rate\.cwli: value 'fast' with n '3' is not accept"):
        collect([row("fast", "3")])


def test_values_of_any_number_are_read_again_until_no_more_arrive(collect):
    assert collect([row("150", "3")], lines=0) == {
        "complete": False, "wait_seconds": 4, "status": None, "lines": 6, "bytes_scanned": 2000
    }  # fmt: skip


def test_a_first_reading_after_the_deadline_is_compared_with_a_second_one(collect):
    first = collect([row("150", "3")], lines=0, now="12:51:00", attempt=1)

    assert (first["complete"], first["lines"]) == (False, 6)
    assert collect([row("150", "3")], lines=6, now="12:51:02")["status"] == "ok"


def test_values_that_still_arrive_at_the_deadline_make_the_test_incomplete(collect):
    stored = collect([row("150", "3")], lines=4, now="12:51:00")

    assert (stored["status"], stored["rates"][0]["value"]) == ("incomplete", None)
    assert stored["reason"].startswith("more lines arrived until the end of the time for logs; ")


def test_a_clock_that_went_back_during_a_test_is_told(collect):
    with pytest.raises(ClockWentBack) as told:
        collect([], now="12:42:59")

    assert str(told.value) == (
        "the clock went back during ingest, from 2026-11-20 12:45:00 to 2026-11-20 12:42:59 UTC, "
        "so that the lines of its tasks cannot be found"
    )
