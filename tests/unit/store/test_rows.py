import gzip
import json
import re
from dataclasses import replace
from datetime import timedelta

import pytest

from tests.plans import naming, plan_of
from tests.unit import measured_runs as runs
from tidemark import __version__
from tidemark.figures.trial_status import trial_result
from tidemark.model.results import (
    NO_EXCLUSIONS,
    Exclusion,
    Exclusions,
    Rate,
    Sample,
    TaskResult,
    TestResult,
    Usage,
)
from tidemark.store.columns import PARTITIONS, TABLES
from tidemark.store.rows import packed, rate_rows, run_row, sample_rows, usage_rows
from tidemark.store.stored_run import StoredRun
from tidemark.store.version_rows import judged_against_bases, verdict_rows, version_rate_rows

PYTHON = {
    "string": str, "int": int, "bigint": int, "double": float, "boolean": bool,
    "timestamp": str, "array<string>": list,
}  # fmt: skip


def measured(plan):
    rate = Rate(
        metric="ingest_rate", unit="records/s", direction="higher", value=1.5, samples=1,
        expected=1, not_finite=0, stddev=0.5, min=1.0, max=2.0, records=10,
    )  # fmt: skip
    sample = Sample(
        metric="ingest_rate", log_stream="p/c/t0", logged_at="2026-11-20 12:45:59.000", job="j",
        value_text="1.5", value=1.5, records=10, seconds=4.0,
    )  # fmt: skip
    task = TaskResult(
        index=0, status="ok", task_arn="arn:task/c/t0", exit_code=0,
        started_at=1_763_640_000_000, stopped_at=1_763_640_002_500,
        image_digest="sha256:ab12", host="ip-10-0-0-7", cpu_model="Epyc", zone="eu-west-2a",
    )  # fmt: skip
    usage = Usage(
        task_id="t0", logged_at="2025-11-20 12:00:01.500", cpu=1.5, memory=400.5, network_in=1.0,
        network_out=2.0, disk_read=3.0, disk_written=None,
    )  # fmt: skip
    ingest = TestResult(
        test="ingest", status="ok", started_at=plan.started_at, ended_at=plan.started_at,
        tasks=(task,), rates=(rate,), samples=(sample,), environments=({"cpu_model": "Epyc"},),
        insights_bytes=500_000_000, usages=(usage,),
    )  # fmt: skip
    return [trial_result(plan, trial, {"ingest": ingest}, "") for trial in plan.trials]


# Hive's JSON SerDe finds a field by the lower-case name of a column, and reads ``_col0`` by place.
HIVE_NAME = "[a-z][a-z0-9_]*"
TIME = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}"  # Hive: TIMESTAMP_FORMAT


def fits(row, table):
    columns = TABLES[table]
    assert set(row) == set(columns)
    for name, value in row.items():
        assert value is None or isinstance(value, PYTHON[columns[name]]), name
        assert not isinstance(value, bool) or columns[name] == "boolean", name
        if value is not None and columns[name] == "timestamp":
            assert re.fullmatch(TIME, value), name


def test_every_column_has_a_name_that_hive_finds_in_a_line():
    names = [name for columns in [*TABLES.values(), PARTITIONS] for name in columns]
    assert [name for name in names if not re.fullmatch(HIVE_NAME, name)] == []


def test_every_row_has_exactly_the_columns_of_its_table_in_their_types(plan):
    trials = measured(plan)

    for row in rate_rows(plan, trials):
        fits(row, "rates")
    for row in sample_rows(trials):
        fits(row, "task_rates")
    run = StoredRun(plan, trials, NO_EXCLUSIONS, [])
    for row in verdict_rows(run):
        fits(row, "verdicts")
    for row in version_rate_rows(run, judged_against_bases(run)):
        fits(row, "version_rates")
    for row in usage_rows(trials):
        fits(row, "task_usage")
        assert row["second"] == 1.5
    fits(run_row(plan, trials, "complete", "", plan.started_at), "runs")


def test_a_verdict_tells_whether_the_machines_of_both_versions_differ():
    plan = runs.planned(["9.0.0", "9.8.4"])
    trials = runs.measured(plan)
    moved = [
        runs.on_machine(each, cpu_model="Xeon") if each.version == "9.8.4" else each
        for each in trials
    ]

    for of_run, unlike in ((trials, False), (moved, True)):
        rows = verdict_rows(StoredRun(plan, of_run, NO_EXCLUSIONS, []))
        assert {row["unlike_machines"] for row in rows} == {unlike}


def test_the_machine_of_an_excluded_trial_makes_no_machines_unlike():
    plan = runs.planned(["9.0.0", "9.8.4"], repetitions=2)
    first, *others = runs.measured(plan)
    trials = [runs.on_machine(first, cpu_model="Xeon"), *others]

    for exclusions, unlike in ((NO_EXCLUSIONS, True), (runs.left_out(first.trial, "x"), False)):
        rows = verdict_rows(StoredRun(plan, trials, exclusions, []))
        assert {row["unlike_machines"] for row in rows} == {unlike}


