"""RestoreSystem: leave the system as the trial found it."""

from typing import Any

from aws_lambda_powertools.utilities.parser import event_parser
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas import storage
from lambdas.observability import logger
from tidemark.run.events import TrialEvent
from tidemark.store import keys


@logger.inject_lambda_context(clear_state=True)
@event_parser(model=TrialEvent)
def handler(event: TrialEvent, _: LambdaContext) -> dict[str, Any]:
    """Delete the data that the tasks of a trial stored."""
    storage.bucket().delete(keys.data(event.run_id, event.trial))
    return {}
