"""The outcome of a run."""

import json
import re
from datetime import UTC, datetime, timedelta

import pytest

from aws.announcements import EmbeddedMetrics
from lambdas import end_run, record_outcome, services
from tests.plans import RUN, plan_of
from tidemark.model.checkout import ROOT
from tidemark.model.outcome import LevelAlarm, Outcome
from tidemark.run.ports import NotTold
from tidemark.run.run_outcome import Announcement, Listeners, planned_outcome
from tidemark.store import claims
from tidemark.store.claims import Claim
from tidemark.store.run_ends import write_alarms

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def test_a_run_does_not_end_before_its_start_if_the_clock_went_back():
    plan = plan_of({"repetitions": 1}, started_at=NOON)

    outcome = planned_outcome(plan, [], set(), "arn:x", NOON - timedelta(hours=1))

    assert outcome.ended_at == NOON


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
    metrics = EmbeddedMetrics("Tidemark")
    return Listeners(world.topic, world.bus, metrics, "results", "eu-west-2", in_console=True)


@pytest.fixture
def claimed(world):
    """Claim the run of two trials for an execution that is running."""
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


def test_the_topic_and_the_bus_get_the_same_message_with_links_to_the_results(world, listeners):
    ended = outcome(report=f"{REPORT}/report.md", comparisons=[f"{REPORT}/a+b-against-a.md"])

    listeners.announce(ended)

    ((subject, message),) = world.topic.messages
    assert subject == f"Tidemark: {RUN} is complete"
    assert world.bus.events == [("tidemark", "Tidemark Run Outcome", message)]
    assert Outcome(**{field: message[field] for field in Outcome.model_fields}) == ended
    assert message["bucket"] == "results"
    assert message["report_page"]["place"] == f"s3://results/{REPORT}/report.html"
    (comparison,) = message["comparison_pages"]
    assert comparison["address"] == (
        "https://eu-west-2.console.aws.amazon.com/s3/object/results?region=eu-west-2"
        f"&prefix=reports%2Frocksdb%2F{RUN}%2Fa%2Bb-against-a.html"
    )


def test_a_page_has_no_address_without_a_console(world, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://localhost:4566")

    services.listeners().announce(outcome(report=f"{REPORT}/report.md"))

    ((_, message),) = world.topic.messages
    assert message["report_page"] == {
        "place": f"s3://results/{REPORT}/report.html",
        "address": None,
    }


def test_a_comparison_that_is_not_published_is_not_announced(claimed):
    plan = claimed.json(f"runs/{RUN}/plan.json")
    plan["request"]["baseline"] = "9.0.0"
    claimed.bucket.write(f"runs/{RUN}/plan.json", json.dumps(plan).encode())
    claimed.bucket.write(f"{REPORT}/report.md", b"")

    conclude(claimed)

    ((_, message),) = claimed.topic.messages
    assert (message["report"], message["comparisons"]) == (f"{REPORT}/report.md", [])


def test_the_outcome_of_a_run_has_the_alarms_that_it_tells(claimed):
    alarm = LevelAlarm(
        test="ingest", metric="ingest_rate", name="ingest_rate", run_id="20260926T030511Z-0a1b2c",
        version="9.8.4", version_before="9.0.0", verdict="slower", change=-0.1, told_by=RUN,
    )  # fmt: skip
    earlier = alarm.model_copy(update={"told_by": "20261113T124455Z-abcdef"})
    write_alarms(claimed.bucket, "rocksdb", [earlier, alarm])

    conclude(claimed)

    ((_, message),) = claimed.topic.messages
    assert message["level_changes"] == [alarm.model_dump()]
    assert claimed.json(f"runs/{RUN}/outcome.json")["level_changes"] == [alarm.model_dump()]


def test_a_refused_run_has_no_report(claimed):
    conclude(claimed, None, REFUSED)

    ((_, message),) = claimed.topic.messages
    assert (message["status"], message["report"]) == ("rejected", None)
    assert (message["report_page"], message["comparison_pages"]) == (None, [])


@pytest.mark.parametrize(
    ("status", "sent"),
    [("complete", [0]), ("incomplete", [1]), ("failed", [1]), ("aborted", []), ("rejected", [])],
)
def test_the_metric_of_the_alarm_counts_failed_runs_but_no_aborted_or_refused_ones(
    listeners, capsys, status, sent
):
    listeners.announce(outcome(status=status))

    assert metrics(capsys.readouterr().out) == [([value], "Tidemark", "rocksdb") for value in sent]


@pytest.mark.parametrize("deaf", ["topic", "bus"])
def test_a_suite_is_released_only_after_the_topic_and_the_bus_got_the_outcome(
    claimed, deaf, monkeypatch
):
    def refuse(*_):
        raise NotTold("the line is dead")

    with monkeypatch.context() as broken:
        broken.setattr(getattr(claimed, deaf), "put" if deaf == "bus" else "publish", refuse)
        with pytest.raises(NotTold):
            conclude(claimed)
    assert claims.held_by(claimed.bucket, EXECUTION)

    # The execution fails with NotTold, and EndRun gets the event of its end.
    claimed.executions.add(EXECUTION, "FAILED", error="NotTold", cause="the line is dead")
    detail = {"executionArn": EXECUTION, "status": "FAILED", "error": "NotTold"}
    outcome = claimed.call(end_run, {"detail": detail})["outcome"]

    assert not claims.held_by(claimed.bucket, EXECUTION)
    assert outcome == claimed.json(f"runs/{RUN}/outcome.json")
    assert (
        claimed.topic.messages[-1][1]["status"] == claimed.bus.events[-1][2]["status"] == "failed"
    )
    assert outcome["reason"].startswith("2 of 2 trials did not give all rates")


def test_the_documented_event_is_valid_and_every_field_is_documented():
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
