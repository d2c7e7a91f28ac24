"""Output of `tidemark runs`, and the end of a run by `tidemark stop`."""

import json
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from tests.plans import RUN
from tests.unit.measured_runs import bucket_of, ended, measured, planned
from tidemark.cli import runs
from tidemark.cli.target import Target
from tidemark.cli.this_machine import CloudLost
from tidemark.client.runs import Run
from tidemark.store import claims
from tidemark.store.claims import Claim

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
        "", "no run of rocksdb is stored; `tidemark runs` lists the runs of all suites\n"
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


class EndingCloud:
    """The runs of a cloud that ends after a stop."""

    def __init__(self):
        self.stopped = []

    def find(self, run):
        return Run(run, "arn")

    def stop(self, run, reason):
        self.stopped.append((run.run_id, reason))

    def await_end(self, _runs):
        raise CloudLost("the cloud does not answer")


@pytest.fixture
def stopped(monkeypatch):
    """Stop the run, whose process leaves an outcome in the files; return what was stopped."""

    def stopped(outcome):
        ending, plan = EndingCloud(), planned(["9.8.4"], repetitions=3, name=RUN)
        bucket = bucket_of(plan, measured(plan)[:1], outcome)
        claim = Claim(run_id=RUN, execution_arn="arn", claimed_at=plan.started_at)
        claims.take(bucket, "rocksdb", claim)
        cloud, files = SimpleNamespace(runs=ending), SimpleNamespace(bucket=bucket)
        monkeypatch.setattr(runs, "deployed", lambda _: nullcontext(cloud))
        monkeypatch.setattr(runs, "stored", lambda _: nullcontext(files))
        runs.stop.callback.__wrapped__(
            run=RUN, reason="seen enough", target=Target(Path("state"), None)
        )
        return ending.stopped

    return stopped


def test_a_stop_reads_the_end_of_its_run_from_the_files_of_a_cloud_that_ends_with_it(
    stopped, capsys
):
    assert stopped(ended(RUN, "aborted")) == [(RUN, "seen enough")]

    assert capsys.readouterr().out == (
        f"Run {RUN} is aborted, 1 of 3 trials kept; resume it with `tidemark run --resume {RUN}`\n"
    )


def test_a_stop_of_a_lost_cloud_fails_if_the_run_left_no_outcome(stopped):
    with pytest.raises(CloudLost, match="does not answer"):
        stopped(None)


@pytest.mark.parametrize(
    ("plan", "sentence"),
    [
        (planned(name=RUN), f"RUN: {RUN} has ended already"),
        (None, f"RUN: {RUN} is not stored; `tidemark runs` lists the runs"),
    ],
)
def test_a_run_that_is_not_active_is_refused(monkeypatch, plan, sentence):
    @contextmanager
    def stored(_):
        yield SimpleNamespace(bucket=bucket_of(plan))

    monkeypatch.setattr(runs, "stored", stored)

    assert str(CliRunner().invoke(runs.stop, [RUN]).exception) == sentence


@pytest.mark.parametrize("reason", ["", " ", "two\nlines", "x" * 10_000])
def test_a_reason_that_cannot_be_kept_is_refused_with_the_value(reason):
    error = CliRunner().invoke(runs.stop, [RUN, "--reason", reason]).exception

    assert str(error).startswith("--reason: ")
    assert "is not accepted; expected 1 to " in str(error)
