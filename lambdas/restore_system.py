"""RestoreSystem: leave the system as the trial found it."""

from typing import Any

from aws_lambda_powertools.utilities.parser import event_parser
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas import aws
from lambdas.events import TrialEvent
from lambdas.observability import logger
from suites import keys


@logger.inject_lambda_context(clear_state=True)
@event_parser(model=TrialEvent)
def handler(event: TrialEvent, _: LambdaContext) -> dict[str, Any]:
    """Delete what the tasks of a trial stored."""
    aws.bucket().delete(keys.data(event.run_id, event.trial))
    return {}