def test_a_verdict_has_the_trials_of_each_version_that_count():
    plan = runs.planned(["9.0.0", "9.8.4"], repetitions=3)
    first = next(trial for trial in plan.trials if trial.version == "9.0.0").trial
    trials = [runs.failed(each) if each.trial == first else each for each in runs.measured(plan)]

    rows = list(verdict_rows(StoredRun(plan, trials, NO_EXCLUSIONS, [])))

    assert {(row["baseline"], row["version"]) for row in rows} == {("9.0.0", "9.8.4")}
    assert {(row["trials_base"], row["trials_new"]) for row in rows} == {(2, 3)}


@pytest.mark.parametrize("field", ["duckdb_module", "python", "unreadable", "pid"])
def test_a_field_that_is_no_fact_of_a_machine_makes_no_machines_unlike(field):
    plan = runs.planned(["9.0.0", "9.8.4"])
    trials = [runs.on_machine(each, **{field: each.version}) for each in runs.measured(plan)]

    rows = verdict_rows(StoredRun(plan, trials, NO_EXCLUSIONS, []))

    assert {row["unlike_machines"] for row in rows} == {False}


def test_no_column_has_the_name_of_a_partition():
    # Athena refuses a table that has a column twice.
    assert not [name for columns in TABLES.values() for name in columns if name in PARTITIONS]


def test_the_span_is_from_the_first_start_to_the_last_stop(plan):
    rows = list(rate_rows(plan, measured(plan)))

    assert [row["span_seconds"] for row in rows] == [2.5, None, 2.5, None]


def test_a_sample_has_its_tasks_machine_and_its_recomputed_rate(plan):
    row = next(iter(sample_rows(measured(plan))))

    assert (row["host"], row["cpu_model"], row["zone"]) == ("ip-10-0-0-7", "Epyc", "eu-west-2a")
    assert row["recomputed"] == 2.5


def test_each_sample_has_the_machine_of_its_own_task():
    (trial, *_) = runs.measured(runs.planned(tasks=2))
    ingest = trial.tests[0]
    hosts = {task.log_stream: f"host-{task.index}" for task in ingest.tasks}
    tasks = tuple(replace(task, host=hosts[task.log_stream]) for task in ingest.tasks)
    placed = ingest.model_copy(update={"tasks": tasks})

    rows = list(sample_rows([trial.model_copy(update={"tests": (placed,)})]))

    assert {row["log_stream"]: row["host"] for row in rows} == hosts


@pytest.mark.parametrize(("records", "seconds"), [(None, 4.0), (10, None), (10, 0.0)])
def test_a_rate_is_not_recomputed_without_records_and_seconds(records, seconds):
    sample = Sample(
        metric="m", log_stream="s", logged_at="", job=None, value_text="", value=None,
        records=records, seconds=seconds,
    )  # fmt: skip

    assert sample.recomputed is None


def test_a_rate_has_the_digest_of_its_image(plan):
    assert [row["image_digest"] for row in rate_rows(plan, measured(plan))] == [
        "sha256:ab12", None, "sha256:ab12", None,
    ]  # fmt: skip


def ended(plan, trials):
    return run_row(plan, trials, "complete", "", plan.started_at)


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"tasks": 1, "records": 5}, None),
        ({"records": 5}, '{"records": 5}'),
        ({"users": 50, "codec": "lz4"}, '{"codec": "lz4", "users": 50}'),
    ],
)
def test_parameters_are_json_unless_tasks_and_records_are_all(plan, parameters, text):
    request = plan.request.model_copy(update={"parameters": parameters})
    changed = plan.model_copy(update={"request": request})

    assert run_row(changed, [], "complete", "", plan.started_at)["parameters"] == text


def test_a_run_has_its_cost_and_its_scanned_bytes(plan):
    row = ended(plan, measured(plan))

    # Two tasks of 2.5 s, each billed for a minute at 0.12485 USD an hour, and 1 GB scanned.
    assert row["cost_usd"] == pytest.approx(2 * 0.12485 / 60 + 0.005)
    assert row["insights_bytes"] == 1_000_000_000
    assert row["tidemark_version"] == __version__


def test_a_task_that_the_instance_started_costs_its_instance_and_not_the_run(plan):
    first, second = measured(plan)
    (ingest, *others) = first.tests
    own = replace(ingest.tasks[0], definition="compactor")
    tests = (ingest.model_copy(update={"tasks": (own,)}), *others)

    row = ended(plan, [first.model_copy(update={"tests": tests}), second])

    assert row["cost_usd"] == pytest.approx(0.12485 / 60 + 0.005)
    assert row["task_seconds"] == 5.0


