"""ClassifyStop: the reason why an ECS task failed, as a category and in plain words."""

from typing import Any

from aws_lambda_powertools.utilities.parser import BaseModel, event_parser
from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic_core import to_jsonable_python

from lambdas import logger
from tidemark.run.classify_stop import classify
from tidemark.run.events import Failure


class StopEvent(BaseModel):
    """A task whose state failed, as Step Functions caught it."""

    index: int
    container: str
    """The container of the definition that runs the command."""
    failure: Failure
    limit_seconds: int
    """The time limit of the task [s]."""


@logger.inject_lambda_context(clear_state=True)
@event_parser(model=StopEvent)
def handler(event: StopEvent, _: LambdaContext) -> dict[str, Any]:
    """Return the task's result."""
    failure = event.failure
    task = classify(event.index, event.container, failure.Error, failure.Cause, event.limit_seconds)
    result: dict[str, Any] = to_jsonable_python(task)
    return result
