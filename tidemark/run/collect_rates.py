"""CollectRates: the rates of a test from its log streams, once all rates have arrived."""

import logging
import math
import re
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from functools import partial
from threading import Lock
from typing import NamedTuple

from tidemark.figures.query_rows import MetricRows, measured_series
from tidemark.figures.rates import missing
from tidemark.figures.test_result import Logged, test_result
from tidemark.model.base import Frozen
from tidemark.model.load import LoadCourse
from tidemark.model.metric import Metric, Series
from tidemark.model.plan import Plan, PlannedTrial
from tidemark.model.profile import with_profile
from tidemark.model.refusal import Refused
from tidemark.model.results import CLOUD, MeasuredSeries, Status, TaskResult
from tidemark.model.run_id import is_profiled, task_group
from tidemark.model.run_spec import released
from tidemark.model.sentences import shortened
from tidemark.model.services import LAST_LINES_QUERY
from tidemark.model.suite import ROUNDS, Test
from tidemark.model.suite_asset import query_file
from tidemark.model.telemetry import LOGGER
from tidemark.run.artefacts import Place, keep
from tidemark.run.condition import LoggedTest, levels_key
from tidemark.run.ecs_resources import System, by_value
from tidemark.run.instance_look_up import check_version_of
from tidemark.run.ports import LogQueries, Properties, QueryFailed, Tasks, TooManyRows
from tidemark.run.stop_services import with_crashes
from tidemark.run.stray_tasks import Ended, clusters_of, stop_strays
from tidemark.store import keys
from tidemark.store.bucket import Bucket, CopyingBucket
from tidemark.store.stored_plan import planned, read_plan

_logger = logging.getLogger(LOGGER)
_LONGEST_WAIT_SECONDS = 30
_LONGEST_REASON = 500  # [B]; a function may fail with a text of any length
_OF_VERSION = "filter @message like /^\\[{}\\] / |\n"
_OF_TASKS = "filter TaskId in [{}] |\n"
# The function may run for 900 s: the limit of all its queries together, and of one query.
_QUERYING_SECONDS = 840
_LONGEST_QUERY_SECONDS = 60
_QUERIES_AT_ONCE = 2


class CollectRatesEvent(LoggedTest):
    """A test whose tasks have ended, and the number of earlier attempts to read its logs."""

    ended_at: datetime
    attempt: int
    artefacts: str
    """The address below which the tasks left files."""
    stopped_by: str | None = None
    """The step without tasks that failed, with the reason; None if none did."""
    lines: int
    """The lines that the attempt before found; 0 at first."""

    @property
    def place(self) -> Place:
        """The place of the test's files."""
        left = self.artefacts.removeprefix("s3://").partition("/")[2]
        return Place(self.run_id, self.trial, self.test, left)


class Collected(Frozen):
    """The outcome of one attempt to collect a test's rates."""

    complete: bool
    """Whether the result of the test is stored."""
    status: Status | None = None
    """The status of the test, once its result is stored."""
    wait_seconds: int = 0
    """The wait before the next attempt [s]."""
    lines: int
    """The lines that this attempt found."""
    bytes_scanned: int
    """The bytes scanned by the queries of this attempt and of earlier attempts."""


class _Search:
    """The log queries of one attempt."""

    def __init__(
        self,
        queries: LogQueries,
        suite: str,
        log_groups: Mapping[str, str],
        event: CollectRatesEvent,
        test: Test,
    ) -> None:
        self._suite = suite
        self._queries = queries
        self._log_groups = log_groups
        self._patience_seconds = patience_seconds(test)
        self.window = event.window
        self.bytes_scanned = event.bytes_scanned
        self._counting = Lock()

    def rows(
        self, query: str, streams: Collection[str] | None = None, before: str = ""
    ) -> list[dict[str, str]]:
        """Return the rows of a query of the suite over some log streams of the test's tasks.

        Lines of other tasks give no row. Without ``streams`` the query reads all of them. The lines
        pass the commands ``before`` the query.
        """
        read = self._log_groups if streams is None else streams
        groups = by_value({stream: self._log_groups[stream] for stream in read})
        answers = [self._rows(query, group, own, before) for group, own in groups.items()]
        return [row for rows in answers for row in rows]

    def _rows(
        self, query: str, log_group: str, streams: Collection[str] | None, before: str = ""
    ) -> list[dict[str, str]]:
        text = before + query_file(self._suite, query).read_text(encoding="utf-8")
        start, end = (moment.timestamp() for moment in self.window)
        answer = self._queries.run(text, log_group, start, end, self._patience_seconds, streams)
        with self._counting:
            self.bytes_scanned += answer.bytes_scanned
        return answer.rows

    def last_lines(self, streams: Mapping[str, str]) -> list[dict[str, str]]:
        """Return the last lines of log streams, the newest first; none without streams."""
        return self.rows(LAST_LINES_QUERY, streams.values()) if streams else []

    def usages(
        self, log_group: str | None, tasks: Collection[TaskResult]
    ) -> tuple[list[dict[str, str]], str]:
        """Return the logged usage of tasks, and the reason if it is unknown.

        Beside services it includes the usage of the local cloud, which shares their machine.

        An unknown usage never fails a measurement.
        """
        known = [task.task_id for task in tasks if task.task_id]
        serving = [CLOUD] if any(task.service for task in tasks) else []
        ids = ", ".join(f"'{task_id}'" for task_id in [*known, *serving])
        if not (log_group and known):
            return [], ""
        # All tasks of a cluster share streams, and an answer holds a limited number of rows.
        try:
            return self._rows("task_usage", log_group, None, _OF_TASKS.format(ids)), ""
        except _faults(self._queries) as error:
            _logger.warning(str(error))
            return [], str(error)

    def series(self, series: Series) -> MeasuredSeries:
        """Return a series, or the reason if it is unknown, which never fails a measurement."""
        faults: tuple[type[Exception], ...] = (Refused, *_faults(self._queries))
        try:
            return measured_series(series, self.rows(series.query))
        except faults as error:
            _logger.warning(str(error))
            return MeasuredSeries(name=series.name, unit=series.unit, unknown=str(error))

    def metric_rows(self, metric: Metric, streams: Collection[str], before: str) -> MetricRows:
        """Return the rows of the two queries of a metric over the log streams of its tasks."""
        answered = self.rows(metric.query, streams, before)
        listing = metric.samples or metric.histograms
        listed = self.rows(listing, streams, before) if listing else []
        began = self.rows(metric.began, streams, before) if metric.began else []
        return MetricRows(metric, answered, listed, streams, began)


