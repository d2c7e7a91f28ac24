"""The result of a trial, from the results of its tests."""

from __future__ import annotations

from dataclasses import replace

from tidemark.model.axes import Combination
from tidemark.model.plan import Plan, PlannedTrial
from tidemark.model.results import Status, TestResult, TrialResult

_WORST_FIRST: tuple[Status, ...] = ("failed", "incomplete", "skipped", "ok")


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
