"""RecordOutcome: how a run ended, for the record and for its subscribers."""

from datetime import datetime
from typing import Any

from aws_lambda_powertools.utilities.parser import event_parser
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas import aws, tables
from lambdas.events import ExecutionEvent
from lambdas.failure import Failure
from lambdas.observability import logger
from lambdas.outcome import judged, unplanned
from lambdas.record import record_outcome
from lambdas.stored import read_plan, read_trials
from suites import keys
from suites.plan import run_id


class RecordOutcomeEvent(ExecutionEvent):
    """An execution that is about to end, and what failed it, if anything did."""

    run_id: str | None
    now: datetime
    failure: Failure | None


@logger.inject_lambda_context(clear_state=True)
@event_parser(model=RecordOutcomeEvent)
def handler(event: RecordOutcomeEvent, _: LambdaContext) -> dict[str, Any]:
    """Write the outcome and the run's row of ``runs``; return the outcome."""
    bucket, reason = aws.bucket(), str(event.failure or "")
    if event.run_id is None:
        name = run_id(event.execution_name, event.input, event.started_at)
        refused = event.failure is not None and event.failure.Error == "Refused"
        outcome = record_outcome(
            bucket, unplanned(name, event.input, reason, event.now, refused=refused)
        )
    else:
        plan, trials = read_plan(bucket, event.run_id), read_trials(bucket, event.run_id)
        outcome = record_outcome(bucket, judged(plan, trials, reason, event.now))
        row = tables.run_row(plan, trials, outcome.status, outcome.reason, outcome.ended_at)
        bucket.write(keys.table("runs", plan.suite.name, plan.run_id), tables.packed([row]))
    logger.info("ended", extra={"run_id": outcome.run_id, "status": outcome.status})
    return outcome.model_dump(mode="json")
