"""RecordRates: fold the trials of a run into its rows of the tables."""

from typing import Any

from aws_lambda_powertools.utilities.parser import event_parser
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas import logger, services
from tidemark.run.events import RunEvent
from tidemark.run.record_rates import record_rates


@logger.inject_lambda_context(clear_state=True)
@event_parser(model=RunEvent)
def handler(event: RunEvent, _: LambdaContext) -> dict[str, Any]:
    """Write all rows of the run and return their numbers; a second call changes nothing."""
    return record_rates(services.bucket(), event.run_id)
