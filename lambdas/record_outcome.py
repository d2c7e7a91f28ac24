"""RecordOutcome: how a run ended, for the record and for whoever wants to know."""

from datetime import datetime
from typing import Any

from aws_lambda_powertools.utilities.parser import event_parser
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas import aws
from lambdas.announcing import Listeners
from lambdas.ending import conclude
from lambdas.events import ExecutionEvent
from lambdas.failure import Failure
from lambdas.observability import logger


class RecordOutcomeEvent(ExecutionEvent):
    """An execution that is about to end, and what failed it, if anything did."""

    run_id: str | None
    now: datetime
    failure: Failure | None


@logger.inject_lambda_context(clear_state=True)
@event_parser(model=RecordOutcomeEvent)
def handler(event: RecordOutcomeEvent, _: LambdaContext) -> dict[str, Any]:
    """Write the outcome and the run's row, tell them, release the claim; return the outcome."""
    listeners = Listeners(aws.topic(), aws.bus())
    outcome = conclude(aws.bucket(), listeners, event, event.run_id, event.failure, event.now)
    logger.info("ended", extra={"run_id": outcome.run_id, "status": outcome.status})
    return outcome.model_dump(mode="json")
