"""The result and status of a trial from its tests, and the failures of a run's trials so far."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from pydantic import Field

from tidemark.model.base import Frozen
from tidemark.model.parameters import Combination
from tidemark.model.plan import Plan, PlannedTrial
from tidemark.model.results import Status, TestResult, TrialResult
from tidemark.model.sentences import listed, shortened
from tidemark.model.suite import Suite

_WORST_FIRST: tuple[Status, ...] = ("failed", "incomplete", "skipped", "ok")
_LONGEST_REASON = 300  # [B]
# Failures of one cause differ in ids, times, sizes and numbers of tasks, but not in exit codes.
_PARTICULAR = re.compile(r"(?<!\S)(?<!exit code )\S*\d\S*")


def trial_result(
    plan: Plan, trial: PlannedTrial, measured: dict[str, TestResult], failure: str
) -> TrialResult:
    """Return the result of a trial from the results of its tests.

    ``failure`` is the reason why the trial itself could not go on, '' if it could. A test without a
    result was skipped because of ``failure``, or else because of the first earlier test that is not
    ok. A trial whose tests are all ok is ok, whatever failed after them.
    """
    tests: list[TestResult] = []
    stopped_by = failure
    for test in plan.suite.tests:
        result = measured.get(test.name) or TestResult(
            test=test.name, status="skipped", reason=stopped_by or "the trial ended before it"
        )
        tests.append(labelled(result, trial.axes))
        if result.status != "ok" and not stopped_by:
            stopped_by = f"{test.name} {result.status}"
    worst = min((test.status for test in tests), key=_WORST_FIRST.index)
    reasons = [f"{test.test}: {test.reason}" for test in tests if test.reason]
    return TrialResult(
        run_id=plan.run_id,
        trial=trial.trial,
        version=trial.version,
        package=trial.package,
        repetition=trial.repetition,
        axes=trial.axes,
        status="failed" if failure and worst != "ok" else worst,
        reason=failure or (reasons[0] if reasons else ""),
        tests=tuple(tests),
    )


def labelled(result: TestResult, axes: Combination) -> TestResult:
    """Return the result of a test with the values of axes among the labels of all its figures."""
    if not axes:
        return result
    rates = tuple(rate.model_copy(update={"labels": axes | rate.labels}) for rate in result.rates)
    samples = tuple(replace(sample, labels=axes | sample.labels) for sample in result.samples)
    return result.model_copy(update={"rates": rates, "samples": samples})


class Failures(Frozen):
    """What the trials of an execution have shown so far, as far as some failed."""

    batch: tuple[int, ...] = ()
    """The trials that the execution began last."""
    is_first: bool = True
    """Whether no trial was ok before them."""
    latest: dict[str, str] = Field(default={})
    """The reason without its particulars, by version and axes, if the last trial failed."""
    stopped: dict[str, str] = Field(default={})
    """The reason for each version, with its axes, whose last two trials failed alike."""

    def after(self, trials: Iterable[TrialResult]) -> "Failures":
        """Return the failures after the trials of the batch."""
        latest, stopped, is_first = {**self.latest}, {**self.stopped}, self.is_first
        for trial in trials:
            if trial.status == "ok":
                latest.pop(trial.name, None)
                is_first = False
                continue
            alike = shortened(_PARTICULAR.sub("#", trial.reason), _LONGEST_REASON)
            if latest.get(trial.name) == alike:
                stopped[trial.name] = shortened(trial.reason, _LONGEST_REASON)
            latest[trial.name] = alike
        return Failures(is_first=is_first, latest=latest, stopped=stopped)


def unmatched(suite: Suite, trials: Iterable[TrialResult]) -> str:
    """Return a sentence on queries that match no line of trials; '' if each does.

    Only tests count whose tasks ended well and whose logs have arrived.
    """
    return next((text for trial in trials for text in _unmatched(suite, trial)), "")


def _unmatched(suite: Suite, trial: TrialResult) -> Iterator[str]:
    for result in trial.tests:
        is_logged = result.environments and all(task.status == "ok" for task in result.tasks)
        if result.status != "incomplete" or not is_logged:
            continue
        answered = {rate.metric for rate in result.rates if rate.samples}
        sampled = {sample.metric for sample in result.samples}
        queries = [
            metric.samples or "" if metric.name in answered else metric.query
            for metric in suite.test(result.test).metrics
            if metric.name not in answered or (metric.samples and metric.name not in sampled)
        ]
        if queries:
            subject, verb = ("queries", "match") if queries[1:] else ("query", "matches")
            yield (
                f"{subject}: {listed(queries)} of {result.test} {verb} none of the lines that "
                f"trial {trial.trial} ({trial.name}) logged into {result.log_group}; mend the "
                f"{subject}, or give keep_going to measure all trials"
            )
