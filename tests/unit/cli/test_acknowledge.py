"""``tidemark acknowledge`` over one bucket, without functions."""

import json
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from tests.unit.client.test_history import change
from tests.unit.fakes import FakeBucket
from tidemark.cli import acknowledge
from tidemark.client.deployed import Stored

RUN, NEWEST = "20261120T124455Z-abcdef", "20261127T124455Z-0a1b2c"
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
def output_of(monkeypatch, bucket, publisher):
    """Return a function that runs the command and returns its output."""

    def ask(_, parameters):
        return SimpleNamespace(records=lambda: ROWS if parameters == [RUN] else [])

    @contextmanager
    def stored(_target):
        yield Stored(bucket, SimpleNamespace(ask=ask), publisher)

    monkeypatch.setattr(acknowledge, "stored", stored)

    def output_of(*arguments):
        result = CliRunner().invoke(acknowledge.command, arguments)
        return str(result.exception) if result.exception else result.stdout

    return output_of


def test_every_metric_that_changed_at_the_run_is_accepted_with_the_reason(
    output_of, bucket, publisher
):
    assert output_of(RUN, *ACCEPTED) == (
        f"compaction_rate, ingest_rate: the level since run {RUN} is accepted until 2999-01-31\n"
    )

    folder = f"history/rocksdb/acknowledgements/{RUN}"
    assert [*bucket.objects] == [
        f"{folder}/ingest/ingest_rate.json", f"{folder}/compaction/compaction_rate.json",
    ]  # fmt: skip
    decision = json.loads(bucket.objects[f"{folder}/ingest/ingest_rate.json"])
    assert (decision["reason"], decision["until"]) == ("checksums", "2999-01-31")
    assert (publisher.reports, publisher.refreshes) == ([NEWEST], 1)


def test_one_metric_may_be_named(output_of, bucket):
    assert output_of(RUN, "--metric", "ingest_rate", *ACCEPTED).startswith("ingest_rate: ")
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
def test_what_cannot_be_accepted_is_refused(output_of, bucket, arguments, sentence):
    assert output_of(*arguments) == sentence
    assert bucket.objects == {}


def test_a_day_that_is_over_is_refused(output_of):
    refused = output_of(RUN, "--reason", "r", "--until", "2026-01-31")

    assert refused.startswith("--until: 2026-01-31 is over; expected ")


def test_a_word_in_place_of_a_day_is_refused_with_the_form_of_a_day():
    result = CliRunner().invoke(acknowledge.command, [RUN, "--reason", "x", "--until", "tomorrow"])

    assert "'tomorrow' is no day; expected one such as 2026-11-20" in result.stderr
