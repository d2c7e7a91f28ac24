"""The search for the first slower version, started from a terminal as one run."""

import json
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from tests.plans import DATABASES, with_axes
from tests.unit.fakes import FakeBucket
from tidemark.cli import attended_run, bisect, chosen_suite, forecast
from tidemark.client.runs import Run
from tidemark.model.subject import Subject
from tidemark.model.suite_files import read_suites
from tidemark.store import keys

SEARCH = ["8.8.1", "9.8.4", "--metric", "compaction_rate"]


@pytest.fixture
def search(monkeypatch):
    """Return a function that searches in a cloud; it returns the result and the run's input."""
    inputs = []

    def start(fields):
        inputs.append(fields)
        return Run("run-1", "arn")

    def search(*options, is_conclusive=True, code=0):
        stored = None
        if is_conclusive is not None:
            stored = json.dumps({"is_conclusive": is_conclusive}).encode()
        bucket = FakeBucket()
        if stored:
            bucket.write(keys.report("rocksdb", "run-1", "search.json"), stored)

        @contextmanager
        def deployed(_target, **_):
            yield SimpleNamespace(runs=SimpleNamespace(start=start), bucket=bucket, stack=None)

        monkeypatch.setattr(attended_run, "deployed", deployed)
        monkeypatch.setattr(attended_run, "prepare", lambda *_: None)
        monkeypatch.setattr(forecast, "slowness", lambda *_: 1.0)
        monkeypatch.setattr(attended_run, "_whereabouts", lambda *_: "")
        monkeypatch.setattr(bisect, "measure", lambda *_, **__: code)
        return CliRunner().invoke(bisect.command, [*SEARCH, *options]), *inputs

    return search


def test_a_search_is_one_run(search):
    done, execution_input = search("--repetitions", "30", "--set", "records=5000")

    assert done.exit_code == 0
    assert done.stdout.startswith(
        "RocksDB 8.8.1 to 9.8.4 by compaction_rate: until decided, at most 30 repetitions and 60 "
        "to confirm in each comparison, at most 540 trials of "
    )
    assert execution_input == {
        "suite": "rocksdb",
        "bisect": {"base": "8.8.1", "new": "9.8.4", "metric": "compaction_rate"},
        "repetitions": 30, "parameters": {"records": 5000}, "trigger": "cli",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("is_conclusive", "code", "exit_code"), [(False, 0, 4), (True, 1, 1), (None, 0, 4)]
)
def test_the_exit_code_is_that_of_the_run_or_of_its_search(search, is_conclusive, code, exit_code):
    done, _ = search(is_conclusive=is_conclusive, code=code)

    assert done.exit_code == exit_code


def test_a_search_follows_one_value_of_an_axis(search, monkeypatch):
    monkeypatch.setattr(chosen_suite, "suites", lambda: {"rocksdb": with_axes(DATABASES)})

    done, execution_input = search("--axis", "database=mariadb")

    assert " for each database (mariadb), at most 900 trials of " in done.stdout
    assert execution_input["axes"] == {"database": ["mariadb"]}


def test_images_are_refused_on_one_machine(monkeypatch):
    subject = Subject(image="x/rocksdb:{version}", form=".*", versions=["8.8.1", "9.8.4"])
    suite = read_suites()["rocksdb"].model_copy(update={"subject": subject})
    monkeypatch.setattr(chosen_suite, "suites", lambda: {"rocksdb": suite})

    refused = CliRunner().invoke(bisect.command, SEARCH).exception

    assert "one machine runs no images" in str(refused)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["9.8.4", "8.8.1", "--metric", "compaction_rate"], "NEW: 8.8.1 does not follow 9.8.4; "),
        (["1.2.3", "9.8.4", "--metric", "compaction_rate"], "BASE: rocksdb lists no '1.2.3'; "),
        (["8.8.1", "9.8.4", "--metric", "ingest"], "--metric: 'ingest' decides no run of rocksdb"),
    ],
)
def test_a_refusal_has_the_names_of_the_command_line(arguments, sentence):
    error = CliRunner().invoke(bisect.command, arguments).exception

    assert str(error).startswith(sentence)
