"""The outcome of a run, from its trials or its failure, and its announcement.

People, programs and alarms learn of an outcome by a topic, an event bus and a metric.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple
from urllib.parse import quote

from tidemark.model.base import NAME, Frozen
from tidemark.model.outcome import LevelAlarm, Outcome, RunStatus
from tidemark.model.plan import Plan
from tidemark.model.results import TrialResult
from tidemark.model.telemetry import EVENT_SOURCE, EVENT_TYPE, RUN_FAILED
from tidemark.run.ports import EventBus, Metrics, Topic
from tidemark.store import keys
from tidemark.store.bucket import Bucket


def planned_outcome(
    plan: Plan,
    trials: Sequence[TrialResult],
    published: Collection[str],
    execution_arn: str,
    ended_at: datetime,
    failure: str = "",
    failed: RunStatus = "failed",
    alarms: tuple[LevelAlarm, ...] = (),
) -> Outcome:
    """Return the outcome of a planned run; the plan has the trials that it needs so far.

    ``published`` are the keys of the objects of its report. ``failure`` is the reason why its
    execution ended early, '' for none; ``failed`` is the status of a run with such a reason.
    ``alarms`` are the changes of level that its message reports.
    """
    done = sum(trial.status == "ok" for trial in trials)
    status: RunStatus = "complete"
    reason = failure
    if failure:
        status = failed
    elif not done:
        status = "failed"
    elif not _is_whole(plan, trials):
        status = "incomplete"
    if not reason and status != "complete":
        reason = f"{len(plan.trials) - done} of {len(plan.trials)} trials did not give all rates"
        if first := next((trial for trial in trials if trial.status != "ok"), None):
            reason += f"; the first is trial {first.trial} ({first.name}): {first.reason}"
    suite, base = plan.suite.name, (plan.run_id, plan.request.baseline or "")
    comparisons = (
        keys.comparison(suite, base, (plan.run_id, version), "md") for version in plan.compared
    )
    report = keys.report(suite, plan.run_id, "report.md")
    return Outcome(
        run_id=plan.run_id,
        suite=plan.request.suite,
        status=status,
        reason=reason,
        trials_planned=len(plan.trials),
        trials_done=done,
        ended_at=max(plan.started_at, ended_at),  # the clock may have gone back
        execution_arn=execution_arn,
        comparisons=tuple(key for key in comparisons if key in published),
        report=report if report in published else None,
        level_changes=alarms,
    )


def _is_whole(plan: Plan, trials: Sequence[TrialResult]) -> bool:
    """Tell whether the trials are all that the run was to measure.

    A run until decided makes up for a trial without rates, unless a version has none to the end
    under one of the combinations of axes.
    """
    last = {trial.name: trial for trial in trials}
    needed = last.values() if plan.request.until else trials
    return len(trials) == len(plan.trials) and all(trial.status == "ok" for trial in needed)


def unplanned_outcome(
    run_id: str,
    suite: object,
    execution_arn: str,
    ended_at: datetime,
    reason: str,
    status: RunStatus,
) -> Outcome:
    """Return the outcome of an execution without a plan."""
    return Outcome(
        run_id=run_id,
        # A refused suite may be any value, and as large as an input.
        suite=suite if isinstance(suite, str) and re.fullmatch(NAME, suite) else "",
        status=status,
        reason=reason,
        trials_planned=0,
        trials_done=0,
        ended_at=ended_at,
        execution_arn=execution_arn,
    )


def published_keys(bucket: Bucket, plan: Plan) -> set[str]:
    """Return the keys of the objects of a run's report."""
    return set(bucket.keys(keys.report(plan.suite.name, plan.run_id, "")))


class Link(Frozen):
    """A link to one object."""

    place: str
    """The link for programs: ``s3://<bucket>/<key>``."""
    address: str | None
    """The object in the S3 console, for a signed-in browser; None without a console."""


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
    """The topic, bus and metric that receive outcomes, with links to the objects of a bucket."""

    topic: Topic
    bus: EventBus
    metrics: Metrics
    bucket: str
    region: str
    in_console: bool
    """Whether the S3 console shows the bucket."""

    def announce(self, outcome: Outcome) -> None:
        """Announce an outcome; a receiver recognises a repetition by its run id.

        Raises
        ------
        NotTold
            If the topic or the bus does not accept the announcement.

        """
        if outcome.suite and outcome.status in _ALARMING:
            self.metrics.send(RUN_FAILED, _ALARMING[outcome.status], suite=outcome.suite)
        announcement = Announcement(
            **outcome.model_dump(),
            bucket=self.bucket,
            report_page=self._page(outcome.report) if outcome.report else None,
            comparison_pages=tuple(map(self._page, outcome.comparisons)),
        ).model_dump_json()
        self.bus.put(EVENT_SOURCE, EVENT_TYPE, announcement)
        self.topic.publish(f"Tidemark: {outcome.run_id} is {outcome.status}", announcement)

    def _page(self, key: str) -> Link:
        """Return the link to the page of a report; ``key`` is the key of the report's Markdown."""
        page = f"{key.removesuffix('.md')}.html"
        console = f"https://{self.region}.console.aws.amazon.com/s3/object/{self.bucket}"
        address = f"{console}?region={self.region}&prefix={quote(page, safe='')}"
        place = f"s3://{self.bucket}/{page}"
        return Link(place=place, address=address if self.in_console else None)
