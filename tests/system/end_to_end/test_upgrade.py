"""Commands on a store of an earlier version."""

import csv
import gzip
import io
import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from tests.system.end_to_end.command_line import tidemark
from tidemark.store.columns import SCHEMA, TABLES

STORES = Path(__file__).parent / "stores"
FIRST, SECOND = "20261121T045443Z-6366e1", "20261121T045535Z-008c15"


@pytest.fixture
def store(new_state):
    """Return a copy of the store with schema 1."""
    folder = new_state()
    shutil.copytree(STORES / "schema-1", folder, dirs_exist_ok=True)
    return folder


def output_of(store, *arguments):
    done = tidemark(*arguments, "--state", store)
    assert done.returncode == 0, done.stderr
    return done.stdout


def rows_of(store, statement):
    text = output_of(store, "sql", statement, "--format", "csv")
    return list(csv.DictReader(io.StringIO(text)))


def stored_rows(table):
    """Yield the rows of a table from the earlier version."""
    objects = STORES / "schema-1" / "objects"
    index = sqlite3.connect(f"file:{objects / 'index.sqlite'}?immutable=1", uri=True)
    bodies = index.execute("SELECT body FROM objects WHERE key LIKE ?", (f"tables/{table}/%",))
    for (body,) in bodies.fetchall():
        lines = gzip.decompress((objects / "bodies" / body).read_bytes()).splitlines()
        yield from map(json.loads, lines)
    index.close()


@pytest.mark.parametrize("table", ["runs", "rates", "task_rates"])
def test_new_columns_come_after_the_old_ones(table):
    rows = list(stored_rows(table))

    assert rows
    for row in rows:
        assert set(row) == set(list(TABLES[table])[: len(row)])


def test_runs_of_an_earlier_version_are_listed_with_their_figures_digit_for_digit(store):
    runs = json.loads(output_of(store, "runs", "--format", "json"))
    history = json.loads(output_of(store, "history", "--format", "json"))

    assert [(run["run_id"], run["status"]) for run in runs] == [
        (SECOND, "complete"), (FIRST, "complete"),
    ]  # fmt: skip
    # The values are those of the earlier version's trials; each run has one trial of 9.8.4.
    assert {
        (version["version"], version["sizes"], name): metric["value"]
        for version in history
        for name, metric in version["metrics"].items()
    } == {
        ("9.0.0", "1 × 2,000", "ingest_rate"): 30605.0,
        ("9.0.0", "1 × 2,000", "compaction_rate"): 448760.16,
        ("9.8.4", "1 × 2,000", "ingest_rate"): 27092.1,
        ("9.8.4", "1 × 2,000", "compaction_rate"): 142638.22000000003,
        ("9.8.4", "1 × 500", "ingest_rate"): 6762.8,
        ("9.8.4", "1 × 500", "compaction_rate"): 153137.64,
    }


def test_a_report_of_an_earlier_versions_run_has_todays_form(store):
    page = store / "reports" / "rocksdb" / FIRST / "report.html"

    made = output_of(store, "report", FIRST).splitlines()
    shown = output_of(store, "show", FIRST, "--all")

    assert made[-1] == str(page)
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert "| 9.0.0 | 30.60 k | one trial | first version |" in shown
    assert "| Total cost |  | missing |" in shown


def test_one_table_has_rows_of_both_versions(store):
    output_of(store, "exclude", f"{FIRST}/1", "--reason", "the machine was busy")

    rows = rows_of(
        store,
        'SELECT run_id, trial, value, excluded, warm_up, image_digest, "schema" FROM rates '
        "WHERE metric = 'ingest_rate' ORDER BY run_id, trial",
    )
    new_columns = rows_of(
        store,
        "SELECT count(*) AS runs, count(cost_usd) + count(insights_bytes) + count(athena_bytes) "
        "+ count(tidemark_version) AS known FROM runs",
    )

    def row(run, trial, value, excluded, warm_up, schema):
        return {
            "run_id": run, "trial": trial, "value": value, "excluded": excluded,
            "warm_up": warm_up, "image_digest": "", "schema": schema,
        }  # fmt: skip

    assert rows == [
        row(FIRST, "1", "27092.1", "true", "false", str(SCHEMA)),
        row(FIRST, "2", "30605.0", "false", "false", str(SCHEMA)),
        row(SECOND, "1", "6762.8", "false", "", "1"),
    ]
    assert new_columns == [{"runs": "2", "known": "0"}]
