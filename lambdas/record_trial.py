"""RecordTrial: write a trial's result, once, and send its rates to CloudWatch."""

from typing import Any

from aws_lambda_powertools.utilities.parser import event_parser
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas import logger, services
from tidemark.run.record_trial import RecordTrialEvent, record_trial


@logger.inject_lambda_context(clear_state=True)
@event_parser(model=RecordTrialEvent)
def handler(event: RecordTrialEvent, _: LambdaContext) -> dict[str, Any]:
    """Return the status of the trial, or of the first trial of a round."""
    result = record_trial(services.bucket(), services.metrics(), event)
    return {"trial": event.trial, "status": result.status}
