"""Output of `tidemark runs`."""

import json
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from tidemark.cli import runs

COLUMNS = ["run_id", "status", "trials_planned", "trials_done"]


@pytest.fixture
def stored():
    """The rows of the stored runs."""
    return []


@pytest.fixture(autouse=True)
def cloud(monkeypatch, stored):
    answer = SimpleNamespace(columns=COLUMNS, records=lambda: stored)

    @contextmanager
    def files(_target):
        yield SimpleNamespace(tables=SimpleNamespace(ask=lambda *_: answer))

    monkeypatch.setattr(runs, "stored", files)
    monkeypatch.setattr(runs, "active_runs", lambda _: [])


def test_a_person_without_runs_gets_a_hint_on_stderr():
    result = CliRunner().invoke(runs.runs, ["--state", "/kept"])

    assert result.exit_code == 0
    assert result.stdout == ""
    hint = "`tidemark run --state /kept` measures some versions"
    assert result.stderr == f"no run is stored yet; {hint}\n"


def test_a_suite_without_runs_does_not_say_that_no_run_is_stored():
    result = CliRunner().invoke(runs.runs, ["rocksdb"])

    assert (result.stdout, result.stderr) == (
        "", "no run of rocksdb is stored; `tidemark runs` lists those of all suites\n"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("number", "options", "listed"), [(21, [], 20), (20, [], 20), (21, ["--all"], 21)]
)
def test_runs_beyond_the_newest_twenty_are_said(stored, number, options, listed):
    for name in range(number):
        stored.append(dict(zip(COLUMNS, [str(name), "complete", "9", "9"], strict=True)))

    result = CliRunner().invoke(runs.runs, options)

    said = "There are older runs; --all lists them, too.\n"
    assert (result.stderr == said) is (listed < number)
    assert len(result.stdout.splitlines()) == 4 + listed


def test_a_resumed_run_is_listed_once_as_the_active_run_that_it_is(stored, monkeypatch):
    for row in (["A", "aborted", "9", "3"], ["B", "complete", "9", "9"]):
        stored.append(dict(zip(COLUMNS, row, strict=True)))
    active = {**stored[0], "status": "active", "suite": "rocksdb"}
    monkeypatch.setattr(runs, "active_runs", lambda _: [active])

    listed = json.loads(CliRunner().invoke(runs.runs, ["--format", "json"]).stdout)

    assert [(row["run_id"], row["status"]) for row in listed] == [
        ("A", "active"),
        ("B", "complete"),
    ]


@pytest.mark.parametrize(("form", "printed"), [("csv", ",".join(COLUMNS) + "\n"), ("json", "[]\n")])
def test_a_program_without_runs_gets_an_empty_list(form, printed):
    assert CliRunner().invoke(runs.runs, ["--format", form]).stdout == printed


def test_the_table_has_the_columns_that_fit_a_screen_and_csv_has_all(stored):
    stored.append(dict(zip(COLUMNS, ["R", "incomplete", "9", "4"], strict=True)))

    heading, _, row = CliRunner().invoke(runs.runs).stdout.strip().splitlines()
    assert heading.split()[:4] == ["run_id", "suite", "status", "trials"]
    assert row.split() == ["R", "incomplete", "4/9"]
    assert CliRunner().invoke(runs.runs, ["--format", "csv"]).stdout.splitlines() == [
        ",".join(COLUMNS),
        "R,incomplete,9,4",
    ]


def test_an_empty_name_is_no_suite():
    error = CliRunner().invoke(runs.runs, [""]).exception

    assert str(error).startswith("suite: '' is not known; there are ")
