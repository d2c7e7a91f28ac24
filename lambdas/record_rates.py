"""RecordRates: fold the trials of a run into its rows of the tables."""

from typing import Any

from aws_lambda_powertools.utilities.parser import event_parser
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas import aws
from lambdas.events import RunEvent
from lambdas.observability import logger
from lambdas.recording import record_rates


@logger.inject_lambda_context(clear_state=True)
@event_parser(model=RunEvent)
def handler(event: RunEvent, _: LambdaContext) -> dict[str, Any]:
    """Write the run's rows of its tables, whole: again changes nothing."""
    return record_rates(aws.bucket(), event.run_id)
