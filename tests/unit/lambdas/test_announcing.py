"""Who is told how a run ended, of what, and when."""

import json
import re

import pytest

from lambdas import claims, end_run, publishing, record_outcome
from lambdas.announcing import Announcement, Listeners
from lambdas.aws import NotTold
from lambdas.claims import Claim
from lambdas.outcome import Outcome
from suites.files import ROOT
from tests.plans import RUN

REPORT = f"reports/rocksdb/{RUN}"
EXECUTION = "arn:aws:states:eu-west-2:1:execution:Run:by-hand"
DOCUMENT = (ROOT / "docs" / "events.md").read_text(encoding="utf-8")
REFUSED = {"Error": "Refused", "Cause": "versions: none"}


def outcome(**changed):
    return Outcome.model_validate(
        {
            "run_id": RUN, "suite": "rocksdb", "status": "complete", "reason": "",
            "trials_planned": 2, "trials_done": 2, "ended_at": "2026-11-21T10:00:00Z", **changed,
        }
    )  # fmt: skip


@pytest.fixture
def listeners(world):
    return Listeners(world.topic, world.bus)


@pytest.fixture
def claimed(world, monkeypatch):
    """The run of two trials, in the hands of an execution that goes on."""
    monkeypatch.setattr(publishing, "packed_vega", lambda: "vega()")
    claim = Claim(run_id=RUN, execution_arn=EXECUTION, claimed_at="2026-11-20T12:00:00Z")
    claims.take(world.bucket, "rocksdb", claim)
    return world


def conclude(world, run_id=RUN, failure=None):
    event = {
        "execution_arn": EXECUTION, "execution_name": "by-hand", "input": {"suite": "rocksdb"},
        "started_at": "2026-11-21T09:00:00Z", "now": "2026-11-21T10:00:00Z",
    }  # fmt: skip
    return world.call(record_outcome, {**event, "run_id": run_id, "failure": failure})


def metrics(printed):
    lines = (json.loads(line) for line in printed.splitlines() if '"_aws"' in line)
    return [(line["RunFailed"], line["stack"], line["suite"]) for line in lines]


def test_the_topic_and_the_bus_are_told_the_same_and_where_results_are(world, listeners):
    ended = outcome(report=f"{REPORT}/report.md", comparisons=[f"{REPORT}/a+b-against-a.md"])

    listeners.tell(ended)

    ((subject, message),) = world.topic.told
    assert subject == f"Tidemark: {RUN} is complete"
    assert world.bus.told == [("tidemark", "Tidemark Run Outcome", message)]
    assert Outcome(**{field: message[field] for field in Outcome.model_fields}) == ended
    assert message["bucket"] == "results"
    assert message["report_page"]["place"] == f"s3://results/{REPORT}/report.html"
    (comparison,) = message["comparison_pages"]
    assert comparison["address"] == (
        "https://eu-west-2.console.aws.amazon.com/s3/object/results?region=eu-west-2"
        f"&prefix=reports%2Frocksdb%2F{RUN}%2Fa%2Bb-against-a.html"
    )


def test_where_there_is_no_console_a_page_has_no_address(world, listeners, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://localhost:4566")

    listeners.tell(outcome(report=f"{REPORT}/report.md"))

    ((_, message),) = world.topic.told
    assert message["report_page"] == {
        "place": f"s3://results/{REPORT}/report.html",
        "address": None,
    }


def test_what_is_not_published_is_not_named(claimed):
    plan = claimed.json(f"runs/{RUN}/plan.json")
    plan["request"]["baseline"] = "9.0.0"
    claimed.bucket.write(f"runs/{RUN}/plan.json", json.dumps(plan).encode())
    claimed.bucket.write(f"{REPORT}/report.md", b"")

    conclude(claimed)

    ((_, message),) = claimed.topic.told
    assert (message["report"], message["comparisons"]) == (f"{REPORT}/report.md", [])


def test_a_run_that_was_refused_has_no_report(claimed):
    conclude(claimed, None, REFUSED)

    ((_, message),) = claimed.topic.told
    assert (message["status"], message["report"]) == ("rejected", None)
    assert (message["report_page"], message["comparison_pages"]) == (None, [])


@pytest.mark.parametrize(
    ("status", "sent"),
    [("complete", [0]), ("incomplete", [1]), ("failed", [1]), ("aborted", []), ("rejected", [])],
)
def test_the_alarms_metric_tells_failed_runs_from_complete_ones_and_leaves_out_what_people_did(
    listeners, capsys, status, sent
):
    listeners.tell(outcome(status=status))

    assert metrics(capsys.readouterr().out) == [([value], "Tidemark", "rocksdb") for value in sent]


@pytest.mark.parametrize("deaf", ["topic", "bus"])
def test_a_suite_is_free_only_when_everybody_was_told_how_its_run_ended(claimed, deaf, monkeypatch):
    def refuse(*_):
        raise NotTold("the line is dead")

    with monkeypatch.context() as broken:
        broken.setattr(getattr(claimed, deaf), "put" if deaf == "bus" else "publish", refuse)
        with pytest.raises(NotTold):
            conclude(claimed)
    assert claims.held_by(claimed.bucket, EXECUTION)

    # The execution failed of it, which EndRun is told.
    claimed.executions.add(EXECUTION, "FAILED", error="NotTold", cause="the line is dead")
    detail = {"executionArn": EXECUTION, "status": "FAILED", "error": "NotTold"}
    told = claimed.call(end_run, {"detail": detail})["outcome"]

    assert not claims.held_by(claimed.bucket, EXECUTION)
    assert told == claimed.json(f"runs/{RUN}/outcome.json")
    assert claimed.topic.told[-1][1]["status"] == claimed.bus.told[-1][2]["status"] == "failed"
    assert told["reason"].startswith("2 of 2 trials did not give all rates")


def test_the_documented_event_is_one_and_every_field_is_documented():
    example, pattern = (
        json.loads(block) for block in re.findall(r"```json\n(.*?)```", DOCUMENT, re.S)
    )
    documented = re.findall(r"^\| `(\w+)` \|", DOCUMENT, re.M)

    assert (
        Announcement.model_validate(example["detail"]).model_dump(mode="json").keys()
        == example["detail"].keys()
    )
    assert documented == list(Announcement.model_fields)
    assert example["source"] in pattern["source"]
    assert example["detail-type"] in pattern["detail-type"]
