"""A store that an earlier version wrote, in the hands of this one."""

import csv
import gzip
import io
import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from suites.tables import SCHEMA, TABLES
from tests.end_to_end.command_line import tidemark

STORES = Path(__file__).parent / "stores"
FIRST, SECOND = "20261121T045443Z-6366e1", "20261121T045535Z-008c15"


@pytest.fixture
def store(new_state):
    """A copy of the store of schema 1."""
    folder = new_state()
    shutil.copytree(STORES / "schema-1", folder, dirs_exist_ok=True)
    return folder


def said(store, *arguments):
    done = tidemark(*arguments, "--state", store)
    assert done.returncode == 0, done.stderr
    return done.stdout


def asked(store, statement):
    text = said(store, "sql", statement, "--format", "csv")
    return list(csv.DictReader(io.StringIO(text)))


def stored_rows(table):
    """Yield the rows of a table as the earlier version wrote them."""
    objects = STORES / "schema-1" / "objects"
    index = sqlite3.connect(f"file:{objects / 'index.sqlite'}?immutable=1", uri=True)
    bodies = index.execute("SELECT body FROM objects WHERE key LIKE ?", (f"tables/{table}/%",))
    for (body,) in bodies.fetchall():
        lines = gzip.decompress((objects / "bodies" / body).read_bytes()).splitlines()
        yield from map(json.loads, lines)
    index.close()


@pytest.mark.parametrize("table", ["runs", "rates", "task_rates"])
def test_columns_were_only_added_and_at_the_end(table):
    rows = list(stored_rows(table))

    assert rows
    for row in rows:
        assert set(row) == set(list(TABLES[table])[: len(row)])


def test_an_earlier_versions_runs_are_listed_with_their_figures_digit_for_digit(store):
    runs = json.loads(said(store, "runs", "--format", "json"))
    history = json.loads(said(store, "history", "--format", "json"))

    assert [(run["run_id"], run["status"]) for run in runs] == [
        (SECOND, "complete"), (FIRST, "complete"),
    ]  # fmt: skip
    # As the earlier version's trials have them; 9.8.4 has one of each run.
    assert {
        (version["version"], name): (metric["minimum"], metric["maximum"])
        for version in history
        for name, metric in version["metrics"].items()
    } == {
        ("9.0.0", "ingest_rate"): (30605.0, 30605.0),
        ("9.0.0", "compaction_rate"): (448760.16, 448760.16),
        ("9.8.4", "ingest_rate"): (6762.8, 27092.1),
        ("9.8.4", "compaction_rate"): (142638.22000000003, 153137.64),
    }


def test_a_report_of_an_earlier_versions_run_is_made_in_todays_form(store):
    page = store / "reports" / "rocksdb" / FIRST / "report.html"

    made = said(store, "report", FIRST).splitlines()
    shown = said(store, "show", FIRST)

    assert made[-1] == str(page)
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert "| 9.0.0 | 30,605.0 | one trial | first version |" in shown
    assert "| Cost in all |  | missing |" in shown


def test_rows_of_both_versions_stand_in_one_table(store):
    said(store, "exclude", f"{FIRST}/1", "--reason", "the machine was busy")

    rows = asked(
        store,
        'SELECT run_id, trial, value, excluded, warm_up, image_digest, "schema" FROM rates '
        "WHERE metric = 'ingest_rate' ORDER BY run_id, trial",
    )
    new_columns = asked(
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
