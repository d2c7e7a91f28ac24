"""The suite that a command takes if its user names none."""

import json
from types import SimpleNamespace

import pytest

from tidemark.cli import up
from tidemark.cli.chosen_suite import suite_to_read, suite_to_run
from tidemark.model.checkout import check_written_suite, stored_suites
from tidemark.model.refusal import Refused


@pytest.fixture
def suites(tmp_path, monkeypatch):
    """Return a function that writes the files of suites."""
    monkeypatch.setenv("TIDEMARK_SYSTEMS", str(tmp_path))

    def write(*names):
        for name in names:
            (tmp_path / "suites" / name).mkdir(parents=True)
            (tmp_path / "suites" / name / "suite.yaml").touch()

    return write


def tables(*suites_of_runs):
    records = [{"suite": suite} for suite in suites_of_runs]
    return SimpleNamespace(ask=lambda *_: SimpleNamespace(records=lambda: records))


@pytest.mark.parametrize(
    ("names", "chosen"), [(["sorted"], "sorted"), (["aaa", "rocksdb"], "rocksdb")]
)
def test_the_only_suite_runs_or_else_that_of_the_readme(suites, names, chosen):
    suites(*names)

    assert suite_to_run() == chosen


def test_a_choice_between_suites_of_ones_own_is_refused(suites):
    suites("sorted", "tiny")

    with pytest.raises(Refused, match=r"^suite: there are sorted, tiny; name one of them$"):
        suite_to_run()


def test_a_suite_of_another_folder_is_refused_with_the_folder_of_the_known_ones(suites, tmp_path):
    suites("sorted")

    with pytest.raises(Refused) as refused:
        check_written_suite("tiny", stored_suites())

    known = f"there are sorted; TIDEMARK_SYSTEMS names their folder, {tmp_path.resolve()}"
    assert str(refused.value) == f"suite: 'tiny' is not known; {known}"


@pytest.mark.parametrize(
    ("names", "runs", "chosen", "said"),
    [
        (["sorted"], ["rocksdb"], "sorted", "suite: sorted, the only one\n"),
        (["rocksdb", "tiny"], ["tiny"], "tiny", "suite: tiny, which the newest run measured\n"),
        (["rocksdb", "tiny"], [], "rocksdb", "suite: rocksdb, the default\n"),
    ],
)
def test_the_only_suite_is_read_or_else_that_of_the_newest_run_or_the_default_by_name(
    suites, names, runs, chosen, said, capsys
):
    suites(*names)

    assert suite_to_read(None, tables(*runs)) == chosen
    assert capsys.readouterr() == ("", said)


def test_a_named_suite_is_read_without_a_word(suites, capsys):
    suites("sorted", "tiny")

    assert suite_to_read("tiny", tables()) == "tiny"
    assert capsys.readouterr() == ("", "")


def test_a_suite_of_another_folder_is_read_if_runs_of_it_are_stored(suites):
    suites("sorted")

    assert suite_to_read("theirs", tables("theirs")) == "theirs"


def test_a_suite_without_a_file_and_without_runs_is_refused_with_those_that_have_either(suites):
    suites("sorted")

    with pytest.raises(Refused, match=r"'thiers' is not known; there are sorted, theirs; .*\?$"):
        suite_to_read("thiers", tables("theirs"))


def test_the_example_of_up_names_a_suite_that_the_folder_has(tmp_path, monkeypatch):
    assert json.loads(up.example()) == {"suite": "rocksdb"}
    for name in ("ducks", "geese"):
        (tmp_path / "suites" / name).mkdir(parents=True)
        (tmp_path / "suites" / name / "suite.yaml").touch()
    monkeypatch.setenv("TIDEMARK_SYSTEMS", str(tmp_path))
    assert json.loads(up.example()) == {"suite": "ducks"}
