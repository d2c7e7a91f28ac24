"""The decisions of people, over one bucket and without functions."""

import json
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from tests.unit.client.test_history import change
from tests.unit.fakes import FakeBucket
from tests.unit.measured_runs import bucket_of, planned
from tidemark.cli import decisions
from tidemark.client.deployed import FunctionPublisher, Stack, Stored

RUN, NEWEST = "20261120T124455Z-0a1b2c", "20261127T124455Z-0a1b2c"


class FakeFunctions:
    """Functions that succeed."""

    def invoke(self, _name, _event):
        return {}


class FakeMachines:
    """State machines that keep the names of started executions."""

    def __init__(self):
        self.started = []

    def start(self, machine, _name, _input):
        self.started.append(machine)


@pytest.fixture
def machines():
    return FakeMachines()


@pytest.fixture
def outputs():
    return {"RecordRatesFunction": "record", "PublishReportFunction": "publish"}


@pytest.fixture
def output_of(monkeypatch, machines, outputs):
    """Return a function that runs a command over one bucket and returns its output."""
    bucket = bucket_of(planned(["9.8.4"], repetitions=2, name=RUN))
    publisher = FunctionPublisher(FakeFunctions(), machines, Stack("s", outputs))

    @contextmanager
    def stored(_target):
        yield Stored(bucket, None, publisher)

    monkeypatch.setattr(decisions, "stored", stored)

    def output_of(command, *arguments):
        result = CliRunner().invoke(command, arguments)
        return str(result.exception) if result.exception else result.stdout

    return output_of


def test_a_mark_refreshes_quicksight_if_the_stack_has_it(output_of, machines, outputs):
    output_of(decisions.exclude, RUN, "--reason", "noisy")
    assert machines.started == []

    outputs["RefreshStateMachine"] = "refresh"
    output_of(decisions.include, RUN)
    assert machines.started == ["refresh"]


@pytest.mark.parametrize(
    ("argument", "name"), [(RUN, f"run {RUN}"), (f"{RUN}/2", f"trial 2 of run {RUN}")]
)
def test_a_mark_that_changes_nothing_is_named(output_of, argument, name):
    excluded = (decisions.exclude, argument, "--reason", "noisy")

    assert output_of(decisions.include, argument) == f"{name} was not excluded\n"
    assert output_of(*excluded) == f"{name} no longer counts\n"
    assert output_of(*excluded) == f"{name} is already excluded; the new reason is kept\n"
    assert output_of(decisions.include, argument) == f"{name} counts again\n"
    assert output_of(decisions.include, argument) == f"{name} was not excluded\n"


def test_a_run_that_is_not_stored_is_refused_with_the_command_that_lists_runs(output_of):
    other = "20261120T124455Z-ffffff"

    refused = output_of(decisions.include, other, "--state", "/kept")

    runs = "`tidemark runs --state /kept`"
    assert refused == f"RUN: {other} is not stored; {runs} lists the runs"


def test_a_trial_does_not_count_while_its_whole_run_is_excluded(output_of):
    trial, hint = f"{RUN}/2", f"`tidemark include {RUN} --state /kept` includes the run"
    output_of(decisions.exclude, trial, "--reason", "noisy")
    output_of(decisions.exclude, RUN, "--reason", "noisy")

    assert output_of(decisions.include, trial, "--state", "/kept") == (
        f"trial 2 of run {RUN} still does not count, because the whole run is excluded; {hint}\n"
    )
    assert output_of(decisions.include, RUN) == f"run {RUN} counts again\n"
    assert output_of(decisions.include, trial) == f"trial 2 of run {RUN} was not excluded\n"


def test_a_reason_has_the_length_of_a_note(output_of):
    refused = "--reason: 100,000 characters; expected at most 500"

    assert output_of(decisions.exclude, RUN, "--reason", "a" * 100_000) == refused
    assert output_of(decisions.include, RUN, "--reason", "a" * 100_000) == refused


