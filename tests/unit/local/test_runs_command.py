"""What `tidemark runs` prints, where nothing was run."""

from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from local.commands import runs

COLUMNS = ["run_id", "year", "status", "trials_planned", "trials_done"]


@pytest.fixture
def stored():
    """The runs that are stored, as rows."""
    return []


@pytest.fixture(autouse=True)
def cloud(monkeypatch, stored):
    @contextmanager
    def deployed(_target):
        yield SimpleNamespace(runs=lambda: None)

    @contextmanager
    def tables_of(_cloud):
        answer = SimpleNamespace(columns=COLUMNS, records=lambda: stored)
        yield SimpleNamespace(saved=lambda *_, **__: answer)

    monkeypatch.setattr(runs, "deployed", deployed)
    monkeypatch.setattr(runs, "tables_of", tables_of)
    monkeypatch.setattr(runs, "running", lambda _: [])


def test_a_person_is_told_that_no_run_is_stored():
    listed = CliRunner().invoke(runs.command, ["--state", "/kept"])

    assert listed.exit_code == 0
    assert listed.stdout == ""
    hint = "`tidemark run --state /kept` measures some versions"
    assert listed.stderr == f"no run is stored yet; {hint}\n"


@pytest.mark.parametrize(("form", "printed"), [("csv", ",".join(COLUMNS) + "\n"), ("json", "[]\n")])
def test_a_program_gets_an_empty_list(form, printed):
    assert CliRunner().invoke(runs.command, ["--format", form]).stdout == printed


def test_the_table_has_what_fits_a_screen_and_the_other_formats_all(stored):
    stored.append(dict(zip(COLUMNS, ["R", "2026", "incomplete", "9", "4"], strict=True)))

    heading, _, row = CliRunner().invoke(runs.command).stdout.strip().splitlines()
    assert heading.split()[:4] == ["run_id", "suite", "status", "trials"]
    assert row.split() == ["R", "incomplete", "4/9"]
    assert CliRunner().invoke(runs.command, ["--format", "csv"]).stdout.splitlines() == [
        ",".join(COLUMNS),
        "R,2026,incomplete,9,4",
    ]
