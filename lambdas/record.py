"""Recording a trial and a run's outcome: once, whatever happens how often."""

from __future__ import annotations

from lambdas import claims
from lambdas.aws import Bucket
from lambdas.claims import Held
from lambdas.outcome import Outcome
from lambdas.results import Status, TestResult, TrialResult
from suites import keys
from suites.plan import Plan, PlannedTrial

_WORST_FIRST: tuple[Status, ...] = ("failed", "incomplete", "skipped", "ok")


def trial_result(
    plan: Plan, trial: PlannedTrial, measured: dict[str, TestResult], failure: str
) -> TrialResult:
    """Return the result of a trial from what its tests gave.

    A test without a result was skipped, because of the first test before it that is not ok or
    of ``failure``, the reason why the trial itself could not go on ('' if it could). A trial whose
    tests are all ok is ok, whatever came after them.
    """
    tests: list[TestResult] = []
    stopped_by = failure
    for test in plan.suite.tests:
        result = measured.get(test.name) or TestResult(
            test=test.name, status="skipped", reason=stopped_by or "the trial ended before it"
        )
        tests.append(result)
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
        status="failed" if failure and worst != "ok" else worst,
        reason=failure or (reasons[0] if reasons else ""),
        tests=tuple(tests),
    )


def record(bucket: Bucket, result: TrialResult) -> bool:
    """Write a trial's result unless it is there already; tell whether it was written."""
    key = keys.trial(result.run_id, result.trial)
    return bucket.write_once(key, result.model_dump_json().encode())


def record_outcome(bucket: Bucket, outcome: Outcome, held: Held | None) -> Outcome:
    """Write the outcome of a run's execution unless there is one; return the one that is stored.

    That of an execution before, which the run was resumed after, is replaced as long as the claim
    is ``held``: without it, the run may have gone on to its end after this execution.
    """
    key = keys.outcome(outcome.run_id)
    while True:
        found = bucket.find(key)
        if found:
            stored = Outcome.model_validate_json(found.body)
            mine = stored.execution_arn == outcome.execution_arn
            if mine or held is None or not claims.stands(bucket, held):
                return stored
        body = outcome.model_dump_json().encode()
        if bucket.write_over(key, body, found.etag if found else None):
            return outcome