def test_a_run_that_counts_again_names_its_trials_that_do_not(output_of):
    for name in (RUN, f"{RUN}/2"):
        output_of(decisions.exclude, name, "--reason", "noisy")

    assert output_of(decisions.include, RUN) == (
        f"run {RUN} counts again, but for trial 2, still excluded\n"
    )


ROWS = [
    change(changed_run=RUN, run_id=NEWEST),
    change(changed_run=RUN, run_id=NEWEST, test="compaction", metric="compaction_rate"),
]
ACCEPTED = ["--reason", "checksums", "--until", "2999-01-31"]


class Publisher:
    """A publisher that notes the runs whose reports it writes."""

    def __init__(self):
        self.reports, self.refreshes = [], 0

    def report(self, run_id):
        self.reports.append(run_id)

    def refresh(self):
        self.refreshes += 1


@pytest.fixture
def bucket():
    return FakeBucket()


@pytest.fixture
def publisher():
    return Publisher()


@pytest.fixture
def accepted(monkeypatch, bucket, publisher):
    """Return a function that runs the command and returns its output."""

    def ask(_, parameters):
        return SimpleNamespace(records=lambda: ROWS if parameters == [RUN] else [])

    @contextmanager
    def stored(_target):
        yield Stored(bucket, SimpleNamespace(ask=ask), publisher)

    monkeypatch.setattr(decisions, "stored", stored)

    def accepted(*arguments):
        result = CliRunner().invoke(decisions.acknowledge, arguments)
        return str(result.exception) if result.exception else result.stdout

    return accepted


def test_every_metric_that_changed_at_the_run_is_accepted_with_the_reason(
    accepted, bucket, publisher
):
    assert accepted(RUN, *ACCEPTED) == (
        f"compaction_rate, ingest_rate: the level since run {RUN} is accepted until 2999-01-31\n"
    )

    folder = f"history/rocksdb/acknowledgements/{RUN}"
    assert [*bucket.objects] == [
        f"{folder}/ingest/ingest_rate.json", f"{folder}/compaction/compaction_rate.json",
    ]  # fmt: skip
    decision = json.loads(bucket.objects[f"{folder}/ingest/ingest_rate.json"])
    assert (decision["reason"], decision["until"]) == ("checksums", "2999-01-31")
    assert (publisher.reports, publisher.refreshes) == ([NEWEST], 1)


def test_one_metric_may_be_named(accepted, bucket):
    assert accepted(RUN, "--metric", "ingest_rate", *ACCEPTED).startswith("ingest_rate: ")
    assert len(bucket.objects) == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["20260101T000000Z-ffffff", *ACCEPTED],
            "RUN: the history has no change of level at '20260101T000000Z-ffffff'; "
            "`tidemark history` names the runs",
        ),
        (
            [RUN, "--metric", "latency", *ACCEPTED],
            f"--metric: the history has no change of 'latency' at {RUN}, but of compaction_rate, "
            "ingest_rate",
        ),
        (
            [RUN, "--reason", " ", "--until", "2999-01-31"],
            "--reason: '' is not accepted: say why the new level is accepted",
        ),
    ],
)
def test_what_cannot_be_accepted_is_refused(accepted, bucket, arguments, sentence):
    assert accepted(*arguments) == sentence
    assert bucket.objects == {}


def test_a_day_that_is_over_is_refused(accepted):
    refused = accepted(RUN, "--reason", "r", "--until", "2026-01-31")

    assert refused.startswith("--until: 2026-01-31 is over; expected ")


def test_a_word_in_place_of_a_day_is_refused_with_the_form_of_a_day():
    result = CliRunner().invoke(
        decisions.acknowledge, [RUN, "--reason", "x", "--until", "tomorrow"]
    )

    assert "'tomorrow' is not a day; expected one such as 2026-11-20" in result.stderr
