"""``tidemark import`` into a state folder, and the commands that then read it."""

import json
import re
from contextlib import closing

import pytest
from click.testing import CliRunner

from onebox.store.object_files import ObjectFiles
from tidemark.cli import compare, decisions, doctor, history, import_figures, runs, show
from tidemark.model.checkout import ROOT
from tidemark.model.refusal import Refused
from tidemark.one_machine.stored import FileBucket, own_bucket
from tidemark.store import keys

PAGE = ROOT / "docs" / "import.md"
HISTORY = ["sleeper", "--format", "markdown"]


def invoke(command, state, *words):
    return CliRunner().invoke(command, [*map(str, words), "--state", str(state)])


def imported(state, file=PAGE, *words):
    return invoke(import_figures.command, state, file, "--suite", "sleeper", *words)


@pytest.fixture(scope="module")
def state(tmp_path_factory):
    """A state folder with nothing but the figures of the page."""
    state = tmp_path_factory.mktemp("folder") / "state"
    done = imported(state)
    assert done.exit_code == 0, done.output
    assert "12 figures added, 0 stored already." in done.stdout.splitlines()
    return state


def cells(text):
    rows = re.findall(r"^\|(.*)\|$", text, re.MULTILINE)
    return [[cell.strip() for cell in row.split("|")] for row in rows if "--" not in row]


def test_a_dry_run_shows_the_figures_and_makes_no_state_folder(tmp_path):
    done = imported(tmp_path / "state", PAGE, "--dry-run")

    assert done.exit_code == 0, done.output
    assert "12 figures would be added, 0 stored already." in done.stdout.splitlines()
    assert re.search(
        r"^ 0\.13\.0 +2023-01-06 +ingest_rate {engine: java} +144000 +records/s", done.stdout, re.M
    )
    assert not (tmp_path / "state").exists()


def test_history_prints_an_imported_table_as_it_is_published_digit_for_digit(state):
    page, _ = PAGE.read_text(encoding="utf-8").split("These commands")

    done = invoke(history.command, state, *HISTORY)

    assert done.exit_code == 0, done.output
    assert cells(done.stdout) == cells(page)


def test_history_is_silent_where_six_published_figures_show_no_change(state):
    done = invoke(history.command, state, *HISTORY)

    assert done.stderr == ""


def test_the_file_again_adds_nothing_and_another_figure_is_a_conflict(state, tmp_path):
    changed = tmp_path / "changed.md"
    changed.write_text(PAGE.read_text(encoding="utf-8").replace("378000", "378001"))

    again, other = imported(state), imported(state, changed)

    assert (again.exit_code, again.stdout) == (0, "0 figures added, 12 stored already.\n")
    assert other.exit_code == 1
    assert other.stdout == "0 figures added, 11 stored already, 1 conflict.\n"
    line = next(n for n, text in enumerate(PAGE.read_text().splitlines(), 1) if "378000" in text)
    assert other.stderr.startswith(
        "conflict: 0.12.0 compaction_rate {engine: java} of 2022-10-18 is 378001 in "
        f"line {line}; the stored"
    )


def test_the_import_of_a_corrected_file_replaces_an_excluded_release(tmp_path):
    file, state = tmp_path / "page.csv", tmp_path / "state"
    file.write_text("Version,Date,Ingest rate\n0.11.0,2022-06-13,16000\n")
    imported(state, file)
    listed = json.loads(invoke(runs.runs, state, "--format", "json").stdout)
    excluded = invoke(decisions.exclude, state, listed[0]["run_id"], "--reason", "a typo")
    file.write_text("Version,Date,Ingest rate\n0.11.0,2022-06-13,160000\n")

    done = imported(state, file)

    assert excluded.exit_code == 0, excluded.output
    assert "1 figure added, 0 stored already." in done.stdout.splitlines()


def test_a_corrected_file_conflicts_with_the_figures_of_an_import_that_was_cut_off(tmp_path):
    file, state = tmp_path / "page.csv", tmp_path / "state"
    file.write_text("Version,Date,Ingest rate\n0.11.0,2022-06-13,16000\n")
    imported(state, file)
    with closing(ObjectFiles(state / "objects")) as files:
        FileBucket(files, own_bucket("Tidemark")).delete(keys.tables("rates", "sleeper"))
    file.write_text("Version,Date,Ingest rate\n0.11.0,2022-06-13,160000\n")

    done = imported(state, file)

    assert done.stdout == "0 figures added, 0 stored already, 1 conflict.\n"
    assert "the stored figure stays: 16000 of 2022-06-13, in run " in done.stderr


def test_a_page_that_is_published_again_adds_only_its_new_releases(state, tmp_path):
    longer = tmp_path / "longer.csv"
    longer.write_text(
        "Version,Date,Ingest rate\n0.16.0,28/04/2023,137000\n0.17.0,09/06/2023,163000\n"
    )

    done = imported(state, longer, "--dry-run")

    assert "1 figure would be added, 1 stored already." in done.stdout.splitlines()


def test_other_commands_know_published_figures(state):
    listed = invoke(runs.runs, state, "--format", "json")
    shown = invoke(show.show, state)
    compared = invoke(compare.command, state, "previous", "newest", "--suite", "sleeper")
    checked = invoke(doctor.command, state)

    rows = json.loads(listed.stdout)
    assert [(row["versions"], row["trigger"], row["status"]) for row in rows[:1]] == [
        ("0.16.0", "import", "complete")
    ]
    assert "Sleeper 0.16.0: published figures, from import.md, line 35, " in shown.stdout
    assert "? 2 cannot tell." in compared.stdout
    assert (checked.exit_code, checked.stdout) == (0, f"Everything in {state} is whole.\n")


def test_a_later_cloud_finds_the_figures_in_the_bucket_of_its_stack(state):
    files = ObjectFiles(state / "objects")
    try:
        assert list(files.buckets()) == [own_bucket("Tidemark")]
    finally:
        files.close()


@pytest.mark.parametrize(
    ("name", "content", "words", "sentence"),
    [
        ("a.csv", "Version,Date\n1.0,2022-01-01\n", [], "FILE: no table has figures of Sleeper"),
        ("a.csv", "Version,Date,Ingest rate\n1.0,2999-01-01,1\n", [], "FILE: line 2: 2999-01-01 "),
        ("a.csv", "Version,Ingest rate\n1.0,1\n", ["--date", "1999-12-31"],
         "FILE: line 2: 1999-12-31 is not accepted; expected a day from 2000-01-01 to "),
        ("a.csv", "Version,Date,Ingest rate\n1.0,2099-01-01,1\n", [],
         "FILE: line 2: 2099-01-01 is not accepted; expected "),
        ("a.csv", b"\xff\xfe", [], "FILE: a.csv is not text in UTF-8; save it as UTF-8"),
        ("a.csv", "", ["--version", "x"], "--version: 'x' is not a version; expected one such as"),
        ("a.csv", "", ["--source", "a\nb"], "--source: 'a\\nb' is not accepted; expected up to"),
        ("missing.md", None, [], "FILE: "),
        ("a\x1b.csv", "", [], "FILE: 'a\\x1b.csv' is not accepted; expected printable characters"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_sentence_and_stores_nothing(tmp_path, name, content, words, sentence):
    file, state = tmp_path / name, tmp_path / "state"
    if content is not None:
        file.write_bytes(content if isinstance(content, bytes) else content.encode())

    done = imported(state, file, *words)

    assert isinstance(done.exception, Refused)
    assert str(done.exception).startswith(sentence)
    assert not state.exists()
