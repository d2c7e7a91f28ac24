"""The search for the first slower version, over a fake cloud."""

from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from tests.unit.measured_runs import planned
from tidemark.cli import bisect
from tidemark.client.runs import Run
from tidemark.model.refusal import Refused
from tidemark.model.subject import Subject
from tidemark.model.suite_files import read_suites

VERSIONS = ["8.8.1", "8.10.0", "9.0.0", "9.7.3", "9.8.4"]
SEARCH = ["8.8.1", "9.8.4", "--metric", "ingest_rate"]


class Cloud:
    """A cloud whose runs end with the verdict of their version."""

    def __init__(self, words):
        self.words, self.inputs, self.plans, self.rows, self.stopped = words, [], {}, [], set()
        self.runs = self.results = self.tables = self

    def start(self, fields):
        self.inputs.append(fields)
        run_id = fields.get("run") or f"run-{len(self.plans)}"
        if "run" not in fields:
            chosen = {each: fields[each] for each in ("versions", "baseline", "until")}
            plan = planned(repetitions=fields.get("repetitions"), records=None, **chosen)
            self.plans[run_id] = plan.model_copy(update={"run_id": run_id})
        version = self.plans[run_id].compared[0]
        status = "aborted" if version in self.stopped else "complete"
        row = {"run_id": run_id, "status": status, "note": fields.get("note", "")}
        self.rows.insert(0, row)
        return Run(run_id, "arn")

    def plan(self, run_id):
        return self.plans.get(run_id)

    def ask(self, _statement, _parameters):
        return SimpleNamespace(records=lambda: self.rows)

    def compared(self, _cloud, _plan, _base, version):
        metric = SimpleNamespace(name="ingest_rate", verdict=self.words[version])
        return SimpleNamespace(metrics=[metric])

    def measure(self, _runs, run, *_):
        return int(self.plans[run.run_id].compared[0] in self.stopped)

    @property
    def compared_versions(self):
        return [fields["versions"][1] for fields in self.inputs if "run" not in fields]


@pytest.fixture
def search(monkeypatch):
    """Return a function that searches in a cloud; it returns the exit code and the last line."""
    monkeypatch.setattr(bisect, "preflight", lambda *_: None)

    def search(cloud, *options):
        @contextmanager
        def cloud_at(*_):
            yield cloud

        monkeypatch.setattr(bisect, "cloud_at", cloud_at)
        monkeypatch.setattr(bisect, "measure", cloud.measure)
        monkeypatch.setattr(bisect, "compared", cloud.compared)
        done = CliRunner().invoke(bisect.command, [*SEARCH, *options])
        if done.exception and not isinstance(done.exception, SystemExit):
            raise done.exception
        return done.exit_code, done.stdout.splitlines()[-1]

    return search


def words(**changed):
    """Return verdicts of versions that are slower from 9.0.0 on."""
    told = dict(zip(VERSIONS[1:], ["same", "slower", "slower", "slower"], strict=True))
    return told | {f"{key[1:].replace('_', '.')}": word for key, word in changed.items()}


def test_the_first_slower_version_is_found_with_the_path_in_the_notes(search):
    cloud = Cloud(words())

    code, end = search(cloud)

    assert code == 0
    assert end == (
        "By ingest_rate 9.0.0 is the first slower version; 8.10.0 is not slower than 8.8.1."
    )
    assert cloud.compared_versions == ["9.8.4", "9.0.0", "8.10.0"]
    assert cloud.inputs[-1] == {
        "suite": "rocksdb", "versions": ["8.8.1", "8.10.0"], "baseline": "8.8.1",
        "until": "decided", "trigger": "cli",
        "note": "bisect 8.8.1 to 9.8.4 by ingest_rate; 9.8.4 is slower than 8.8.1; "
                "9.0.0 is slower than 8.8.1",
    }  # fmt: skip


def test_a_version_that_cannot_be_told_ends_the_search(search):
    code, end = search(Cloud(words(v9_0_0="cannot tell")))

    assert code == 4
    assert end == (
        "By ingest_rate one of 8.10.0, 9.0.0, 9.7.3, 9.8.4 is the first slower version, and the "
        "trials cannot tell which."
    )


@pytest.mark.parametrize(
    ("word", "code", "end"),
    [
        ("same", 0, "By ingest_rate 9.8.4 is not slower than 8.8.1."),
        ("cannot tell", 4, "By ingest_rate the trials cannot tell 9.8.4 from 8.8.1."),
    ],
)
def test_a_newest_version_that_is_not_slower_ends_the_search(search, word, code, end):
    assert search(Cloud(words(v9_8_4=word))) == (code, end)


def test_a_search_that_was_stopped_goes_on_with_its_runs(search):
    cloud = Cloud(words())
    cloud.stopped.add("9.0.0")
    code, end = search(cloud)
    assert (code, end) == (1, "The search is not over; --resume goes on with it.")
    cloud.stopped.clear()

    code, end = search(cloud, "--resume")

    assert code == 0
    assert cloud.compared_versions == ["9.8.4", "9.0.0", "8.10.0"]
    assert cloud.inputs[2] == {"suite": "rocksdb", "run": "run-1", "trigger": "cli"}


def test_a_search_with_other_repetitions_starts_anew(search):
    cloud = Cloud(words())
    search(cloud)

    search(cloud, "--resume", "--repetitions", "50")

    assert cloud.compared_versions == 2 * ["9.8.4", "9.0.0", "8.10.0"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["9.9.9", "9.8.4", "--metric", "ingest_rate"], "BASE: rocksdb lists no 9.9.9; there are "),
        (["9.8.4", "8.8.1", "--metric", "ingest_rate"], "NEW: 8.8.1 does not follow 9.8.4; "),
        (["8.8.1", "9.8.4", "--metric", "speed"], "--metric: no speed decides a run of rocksdb; "),
    ],
)
def test_a_search_without_a_beginning_is_refused(arguments, sentence):
    refused = CliRunner().invoke(bisect.command, arguments).exception

    assert str(refused).startswith(sentence)


def test_a_metric_of_several_tests_is_refused():
    suite = read_suites()["rocksdb"]
    first, second = suite.tests
    tests = (first, second.model_copy(update={"metrics": first.metrics}))

    with pytest.raises(Refused, match=r"^--metric: several tests of rocksdb have ingest_rate; "):
        bisect.check_metric(suite.model_copy(update={"tests": tests}), "ingest_rate")


def test_the_note_of_a_long_search_is_cut():
    versions = [f"9.8.4-{number:058}" for number in range(9)]
    told = dict.fromkeys(versions[1:], "slower")
    suite = read_suites()["rocksdb"]

    note = bisect.Search(suite, versions, "ingest_rate", {}, None, told).fields("9.8.4")["note"]

    assert note.startswith(f"bisect {versions[0]} to {versions[-1]} by ingest_rate; ")
    assert len(note.encode()) <= 500


def test_images_are_refused_on_one_machine(monkeypatch):
    subject = Subject(image="x/rocksdb:{version}", form=".*", versions=VERSIONS)
    suite = read_suites()["rocksdb"].model_copy(update={"subject": subject})
    monkeypatch.setattr(bisect, "suites", lambda: {"rocksdb": suite})

    refused = CliRunner().invoke(bisect.command, SEARCH).exception

    assert "one machine runs no images" in str(refused)


def test_a_first_version_that_is_slower_is_told_without_the_base():
    end = bisect.conclusion(VERSIONS[:2], {"8.10.0": "slower"})

    assert end == ("8.10.0 is the first slower version", 0)
