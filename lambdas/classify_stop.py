"""ClassifyStop: the reason why an ECS task failed, as a category and in plain words."""

from pydantic import BaseModel

from lambdas import answers
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


@answers(StopEvent)
def handler(event: StopEvent) -> object:
    """Return the task's result."""
    failure = event.failure
    return classify(event.index, event.container, failure.Error, failure.Cause, event.limit_seconds)
