"""Telling how a run ended: people by the topic, programs by an event, alarms by a metric."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from lambdas.aws import EventBus, Topic
from lambdas.links import Link, link
from lambdas.metrics import send
from lambdas.outcome import Outcome, RunStatus
from suites.telemetry import EVENT_SOURCE, EVENT_TYPE, RUN_FAILED

# Of the others, a person who stopped the run or asked in vain knows it.
_ALARMING: Mapping[RunStatus, int] = {"complete": 0, "incomplete": 1, "failed": 1}


class Announcement(Outcome):
    """What is told: the outcome, and where its results are. Fields are only ever added."""

    bucket: str
    report_page: Link | None
    """The report for people; None if there is none."""
    comparison_pages: tuple[Link, ...]
    """The same of each comparison."""


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
    bucket = os.environ["BUCKET"]

    def page(key: str) -> Link:
        return link(bucket, f"{key.removesuffix('.md')}.html")

    return Announcement(
        **outcome.model_dump(),
        bucket=bucket,
        report_page=page(outcome.report) if outcome.report else None,
        comparison_pages=tuple(map(page, outcome.comparisons)),
    )


def _send_metric(outcome: Outcome) -> None:
    if outcome.suite and outcome.status in _ALARMING:
        send(RUN_FAILED, _ALARMING[outcome.status], suite=outcome.suite)
