"""ClassifyStop: the reason why an ECS task failed, as a category and in plain words."""

from typing import Any

from aws_lambda_powertools.utilities.parser import BaseModel, event_parser
from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic_core import to_jsonable_python

from lambdas import logger
from tidemark.model.failure import Failure
from tidemark.run.classify_stop import classify


class StopEvent(BaseModel):
    """A failed task as Step Functions caught it."""

    index: int
    failure: Failure
    limit_seconds: int | None = None
    """The time limit of the task [s]."""


@logger.inject_lambda_context(clear_state=True)
@event_parser(model=StopEvent)
def handler(event: StopEvent, _: LambdaContext) -> dict[str, Any]:
    """Return the task's result."""
    failure, limit = event.failure, event.limit_seconds
    task = classify(event.index, failure.Error, failure.Cause, limit)
    result: dict[str, Any] = to_jsonable_python(task)
    return result
