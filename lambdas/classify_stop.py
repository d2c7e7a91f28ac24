"""ClassifyStop: why one ECS task failed, in a category and plain words."""

from typing import Any

from aws_lambda_powertools.utilities.parser import BaseModel, event_parser
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas.failure import Failure
from lambdas.observability import logger
from lambdas.stops import classify


class StopEvent(BaseModel):
    """A failed task as Step Functions caught it."""

    index: int
    failure: Failure


@logger.inject_lambda_context(clear_state=True)
@event_parser(model=StopEvent)
def handler(event: StopEvent, _: LambdaContext) -> dict[str, Any]:
    """Return the task's result."""
    failure = event.failure
    return classify(event.index, failure.Error, failure.Cause).model_dump(mode="json")
