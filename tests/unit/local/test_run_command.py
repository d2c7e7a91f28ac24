"""What `tidemark run` asks for, where nothing is started."""

from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from local.commands import run


@pytest.fixture
def asked(monkeypatch):
    """Return a way to run the command; it gives what was printed and the input of the run."""
    inputs = []

    def start(given):
        inputs.append(given)
        raise SystemExit(0)

    @contextmanager
    def deployed(_target, **_):
        yield SimpleNamespace(runs=lambda: SimpleNamespace(start=start), stack=None)

    monkeypatch.setattr(run, "deployed", deployed)
    monkeypatch.setattr(run, "prepare", lambda *_: None)
    monkeypatch.setattr(run, "_whereabouts", lambda *_: "")

    def asked(*arguments):
        return CliRunner().invoke(run.command, arguments).stdout, *inputs

    return asked


def test_newest_and_previous_are_told_and_asked_for_by_name_on_this_machine(asked):
    said, given = asked("--versions", "newest, previous")

    assert said.startswith("RocksDB 9.8.4, 9.7.3: ")
    assert given["versions"] == ["9.8.4", "9.7.3"]


def test_in_an_account_they_are_what_its_pipeline_lists(asked):
    said, given = asked("--versions", "newest,previous", "--aws")

    assert said.startswith("RocksDB newest, previous: ")
    assert given["versions"] == ["newest", "previous"]


def test_the_versions_of_the_suite_are_told_if_none_are_given(asked):
    said, given = asked()

    assert said.startswith("RocksDB 8.8.1, 9.0.0, 9.8.4: ")
    assert "versions" not in given


def test_a_resume_makes_nothing_of_a_folder_without_results(tmp_path):
    arguments = ["--resume", "20261120T124455Z-0a1b2c", "--state", str(tmp_path / "mistyped")]

    refused = CliRunner().invoke(run.command, arguments).exception

    assert str(refused).startswith(f"--state: {tmp_path / 'mistyped'} holds no results; ")
    assert list(tmp_path.iterdir()) == []
