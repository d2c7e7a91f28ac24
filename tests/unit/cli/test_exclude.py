"""Output of `tidemark exclude` and `include`, without functions."""

from contextlib import contextmanager

import pytest
from click.testing import CliRunner

from tests.unit.measured_runs import bucket_of, planned
from tidemark.cli import exclude as exclusion
from tidemark.client.deployed import Stored
from tidemark.client.ports import Stack
from tidemark.client.publisher import FunctionPublisher

RUN = "20261120T124455Z-0a1b2c"


class FakeFunctions:
    """Functions that succeed."""

    def invoke(self, _name, _event):
        return {}


class FakeMachines:
    """State machines that keep the names of started ones."""

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

    monkeypatch.setattr(exclusion, "stored", stored)

    def output_of(command, *arguments):
        result = CliRunner().invoke(command, arguments)
        return str(result.exception) if result.exception else result.stdout

    return output_of


def test_a_mark_refreshes_quicksight_if_the_stack_has_it(output_of, machines, outputs):
    output_of(exclusion.exclude, RUN, "--reason", "noisy")
    assert machines.started == []

    outputs["RefreshStateMachine"] = "refresh"
    output_of(exclusion.include, RUN)
    assert machines.started == ["refresh"]


@pytest.mark.parametrize(
    ("argument", "name"), [(RUN, f"run {RUN}"), (f"{RUN}/2", f"trial 2 of run {RUN}")]
)
def test_a_mark_that_changes_nothing_is_named(output_of, argument, name):
    excluded = (exclusion.exclude, argument, "--reason", "noisy")

    assert output_of(exclusion.include, argument) == f"{name} was not excluded\n"
    assert output_of(*excluded) == f"{name} no longer counts\n"
    assert output_of(*excluded) == f"{name} is already excluded; the new reason is kept\n"
    assert output_of(exclusion.include, argument) == f"{name} counts again\n"
    assert output_of(exclusion.include, argument) == f"{name} was not excluded\n"


def test_a_run_that_is_not_stored_is_refused_with_the_command_that_lists_runs(output_of):
    other = "20261120T124455Z-ffffff"

    refused = output_of(exclusion.include, other, "--state", "/kept")

    runs = "`tidemark runs --state /kept`"
    assert refused == f"RUN: {other} is not stored; {runs} lists the runs"


def test_a_trial_does_not_count_while_its_whole_run_is_excluded(output_of):
    trial, hint = f"{RUN}/2", f"`tidemark include {RUN} --state /kept` includes the run"
    output_of(exclusion.exclude, trial, "--reason", "noisy")
    output_of(exclusion.exclude, RUN, "--reason", "noisy")

    assert output_of(exclusion.include, trial, "--state", "/kept") == (
        f"trial 2 of run {RUN} still does not count, because the whole run is excluded; {hint}\n"
    )
    assert output_of(exclusion.include, RUN) == f"run {RUN} counts again\n"
    assert output_of(exclusion.include, trial) == f"trial 2 of run {RUN} was not excluded\n"


def test_a_reason_has_the_length_of_a_note(output_of):
    refused = "--reason: 100,000 characters; expected at most 500"

    assert output_of(exclusion.exclude, RUN, "--reason", "a" * 100_000) == refused
    assert output_of(exclusion.include, RUN, "--reason", "a" * 100_000) == refused


def test_a_run_that_counts_again_names_its_trials_that_do_not(output_of):
    for name in (RUN, f"{RUN}/2"):
        output_of(exclusion.exclude, name, "--reason", "noisy")

    assert output_of(exclusion.include, RUN) == (
        f"run {RUN} counts again, but for trial 2, still excluded\n"
    )
