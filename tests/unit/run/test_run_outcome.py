"""The outcome of a run."""

from datetime import UTC, datetime, timedelta

from tests.plans import plan_of
from tidemark.run.run_outcome import planned_outcome

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def test_a_run_does_not_end_before_its_start_if_the_clock_went_back():
    plan = plan_of({"repetitions": 1}, started_at=NOON)

    outcome = planned_outcome(plan, [], set(), "arn:x", NOON - timedelta(hours=1))

    assert outcome.ended_at == NOON
