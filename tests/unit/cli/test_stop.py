"""Refusals of ``tidemark stop``, and runs whose process ends its cloud with the run."""

from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from tests.plans import RUN
from tests.unit.measured_runs import bucket_of, ended, measured, planned
from tidemark.cli import runs as commands
from tidemark.cli.target import Target
from tidemark.cli.this_machine import CloudLost
from tidemark.client.runs import Run
from tidemark.store import claims
from tidemark.store.claims import Claim


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
        runs, plan = EndingCloud(), planned(["9.8.4"], repetitions=3, name=RUN)
        bucket = bucket_of(plan, measured(plan)[:1], outcome)
        claim = Claim(run_id=RUN, execution_arn="arn", claimed_at=plan.started_at)
        claims.take(bucket, "rocksdb", claim)
        cloud, files = SimpleNamespace(runs=runs), SimpleNamespace(bucket=bucket)
        monkeypatch.setattr(commands, "deployed", lambda _: nullcontext(cloud))
        monkeypatch.setattr(commands, "stored", lambda _: nullcontext(files))
        commands.stop.callback.__wrapped__(
            run=RUN, reason="seen enough", target=Target(Path("state"), None)
        )
        return runs.stopped

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

    monkeypatch.setattr(commands, "stored", stored)

    assert str(CliRunner().invoke(commands.stop, [RUN]).exception) == sentence


@pytest.mark.parametrize("reason", ["", " ", "two\nlines", "x" * 10_000])
def test_a_reason_that_cannot_be_kept_is_refused_with_the_value(reason):
    error = CliRunner().invoke(commands.stop, [RUN, "--reason", reason]).exception

    assert str(error).startswith("--reason: ")
    assert "is not accepted; expected 1 to " in str(error)
