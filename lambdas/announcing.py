"""Telling how a run ended: people by the topic, programs by an event, alarms by a metric."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from lambdas.aws import EventBus, Topic
from lambdas.metrics import send
from lambdas.outcome import Outcome, RunStatus
from suites import keys
from suites.telemetry import EVENT_SOURCE, EVENT_TYPE, RUN_FAILED

# Of the others, a person who stopped the run or asked in vain knows it.
_ALARMING: Mapping[RunStatus, int] = {"complete": 0, "incomplete": 1, "failed": 1}


class Announcement(Outcome):
    """What is told: the outcome, and where its results are. Fields are only ever added."""

    bucket: str
    report: str | None
    """Key of the report in Markdown; None if nothing was planned, and so nothing reported."""


@dataclass(frozen=True)
class Listeners:
    """Whoever wants to know how runs end."""

    topic: Topic
    bus: EventBus

    def tell(self, outcome: Outcome) -> None:
        """Tell everybody; who is told twice knows the run by its name.

        Raises
        ------
        NotTold
            If the topic or the bus does not take it.

        """
        _send_metric(outcome)
        told = _announcement(outcome).model_dump_json()
        self.bus.put(EVENT_SOURCE, EVENT_TYPE, told)
        self.topic.publish(f"Tidemark: {outcome.run_id} is {outcome.status}", told)


def _announcement(outcome: Outcome) -> Announcement:
    planned = outcome.trials_planned > 0
    return Announcement(
        **outcome.model_dump(),
        bucket=os.environ["BUCKET"],
        report=keys.report(outcome.suite, outcome.run_id, "report.md") if planned else None,
    )


def _send_metric(outcome: Outcome) -> None:
    if outcome.suite and outcome.status in _ALARMING:
        send(RUN_FAILED, _ALARMING[outcome.status], suite=outcome.suite)
