"""EndRun: the outcome of a run whose execution was aborted, timed out or died."""

from datetime import UTC, datetime
from typing import Any

from aws_lambda_powertools.utilities.parser import BaseModel, event_parser
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas import logger, services
from tidemark.run.events import ExecutionState


class EndRunEvent(BaseModel):
    """An event "Step Functions Execution Status Change", or a state's imitation of one."""

    detail: ExecutionState


@logger.inject_lambda_context(clear_state=True)
@event_parser(model=EndRunEvent)
def handler(event: EndRunEvent, _: LambdaContext) -> dict[str, Any]:
    """Return the outcome, None if the execution holds no claim because its run has ended."""
    outcome = services.ending().end(event.detail, datetime.now(UTC))
    return {"outcome": outcome.model_dump(mode="json") if outcome else None}
