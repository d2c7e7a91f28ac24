"""EndRun: the outcome of a run whose execution was aborted, timed out or died."""

from datetime import UTC, datetime

from pydantic import BaseModel

from lambdas import answers, services
from tidemark.run.events import ExecutionState


class EndRunEvent(BaseModel):
    """An event "Step Functions Execution Status Change", or a state's imitation of one."""

    detail: ExecutionState


@answers(EndRunEvent)
def handler(event: EndRunEvent) -> object:
    """Return the outcome, None if the execution holds no claim because its run has ended."""
    return {"outcome": services.ending().end(event.detail, datetime.now(UTC))}
