"""Published figures as stored runs: a release is a run of one trial that nobody ran."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple

from tidemark import __version__
from tidemark.model.imported import Import
from tidemark.model.metric import Metric
from tidemark.model.outcome import Outcome
from tidemark.model.plan import Plan, PlannedTrial
from tidemark.model.publication import PublishedMetric
from tidemark.model.results import Rate, TestResult, TrialResult
from tidemark.model.run_id import run_id
from tidemark.model.run_spec import RunSpec
from tidemark.model.subject import Subject
from tidemark.model.suite import Defaults, Suite, Test
from tidemark.model.task import Task
from tidemark.store import keys
from tidemark.store.bucket import Bucket
from tidemark.store.run_ends import record_run
from tidemark.store.run_objects import record

# A plan has a task and time limits, and nothing was run: the least of each, which no report shows.
_NO_TASK = Task(workload="imported", cpu=256, memory=512, storage=21)
_NO_SECONDS = 10


class ImportedFigure(NamedTuple):
    """One figure of a release."""

    metric: PublishedMetric
    text: str
    """The figure digit for digit."""
    value: float
    spread: float | None
    samples: int


class Release(NamedTuple):
    """The figures of one version on one day."""

    version: str
    tested_on: date
    place: int
    """The place among the releases of the day, which are runs in this order."""
    figures: Sequence[ImportedFigure]
    origin: Import


def write_release(bucket: Bucket, suite: str, title: str, release: Release) -> str:
    """Write the run of a release, but for its rows of rates and its report; return its name.

    The same release gives the same name. A corrected one has another name, because a trial is
    written once.
    """
    plan = _plan(suite, title, release)
    trial, outcome = _trial(plan, release), _outcome(plan)
    bucket.write(keys.plan(plan.run_id), plan.model_dump_json().encode())
    record(bucket, trial)
    bucket.write(keys.outcome(plan.run_id), outcome.model_dump_json().encode())
    record_run(bucket, plan, [trial], outcome)
    return plan.run_id


def _plan(suite: str, title: str, release: Release) -> Plan:
    begun = datetime.combine(release.tested_on, time(tzinfo=UTC))
    started_at = begun + timedelta(seconds=release.place)
    figures = sorted((each.metric.test, each.metric.metric, each.text) for each in release.figures)
    mark = [suite, release.version, figures]
    model = _suite(suite, title, release)
    return Plan(
        run_id=run_id(["import", *mark], started_at),
        execution_arn="",
        started_at=started_at,
        request=RunSpec(
            suite=suite,
            versions=(release.version,),
            baseline=None,
            repetitions=1,
            parameters={},
            note=f"figures of {release.origin.text}",
            trigger="import",
        ),
        suite=model,
        suite_digest=hashlib.sha256(model.model_dump_json().encode()).hexdigest(),
        seed=0,
        trials=(PlannedTrial(trial=1, version=release.version, package="", repetition=1),),
        tidemark_version=__version__,
        imported=release.origin,
    )


def _suite(name: str, title: str, release: Release) -> Suite:
    """Return the metrics of a release as a suite, by which runs of all kinds are read."""
    version = release.version
    return Suite(
        name=name,
        title=title,
        subject=Subject(prepare=("imported",), form=".+", versions={version: version}),
        task=_NO_TASK,
        defaults=Defaults(versions=(version,), repetitions=1),
        tests=tuple(
            Test(name=test, timeout_seconds=_NO_SECONDS, metrics=tuple(_metrics(release, test)))
            for test in _tests(release)
        ),
    )


def _tests(release: Release) -> list[str]:
    return list(dict.fromkeys(each.metric.test for each in release.figures))


def _metrics(release: Release, test: str) -> Iterator[Metric]:
    for published in (each.metric for each in release.figures if each.metric.test == test):
        yield Metric(
            name=published.metric,
            unit=published.unit,
            direction=published.direction,
            query=published.metric,
            margin=published.margin,
            same_within=published.same_within,
        )


def _trial(plan: Plan, release: Release) -> TrialResult:
    return TrialResult(
        run_id=plan.run_id,
        **plan.trials[0].model_dump(),
        status="ok",
        reason="",
        tests=tuple(
            TestResult(
                test=test,
                status="ok",
                started_at=plan.started_at,
                ended_at=plan.started_at,
                rates=tuple(_rate(each) for each in release.figures if each.metric.test == test),
            )
            for test in _tests(release)
        ),
    )


def _rate(figure: ImportedFigure) -> Rate:
    return Rate(
        metric=figure.metric.metric,
        unit=figure.metric.unit,
        direction=figure.metric.direction,
        value=figure.value,
        samples=figure.samples,
        expected=None,
        not_finite=0,
        stddev=figure.spread,
        min=None,
        max=None,
        records=None,
        value_text=figure.text,
    )


def _outcome(plan: Plan) -> Outcome:
    return Outcome(
        run_id=plan.run_id,
        suite=plan.suite.name,
        status="complete",
        reason="",
        trials_planned=1,
        trials_done=1,
        ended_at=plan.started_at,
        execution_arn="",
    )
