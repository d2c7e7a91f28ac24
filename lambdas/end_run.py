"""EndRun: the outcome of a run whose execution was aborted, timed out or died."""

import os
from datetime import UTC, datetime
from typing import Any

from aws_lambda_powertools.utilities.parser import BaseModel, event_parser
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas import aws
from lambdas.announcing import Listeners
from lambdas.ending import Ending
from lambdas.executions import ExecutionState
from lambdas.observability import logger


class EndRunEvent(BaseModel):
    """An event "Step Functions Execution Status Change", or what a state makes like one."""

    detail: ExecutionState


@logger.inject_lambda_context(clear_state=True)
@event_parser(model=EndRunEvent)
def handler(event: EndRunEvent, _: LambdaContext) -> dict[str, Any]:
    """Return the outcome, None if the execution holds no claim: its run has ended already."""
    outcome = ending().end(event.detail, datetime.now(UTC))
    return {"outcome": outcome.model_dump(mode="json") if outcome else None}


def ending() -> Ending:
    """Return what ends runs, with the trials' state machine given as ``TRIAL_STATE_MACHINE``."""
    machine = os.environ["TRIAL_STATE_MACHINE"]
    listeners = Listeners(aws.topic(), aws.bus())
    return Ending(aws.bucket(), aws.executions(), aws.tasks(), listeners, machine)
