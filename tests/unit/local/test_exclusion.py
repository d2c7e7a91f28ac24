"""What `tidemark exclude` and `include` say of a trial, where no function is run."""

import io
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from local.commands import exclusion
from local.results import Results

RUN = "20261120T124455Z-0a1b2c"


class NoSuchKey(Exception):
    pass


class Bucket:
    """All services that the results ask: objects in memory, and functions that succeed."""

    exceptions = SimpleNamespace(NoSuchKey=NoSuchKey)

    def __init__(self):
        self.objects = {}
        self.started = []

    def get_object(self, **asked):
        if asked["Key"] not in self.objects:
            raise NoSuchKey
        return {"Body": io.BytesIO(self.objects[asked["Key"]])}

    def put_object(self, **given):
        self.objects[given["Key"]] = given["Body"]

    def invoke(self, **_):
        return {"Payload": io.BytesIO(b"{}")}

    def start_execution(self, **asked):
        self.started.append(asked)


@pytest.fixture
def bucket():
    return Bucket()


@pytest.fixture
def outputs():
    return {"RecordRatesFunction": "record", "PublishReportFunction": "publish"}


@pytest.fixture
def said(monkeypatch, bucket, outputs):
    """Return a way to run a command over one bucket; it gives what is printed."""
    results = Results(lambda _: bucket, SimpleNamespace(bucket="results", outputs=outputs))
    plan = SimpleNamespace(trials=[1, 2])
    monkeypatch.setattr(results, "plan", lambda run_id: plan if run_id == RUN else None)

    @contextmanager
    def deployed(_target):
        yield SimpleNamespace(runs=lambda: SimpleNamespace(results=results))

    monkeypatch.setattr(exclusion, "deployed", deployed)

    def said(command, *arguments):
        done = CliRunner().invoke(command, arguments)
        return str(done.exception) if done.exception else done.stdout

    return said


def test_reports_take_in_what_was_marked_where_there_are_some(said, bucket, outputs):
    said(exclusion.exclude, RUN, "--reason", "noisy")
    assert bucket.started == []

    outputs["RefreshStateMachine"] = "refresh"
    said(exclusion.include, RUN)
    assert bucket.started == [{"stateMachineArn": "refresh"}]


@pytest.mark.parametrize(
    ("named", "what"), [(RUN, f"run {RUN}"), (f"{RUN}/2", f"trial 2 of run {RUN}")]
)
def test_what_is_so_already_is_said(said, named, what):
    excluded = (exclusion.exclude, named, "--reason", "noisy")

    assert said(exclusion.include, named) == f"{what} was not excluded\n"
    assert said(*excluded) == f"{what} does not count any more\n"
    assert said(*excluded) == f"{what} is already excluded; the reason given now is kept\n"
    assert said(exclusion.include, named) == f"{what} counts again\n"
    assert said(exclusion.include, named) == f"{what} was not excluded\n"


def test_a_run_that_is_not_stored_is_refused_with_where_those_that_are_stand(said):
    other = "20261120T124455Z-ffffff"

    refused = said(exclusion.include, other, "--state", "/kept")

    runs = "`tidemark runs --state /kept`"
    assert refused == f"RUN: {other} is not stored; {runs} lists those that are"


def test_a_trial_of_a_run_that_is_excluded_as_a_whole_does_not_count_again(said):
    trial, hint = f"{RUN}/2", f"`tidemark include {RUN} --state /kept` lets it count"
    said(exclusion.exclude, trial, "--reason", "noisy")
    said(exclusion.exclude, RUN, "--reason", "noisy")

    assert said(exclusion.include, trial, "--state", "/kept") == (
        f"trial 2 of run {RUN} still does not count, for the whole run is excluded; {hint}\n"
    )
    assert said(exclusion.include, RUN) == f"run {RUN} counts again\n"
    assert said(exclusion.include, trial) == f"trial 2 of run {RUN} was not excluded\n"
