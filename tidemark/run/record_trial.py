"""RecordTrial: store the result of an ended trial, once, and send its rates to CloudWatch."""

from tidemark.figures.trial_status import trial_result
from tidemark.model.plan import Plan
from tidemark.model.results import TrialResult
from tidemark.model.run_id import is_profiled
from tidemark.run.events import Failure, TrialEvent
from tidemark.run.ports import Metrics
from tidemark.store import keys
from tidemark.store.bucket import Bucket
from tidemark.store.run_objects import read_measured, read_trial, record
from tidemark.store.stored_plan import planned, read_plan

# CloudWatch API reference, MetricDatum: the names of its units.
_UNITS = {"records/s": "Count/Second", "s": "Seconds"}


class RecordTrialEvent(TrialEvent):
    """A trial that has ended, and the failure that ended it early, if any."""

    failure: Failure | None


def record_trial(bucket: Bucket, metrics: Metrics, event: RecordTrialEvent) -> TrialResult:
    """Return the stored result of a trial, of a round the first; send the rates that are new.

    The trials of a run are read in order: a later one is never stored without an earlier one.
    """
    plan = read_plan(bucket, event.run_id)
    first, *_ = [_recorded(bucket, metrics, plan, each, event) for each in event.every_trial]
    return first


def _recorded(
    bucket: Bucket, metrics: Metrics, plan: Plan, trial: int, event: RecordTrialEvent
) -> TrialResult:
    measured = read_measured(bucket, plan.run_id, trial)
    result = trial_result(plan, planned(plan, trial), measured, str(event.failure or ""))
    profiled = is_profiled(trial)
    if profiled:
        # Few trials are profiled: the others load no reader of profiles.
        from tidemark.run.trial_profiles import with_profiles  # noqa: PLC0415

        result = with_profiles(bucket, plan, result)
    if record(bucket, result):
        if not profiled:
            _send_rates(metrics, plan.suite.name, result)
    else:
        result = read_trial(bucket, plan.run_id, trial)
    bucket.delete(keys.measurements(plan.run_id, trial))
    return result


def _send_rates(metrics: Metrics, suite: str, result: TrialResult) -> None:
    """Send the first statistic of each metric without labels of its own, by axes.

    CloudWatch bills each combination, and axes alone have few.
    """
    for test in result.tests:
        first = {rate.metric: rate for rate in reversed(test.rates) if rate.labels == result.axes}
        for rate in reversed(first.values()):
            if rate.value is not None:
                names = {"suite": suite, "test": test.test, "version": result.version}
                dimensions = {**names, **result.axes}
                metrics.send(rate.metric, rate.value, _UNITS.get(rate.unit, ""), **dimensions)