@pytest.mark.parametrize("status", ["failed", "incomplete", "skipped"])
def test_a_trial_is_done_only_with_all_its_rates(plan, status):
    first, second = (trial.model_copy(update={"status": "ok"}) for trial in measured(plan))
    other = second.model_copy(update={"status": status})

    assert ended(plan, [first, second])["trials_done"] == 2
    assert ended(plan, [first, other])["trials_done"] == 1


def test_the_profiled_trials_of_a_run_are_part_of_its_time_and_cost(plan):
    trial, profiled = measured(plan)
    of_one, of_both = ended(plan, [trial]), ended(plan, [trial, profiled])

    row = run_row(plan, [trial], "complete", "", plan.started_at, profiled=[profiled])

    assert row["trials_done"] == of_one["trials_done"]
    for column in ("task_seconds", "cost_usd", "insights_bytes"):
        assert row[column] == of_both[column] > of_one[column]


def test_task_seconds_have_no_rounding_errors(plan):
    first, second = measured(plan)
    (task,) = first.tests[0].tasks
    tasks = [replace(task, stopped_at=task.started_at + timedelta(milliseconds=ms))
             for ms in (100, 200)]  # fmt: skip
    trials = [
        trial.model_copy(update={"tests": (trial.tests[0].model_copy(update={"tasks": (ran,)}),)})
        for trial, ran in zip((first, second), tasks, strict=True)
    ]

    # The floats 0.1 and 0.2 add up to 0.30000000000000004.
    assert ended(plan, trials)["task_seconds"] == 0.3


def test_a_run_without_prices_or_scanned_bytes_has_no_cost(plan):
    first, second = measured(plan)
    uncounted = tuple(t.model_copy(update={"insights_bytes": None}) for t in second.tests)
    older = second.model_copy(update={"tests": uncounted})

    assert ended(plan.model_copy(update={"prices": None}), [first])["cost_usd"] is None
    assert ended(plan, [first, older])["cost_usd"] is None
    assert ended(plan, [first, older])["insights_bytes"] is None
    assert ended(plan, [])["cost_usd"] == 0


@pytest.mark.parametrize(
    ("pulled", "stopped", "billed"),
    [
        (None, 2_500, 60),
        (None, 60_001, 61),
        (-40_000, 30_000, 70),
        (-40_000, 10_000, 60),
        (None, None, 0),
    ],
)
def test_fargate_bills_seconds_from_the_pull_to_the_end_and_at_least_a_minute(
    pulled, stopped, billed
):
    at = 1_763_640_000_000
    task = TaskResult(
        index=0,
        status="ok",
        started_at=at,
        stopped_at=stopped and at + stopped,
        pull_started_at=pulled and at + pulled,
    )

    assert task.billed_seconds == billed


def test_a_task_has_no_run_time_if_the_clock_went_back():
    at = 1_763_640_000_000
    task = TaskResult(index=0, status="ok", started_at=at, stopped_at=at - 18_000)

    assert (task.seconds, task.billed_seconds) == (0, 60)


def excluding(plan, **decisions):
    exclusions = {
        name.removeprefix("n"): Exclusion(excluded=excluded, reason="why", at=plan.started_at)
        for name, excluded in decisions.items()
    }
    return Exclusions(exclusions)


def excluded_trials(plan, exclusions):
    trials = measured(plan)
    by_rates = {row["trial"] for row in rate_rows(plan, trials, exclusions) if row["excluded"]}
    by_samples = {row["trial"] for row in sample_rows(trials, exclusions) if row["excluded"]}
    by_usages = {row["trial"] for row in usage_rows(trials, exclusions) if row["excluded"]}
    assert by_rates == by_samples == by_usages
    return by_rates


def test_a_trial_or_a_whole_run_is_excluded_until_it_is_included_again(plan):
    assert excluded_trials(plan, excluding(plan)) == set()
    assert excluded_trials(plan, excluding(plan, n002=True)) == {2}
    assert excluded_trials(plan, excluding(plan, n002=False)) == set()
    assert excluded_trials(plan, excluding(plan, run=True)) == {1, 2}
    assert excluded_trials(plan, excluding(plan, run=False, n001=True)) == {1}


def test_the_same_rows_are_packed_to_the_same_bytes(plan):
    rows = list(rate_rows(plan, measured(plan)))

    assert packed(rows) == packed(rows)
    assert [json.loads(line) for line in gzip.decompress(packed(rows)).splitlines()] == rows


@pytest.mark.parametrize("versions", [["topic", "main"], ["main", "1.0"], ["1.0+f", "1.0+0"]])
def test_rows_of_unknown_order_sort_as_the_run_names_their_versions(versions):
    plan = plan_of({"versions": versions, "repetitions": 1}, suite=naming(versions))

    places = {row["version"]: row["version_order"] for row in rate_rows(plan, runs.measured(plan))}

    assert places == dict(zip(versions, ["~0001", "~0002"], strict=True))
