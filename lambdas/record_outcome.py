"""RecordOutcome: record the outcome of a run and announce it."""

from datetime import datetime
from typing import Any

from aws_lambda_powertools.utilities.parser import event_parser
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas import logger, services
from tidemark.run.events import ExecutionEvent, Failure
from tidemark.run.record_outcome import conclude


class RecordOutcomeEvent(ExecutionEvent):
    """An execution that is about to end, and its failure, if it has one."""

    run_id: str | None
    now: datetime
    failure: Failure | None


@logger.inject_lambda_context(clear_state=True)
@event_parser(model=RecordOutcomeEvent)
def handler(event: RecordOutcomeEvent, _: LambdaContext) -> dict[str, Any]:
    """Write the outcome and the run's row, announce them, release the claim; return the outcome."""
    outcome = conclude(
        services.bucket(),
        services.listeners(),
        services.rules(),
        event,
        event.run_id,
        event.failure,
        event.now,
    )
    logger.info("ended", extra={"run_id": outcome.run_id, "status": outcome.status})
    return outcome.model_dump(mode="json")
