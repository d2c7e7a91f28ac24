"""``tidemark export`` and ``tidemark restore``: results in a fresh stack."""

import pytest
from click.testing import CliRunner

from tidemark.cli import history, import_figures, runs
from tidemark.cli.copies import export, restore
from tidemark.model.checkout import ROOT
from tidemark.model.refusal import Refused


def invoke(command, state, *words):
    return CliRunner().invoke(command, [*map(str, words), "--state", str(state)])


@pytest.fixture(scope="module")
def state(tmp_path_factory):
    state = tmp_path_factory.mktemp("folder") / "state"
    page = ROOT / "docs" / "import.md"
    done = invoke(import_figures.command, state, page, "--suite", "sleeper")
    assert done.exit_code == 0, done.output
    return state


@pytest.fixture(scope="module")
def copy(state, tmp_path_factory):
    """Return a folder with the exported results."""
    folder = tmp_path_factory.mktemp("copy")
    done = invoke(export, state, folder)
    assert done.exit_code == 0, done.output
    return folder


def test_a_fresh_stack_shows_what_was_measured_before(state, copy, tmp_path):
    fresh = tmp_path / "fresh"
    done = invoke(restore, fresh, copy)
    assert done.exit_code == 0, done.output

    for command, words in ((runs.runs, ["--all"]), (history.command, ["sleeper"])):
        before, after = (invoke(command, each, *words).stdout for each in (state, fresh))
        assert after == before
        assert "0.13.0" in before


def test_a_history_that_stays_is_named_if_runs_were_restored(state, copy, tmp_path):
    other, page = tmp_path / "other", tmp_path / "page.csv"
    page.write_text(
        "Version number,Test date,Compaction rate (records/s)\n0.9.0,2022-01-13,300000\n"
    )
    assert invoke(import_figures.command, other, page, "--suite", "sleeper").exit_code == 0

    done = invoke(restore, other, copy)

    assert done.exit_code == 0, done.output
    assert done.stderr == (
        "warning: the history of sleeper stays as it was; `tidemark report RUN` adds a run\n"
    )


def test_results_that_are_stored_already_stay(state, copy):
    done = invoke(restore, state, copy)

    assert done.stdout.startswith("0 objects restored, ")


def test_no_claim_and_no_working_data_is_copied(copy):
    assert {path.name for path in copy.iterdir()} <= {
        "runs", "tables", "history", "versions", "reports", "profiles", "artefacts",
    }  # fmt: skip


def test_another_result_under_the_same_key_is_refused_and_nothing_is_restored(copy, tmp_path):
    fresh = tmp_path / "fresh"
    invoke(restore, fresh, copy)
    plan = sorted((copy / "runs").glob("*/plan.json"))[0]
    whole = plan.read_bytes()
    plan.write_bytes(whole + b" ")
    another = copy / "runs" / "20260101T000000Z-000000" / "plan.json"
    another.parent.mkdir()
    another.write_bytes(whole)
    try:
        refused = invoke(restore, fresh, copy).exception
    finally:
        plan.write_bytes(whole)
        another.unlink()
        another.parent.rmdir()

    assert isinstance(refused, Refused)
    key = plan.relative_to(copy)
    assert str(refused) == (
        f"FOLDER: 1 file of '{copy}' and the stored objects differ, such as {key}; nothing is "
        "restored"
    )
    assert "20260101T000000Z" not in invoke(runs.runs, fresh, "--all").stdout


def test_a_folder_without_results_is_refused(tmp_path):
    refused = invoke(restore, tmp_path / "state", tmp_path).exception

    assert str(refused) == f"FOLDER: '{tmp_path}' has no results of `tidemark export`"


def test_an_export_of_nothing_is_refused(tmp_path):
    refused = invoke(export, tmp_path / "state", tmp_path / "copy").exception

    assert isinstance(refused, Refused)
    assert str(refused).startswith("no run is stored yet; ")
