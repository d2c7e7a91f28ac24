"""Published figures as stored runs: a release is a run of one trial that nobody ran."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from itertools import product
from typing import NamedTuple

from tidemark import __version__
from tidemark.model.labels import canonical
from tidemark.model.metric import Metric
from tidemark.model.outcome import Outcome
from tidemark.model.parameters import Combination
from tidemark.model.plan import Import, Plan, PlannedTrial
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
    repetition: int = 1
    """The number of the trial of the figure, if the version has several."""
    environment: tuple[tuple[str, str], ...] = ()
    """The facts of its machine."""


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
    trials, outcome = _trials(plan, release), _outcome(plan)
    bucket.write(keys.plan(plan.run_id), plan.model_dump_json().encode())
    for trial in trials:
        record(bucket, trial)
    bucket.write(keys.outcome(plan.run_id), outcome.model_dump_json().encode())
    record_run(bucket, plan, trials, outcome)
    return plan.run_id


def _plan(suite: str, title: str, release: Release) -> Plan:
    begun = datetime.combine(release.tested_on, time(tzinfo=UTC))
    started_at = begun + timedelta(seconds=release.place)
    figures = sorted(map(_mark, release.figures))
    mark = [suite, release.version, figures]
    repetitions = max(each.repetition for each in release.figures)
    model = _suite(suite, title, release)
    return Plan(
        run_id=run_id(["import", *mark], started_at),
        execution_arn="",
        started_at=started_at,
        request=RunSpec(
            suite=suite,
            versions=(release.version,),
            baseline=None,
            repetitions=repetitions,
            parameters={},
            axes=model.axes,
            note=f"figures of {release.origin.text}",
            trigger="import",
        ),
        suite=model,
        suite_digest=hashlib.sha256(model.model_dump_json().encode()).hexdigest(),
        seed=0,
        trials=tuple(
            PlannedTrial(trial=n, version=release.version, package="", repetition=number, axes=axes)
            for n, (number, axes) in enumerate(
                product(range(1, repetitions + 1), _combinations(release)), start=1
            )
        ),
        tidemark_version=__version__,
        imported=release.origin,
    )


def _mark(figure: ImportedFigure) -> tuple[str, ...]:
    number = (str(figure.repetition),) if figure.repetition > 1 else ()
    names = figure.metric.test, figure.metric.metric, figure.text
    return *names, *figure.metric.axes.values(), *number


def _combinations(release: Release) -> list[Combination]:
    """Return the values of axes under which there are figures, in their order."""
    return list(
        {canonical(each.metric.axes): each.metric.axes for each in release.figures}.values()
    )


def _axes(release: Release) -> dict[str, tuple[str, ...]]:
    """Return the axes of a release with the values that have figures."""
    axes: dict[str, tuple[str, ...]] = {}
    for name, value in (pair for each in _combinations(release) for pair in each.items()):
        axes[name] = tuple(dict.fromkeys([*axes.get(name, ()), value]))
    return axes


def _suite(name: str, title: str, release: Release) -> Suite:
    """Return the metrics of a release as a suite, by which runs of all kinds are read."""
    version = release.version
    return Suite(
        name=name,
        title=title,
        subject=Subject(prepare=("imported",), form=".+", versions={version: version}),
        axes=_axes(release),
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
    of_test = [each.metric for each in release.figures if each.metric.test == test]
    for published in {each.metric: each for each in of_test}.values():
        yield Metric(
            name=published.metric,
            unit=published.unit,
            direction=published.direction,
            query=published.metric,
            margin=published.margin,
            same_within=published.same_within,
        )


def _trials(plan: Plan, release: Release) -> list[TrialResult]:
    figures: defaultdict[tuple[int, str], list[ImportedFigure]] = defaultdict(list)
    for each in release.figures:
        figures[each.repetition, canonical(each.metric.axes)].append(each)
    return [
        TrialResult(
            run_id=plan.run_id,
            **planned.model_dump(),
            status="ok",
            reason="",
            tests=tuple(_results(plan, figures[planned.repetition, canonical(planned.axes)])),
        )
        for planned in plan.trials
    ]


def _results(plan: Plan, figures: Sequence[ImportedFigure]) -> Iterator[TestResult]:
    """Yield the results of the tests that have figures in a trial."""
    at = plan.started_at
    for test in dict.fromkeys(each.metric.test for each in figures):
        of_test = [each for each in figures if each.metric.test == test]
        machines = dict.fromkeys(each.environment for each in of_test if each.environment)
        yield TestResult(
            test=test,
            status="ok",
            started_at=at,
            ended_at=at,
            rates=tuple(map(_rate, of_test)),
            environments=tuple(map(dict, machines)),
        )


def _rate(figure: ImportedFigure) -> Rate:
    return Rate(
        metric=figure.metric.metric,
        unit=figure.metric.unit,
        direction=figure.metric.direction,
        labels=figure.metric.axes,
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
        trials_planned=len(plan.trials),
        trials_done=len(plan.trials),
        ended_at=plan.started_at,
        execution_arn="",
    )