class _Side(NamedTuple):
    """One trial whose test has ended: alone in its tasks, or a version of a round."""

    trial: PlannedTrial
    before: str
    """The commands before each query that keep the lines of the version; '' for all lines."""
    tasks: Sequence[TaskResult]
    """The tasks of the test as far as they are of the trial."""
    metrics: Sequence[MetricRows]
    failures: Sequence[Mapping[str, str]] = ()

    def lacks(self, streams: Mapping[str, str], jobs: int) -> bool:
        """Tell whether a task with a log stream ended well, but has not logged all values yet."""
        logging = [task for task in self.tasks if task.task_id in streams]
        return bool(missing(self.metrics, logging, streams, jobs))


def collect(
    bucket: CopyingBucket,
    queries: LogQueries,
    tasks: Tasks,
    properties: Properties,
    event: CollectRatesEvent,
    deadline_seconds: float,
) -> Collected:
    """Store the result of a test, unless more of its logs may still arrive.

    Values of any number are complete if two attempts in sequence find as many lines.

    A task of the trial that still runs then, or ran beside the tasks of the test, fails it; so does
    an instance that reports another version by now.

    The logs count as complete ``deadline_seconds`` after the end of the tasks [s].
    """
    plan = read_plan(bucket, event.run_id)
    suite = plan.suite
    test, system = suite.test(event.test), event.system.of_instance(plan.known)
    if is_profiled(event.trial):
        test = with_profile(test)
    known = with_crashes(test.with_steps(plan.request.tasks, event.tasks), event.stopped_by)
    limits = test.limits(plan.request.tasks)
    clusters = clusters_of(tasks, plan)
    group = task_group(event.run_id, event.trial)
    of_test = stop_strays(clusters, group, known, limits, event.started_at, event.now)
    ended, ran = of_test.known, of_test.all
    streams, log_groups = system.streams(ended), system.log_groups(ended)
    search = _Search(queries, suite.name, log_groups, event, test)
    trials = [planned(plan, number) for number in event.every_trial]
    in_round = plan.request.layout == ROUNDS and not is_profiled(event.trial)
    shared = len(trials) if in_round else 0
    # Queries mostly wait. Twelve rounds of two each are fewer than the 30 that an account may run.
    with ThreadPoolExecutor(_QUERIES_AT_ONCE) as pool:
        of_trial = partial(_side, search, test, system, of_test=of_test, shared=shared)
        sides = list(pool.map(of_trial, trials))
    lines = sum(metric.lines_of_any_number for side in sides for metric in side.metrics)
    grown = lines != event.lines
    waited = (event.now - event.ended_at).total_seconds()
    lacking = of_test.stopping or grown or any(side.lacks(streams, test.jobs) for side in sides)
    # The end of services may take longer than the deadline, and one attempt has none to compare.
    goes_on = waited < deadline_seconds or (grown and event.attempt == 1)
    if lacking and goes_on:
        return Collected(
            complete=False,
            wait_seconds=_pause_seconds(event.attempt, deadline_seconds - waited),
            lines=lines,
            bytes_scanned=search.bytes_scanned,
        )
    some_failed = any(task.status != "ok" for task in ran)
    usages, usages_unknown = search.usages(system.usage_log_group, ran)
    logged = Logged(
        log_group=", ".join(dict.fromkeys(log_groups.values())) or system.log_group,
        streams=system.streams(ran),
        window=search.window,
        metrics=(),
        grown=grown,
        version=None,
        environments=(),
        failures=(),
        last_lines=search.last_lines(
            system.streams(each for each in ran if each.service and each.status != "ok")
        ),
        usages=usages,
        usages_unknown=usages_unknown,
        series=[search.series(series) for series in test.series],
        stopped_by=shortened(
            event.stopped_by or _changed(properties, plan, planned(plan, event.trial)),
            _LONGEST_REASON,
        ),
        kept=keep(bucket, event.place, test, ended),
        load=_load(bucket, test, event),
        bytes_scanned=0,
        in_round=in_round,
    )
    own = [
        logged._replace(
            metrics=side.metrics,
            version=_released_version(side.trial, plan),
            environments=search.rows("environment", before=side.before),
            failures=side.failures or (search.rows("failures") if some_failed else []),
        )
        for side in sides
    ]
    statuses = []
    for side, each in zip(sides, own, strict=True):
        share = each._replace(bytes_scanned=search.bytes_scanned // len(sides))
        result = test_result(test, side.tasks, share, event.started_at, event.ended_at)
        key = keys.measured(event.run_id, side.trial.trial, event.test)
        bucket.write(key, result.model_dump_json().encode())
        statuses.append(result.status)
    return Collected(
        complete=True,
        # The next test goes on with the versions of a round that have not failed.
        status="ok" if "ok" in statuses else statuses[0],
        lines=lines,
        bytes_scanned=search.bytes_scanned,
    )


def _side(
    search: _Search,
    test: Test,
    system: System,
    trial: PlannedTrial,
    of_test: Ended,
    shared: int,
) -> _Side:
    """Return the rows of a trial; in a round only the rows of the lines of its version.

    ``shared`` is the number of versions of the round, 0 for none.
    """
    before = _OF_VERSION.format(re.escape(trial.version)) if shared else ""
    known, streams = of_test.known, system.streams(of_test.known)
    metrics = [
        search.metric_rows(
            metric, system.streams(test.tasks_of(metric.step, known)).values(), before
        )
        for metric in test.metrics
    ]
    tasks = of_test.all
    if not shared:
        return _Side(trial, before, tasks, metrics)
    tasks = [replace(task, shared=shared) for task in tasks]
    side = _Side(trial, before, tasks, metrics)
    if not side.lacks(streams, test.jobs):
        return side
    failures = search.rows("failures", before=before)
    lost = {row["@logStream"] for row in failures}
    tasks = [_dropped(each) if streams.get(each.task_id or "") in lost else each for each in tasks]
    return side._replace(tasks=tasks, failures=failures)


def _dropped(task: TaskResult) -> TaskResult:
    """Return the task of a round as the version has it that dropped out."""
    if task.status != "ok":
        return task
    return replace(
        task,
        status="failed",
        stop_category="version",
        reason=f"task {task.index}: the version dropped out of the round",
    )


def _pause_seconds(attempt: int, left: float) -> int:
    """Return the pause before the next attempt [s], which is the last one at the deadline."""
    doubled: int = 2**attempt
    return min(doubled, _LONGEST_WAIT_SECONDS, max(1, math.ceil(left)))


def _load(bucket: Bucket, test: Test, event: CollectRatesEvent) -> LoadCourse | None:
    """Return the levels of a test's load as far as it came, None without any."""
    if not any(step.load for step in test.steps):
        return None
    stored = bucket.find(keys.course(levels_key(event.artefacts, test.name)))
    return LoadCourse.model_validate_json(stored.body) if stored else None


def _changed(properties: Properties, plan: Plan, trial: PlannedTrial) -> str:
    """Return why the instance of a run differs from its plan by now, '' if it does not."""
    try:
        if plan.suite.subject.instance:
            check_version_of(properties, plan, trial)
    except Refused as refused:
        return str(refused)
    return ""


def _released_version(trial: PlannedTrial, plan: Plan) -> str | None:
    """Return the release of a trial; None if it is a build, whose system reports another."""
    return None if "@file:" in trial.package else released(plan.request, trial.version)


def patience_seconds(test: Test) -> float:
    """Return the time limit of one query of a test [s]: an equal share of the function's time.

    Each metric has one to three queries, and each series one. A test has four more: environment,
    failures, usage and the last lines of services. Each asks every log group of the tasks.
    """
    of_metrics = sum(max(2, len(metric.queries)) for metric in test.metrics)
    queries = (of_metrics + len(test.series) + 4) * test.log_groups
    return min(_LONGEST_QUERY_SECONDS, _QUERYING_SECONDS / queries)


def _faults(queries: LogQueries) -> tuple[type[Exception], ...]:
    return (QueryFailed, TooManyRows, *queries.faults)
