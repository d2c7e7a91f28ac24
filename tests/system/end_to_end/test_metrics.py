"""A latency and a size under two databases, from the logs of tasks to tables and pages."""

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tidemark.model.checkout import ROOT

pytestmark = pytest.mark.systems
SYSTEM = Path(__file__).parent / "system"
# A separate process is necessary: two clouds in one process share their resources.
MEASURE = """
import json, sys, time
from datetime import UTC, datetime
from pathlib import Path
from aws.client.deployed import deployed_stack
from onebox.cloud.cloud import start_cloud
from tidemark.one_machine.app import deploy, machine_app
from tidemark.client.history import columns, histories
from tidemark.client.tables import ask_saved
from tidemark.dashboard.page import build
from tidemark.store.run_ends import find_outcome
from tidemark.store.run_objects import all_trials, find_report

with start_cloud(machine_app({"systems": sys.argv[2]}), Path(sys.argv[1])) as cloud:
    app = deployed_stack(cloud.endpoint.client, deploy(cloud, schedules=False), poll_seconds=0.1)
    run = app.runs.start({"suite": "kiwi"})
    while app.runs.active(run):
        time.sleep(0.1)
    app.runs.await_end([run.run_id])
    bucket = app.runs.bucket
    report = find_report(bucket, "kiwi", run.run_id, "report.md")
    rates = ask_saved(app.tables, "rates_by_version").records()
    logged = app.tables.ask("SELECT labels, value FROM task_rates WHERE version = '12.4'")
    print(json.dumps({
        "outcome": find_outcome(bucket, run.run_id).model_dump(mode="json"),
        "rates": rates,
        "logged": logged.rows,
        "pairs": ask_saved(app.tables, "version_pairs").records(),
        "steps": [
            [task.step for task in test.tasks]
            for trial in all_trials(bucket, run.run_id)
            for test in trial.tests
        ],
        "series": [
            sum(point.value for point in series.points)
            for trial in all_trials(bucket, run.run_id)
            for test in trial.tests
            for series in test.series
        ],
        "artefacts": [
            [trial.version, [file.name for file in test.artefacts], test.artefact_notes]
            for trial in all_trials(bucket, run.run_id)
            for test in trial.tests
        ],
        "report": report.decode() if report else "",
        "history": columns(histories(rates)),
        "page": build(app.tables, datetime.now(UTC)),
    }))
"""


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    command = [sys.executable, "-c", MEASURE, tmp_path_factory.mktemp("state"), SYSTEM]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["outcome"]["status"] == "complete", found["outcome"]
    return found


def p99(values):
    """Return the 99th percentile of values, by hand."""
    ascending = sorted(values)
    whole, rest = divmod(99 * (len(ascending) - 1), 100)
    return ascending[whole] + (ascending[whole + 1] - ascending[whole]) * rest / 100


def test_every_trial_did_both_steps_of_its_test(measured):
    assert measured["steps"] == [["measure", "measure", "check"]] * 20


def test_a_latency_and_a_size_are_in_athena_as_they_were_logged(measured):
    read = [10 + n % 7 + task / 2 for n in range(200) for task in range(2)]
    for database, slower in (("postgresql", 1.0), ("mariadb", 1.5)):
        create = [slower * (100 + n) + task for n in range(200) for task in range(2)]
        created, was_read = (
            json.dumps({"database": database, "operation": operation})
            for operation in ("create", "read")
        )
        figures = {
            (row["metric"], row["statistic"], row["labels"]): (float(row["mean"]), row["trials"])
            for row in measured["rates"]
            if row["version"] == "12.4" and json.loads(row["labels"])["database"] == database
        }
        assert figures == {
            ("latency", "p99", created): (pytest.approx(p99(create)), "5"),
            ("latency", "p99", was_read): (pytest.approx(p99(read)), "5"),
            ("latency", "count", created): (400, "5"),
            ("latency", "count", was_read): (400, "5"),
            ("size", "total", json.dumps({"database": database})): (4096 + 8192, "5"),
        }
        logged = [float(value) for labels, value in measured["logged"] if labels == created]
        assert sorted(logged) == sorted(create * 5)


def test_a_slower_operation_is_slower_with_its_database_and_no_other(measured):
    verdicts = {row["rate"]: row["verdict"] for row in measured["pairs"] if row["pair"] == "1"}

    assert verdicts == {
        f"bounded {figure} {{database: {database}{operation}}} ({unit})": "same"
        for database in ("postgresql", "mariadb")
        for figure, operation, unit in (
            ("latency p99", ", operation: create", "ms"),
            ("latency p99", ", operation: read", "ms"),
            ("latency count", ", operation: create", "ms"),
            ("latency count", ", operation: read", "ms"),
            ("size total", "", "B"),
        )
    } | {"bounded latency p99 {database: mariadb, operation: create} (ms)": "slower"}
    name = r"latency p99 \{database: mariadb, operation: create\}"
    assert re.search(rf"▼ slower: {name}.* \+4\d\.\d+ %", measured["report"])


def test_history_and_page_name_each_figure(measured):
    assert measured["history"] == sorted(
        f"{figure} {{database: {database}{operation}}}"
        for database in ("mariadb", "postgresql")
        for figure, operation in (
            ("latency count", ", operation: create"),
            ("latency count", ", operation: read"),
            ("latency p99", ", operation: create"),
            ("latency p99", ", operation: read"),
            ("size total", ""),
        )
    )
    page = "kiwi: bounded latency p99 {database: mariadb, operation: create} (ms)"
    assert page in measured["page"]


def test_a_series_is_stored_with_each_trial_and_drawn(measured):
    assert measured["series"] == [2 * 400] * 20
    assert "requests of bounded {database: mariadb} \\[requests\\], by trial" in measured["report"]


def test_a_file_that_a_task_leaves_is_kept_with_its_trial(measured):
    digest = hashlib.sha256(b"main;create 7\n").hexdigest()
    lacking = [f"task {task}: no file profile-*.folded was kept" for task in (0, 1)]
    undeclared = "task 0: core is not kept, since the suite does not declare it"

    assert sorted(measured["artefacts"]) == [
        *[["12.3", [], lacking]] * 10,
        *[["12.4", [], lacking]] * 5,
        *[["12.4", ["profile-0.folded"], [undeclared, lacking[1]]]] * 5,
    ]
    assert measured["report"].count(f"| profile-0.folded | 14 | {digest} |") == 5
