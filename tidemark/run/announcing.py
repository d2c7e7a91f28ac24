"""Announcements of a run's outcome to people, programs and alarms."""

from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import quote

from tidemark.model.base import Frozen
from tidemark.model.outcome import Outcome, RunStatus
from tidemark.model.telemetry import EVENT_SOURCE, EVENT_TYPE, RUN_FAILED
from tidemark.run.ports import EventBus, Metrics, Topic


class Link(Frozen):
    """A link to one object."""

    place: str
    """The link for programs: ``s3://<bucket>/<key>``."""
    address: str | None
    """The object in the S3 console, for a signed-in browser; None without a console."""


class ObjectLinks(NamedTuple):
    """Links to the objects of one bucket."""

    bucket: str
    region: str
    in_console: bool
    """Whether the S3 console shows the bucket."""

    def to(self, key: str) -> Link:
        """Return the link to an object."""
        console = f"https://{self.region}.console.aws.amazon.com/s3/object/{self.bucket}"
        address = f"{console}?region={self.region}&prefix={quote(key, safe='')}"
        return Link(place=f"s3://{self.bucket}/{key}", address=address if self.in_console else None)


# The other statuses raise no alarm: the person who stopped or misspelt the run knows of it.
_ALARMING: Mapping[RunStatus, int] = {"complete": 0, "incomplete": 1, "failed": 1}


class Announcement(Outcome):
    """An outcome with links to its results. New versions only add fields."""

    bucket: str
    report_page: Link | None
    """The link to the report page, None without a report."""
    comparison_pages: tuple[Link, ...]
    """The links to the comparison pages."""


class Listeners(NamedTuple):
    """The topic, bus and metric that receive outcomes."""

    topic: Topic
    bus: EventBus
    metrics: Metrics
    links: ObjectLinks

    def announce(self, outcome: Outcome) -> None:
        """Announce an outcome; a receiver recognises a repetition by its run id.

        Raises
        ------
        NotTold
            If the topic or the bus does not accept the announcement.

        """
        self._send_metric(outcome)
        announcement = self._announcement(outcome).model_dump_json()
        self.bus.put(EVENT_SOURCE, EVENT_TYPE, announcement)
        self.topic.publish(f"Tidemark: {outcome.run_id} is {outcome.status}", announcement)

    def _announcement(self, outcome: Outcome) -> Announcement:
        return Announcement(
            **outcome.model_dump(),
            bucket=self.links.bucket,
            report_page=self._page(outcome.report) if outcome.report else None,
            comparison_pages=tuple(map(self._page, outcome.comparisons)),
        )

    def _page(self, key: str) -> Link:
        return self.links.to(f"{key.removesuffix('.md')}.html")

    def _send_metric(self, outcome: Outcome) -> None:
        if outcome.suite and outcome.status in _ALARMING:
            self.metrics.send(RUN_FAILED, _ALARMING[outcome.status], suite=outcome.suite)
