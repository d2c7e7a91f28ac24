"""RecordTrial: write a trial's result, once, and send its rates to CloudWatch."""

from typing import Any

from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.parser import event_parser
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas import aws
from lambdas.events import TrialEvent
from lambdas.failure import Failure
from lambdas.metrics import send
from lambdas.observability import logger
from lambdas.record import record, trial_result
from lambdas.results import TrialResult
from lambdas.stored import planned, read_measured, read_plan, read_trial
from suites import keys

# What CloudWatch calls the units that it knows.
_UNITS = {"records/s": MetricUnit.CountPerSecond, "s": MetricUnit.Seconds}


class RecordTrialEvent(TrialEvent):
    """A trial that has ended, and why it could not go on, if it could not."""

    failure: Failure | None


@logger.inject_lambda_context(clear_state=True)
@event_parser(model=RecordTrialEvent)
def handler(event: RecordTrialEvent, _: LambdaContext) -> dict[str, Any]:
    """Return the trial's status."""
    bucket = aws.bucket()
    plan = read_plan(bucket, event.run_id)
    measured = read_measured(bucket, event.run_id, event.trial)
    failure = str(event.failure or "")
    result = trial_result(plan, planned(plan, event.trial), measured, failure)
    if record(bucket, result):
        _send_rates(plan.suite.name, result)
    else:
        result = read_trial(bucket, event.run_id, event.trial)
    bucket.delete(keys.measurements(event.run_id, event.trial))
    return {"trial": event.trial, "status": result.status}


def _send_rates(suite: str, result: TrialResult) -> None:
    for test in result.tests:
        for rate in test.rates:
            if rate.value is not None:
                unit = _UNITS.get(rate.unit, MetricUnit.NoUnit)
                of = {"suite": suite, "test": test.test, "version": result.version}
                send(rate.metric, rate.value, unit, **of)
