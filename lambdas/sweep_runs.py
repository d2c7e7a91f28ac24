"""SweepRuns: end what nobody ended, where an event was lost or a whole service was."""

from datetime import UTC, datetime
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas.end_run import ending
from lambdas.observability import logger


@logger.inject_lambda_context(clear_state=True)
def handler(_event: object, _: LambdaContext) -> dict[str, Any]:
    """Return the outcomes of the runs that were ended; the event, a schedule's, says nothing."""
    outcomes = ending().sweep(datetime.now(UTC))
    return {"outcomes": [outcome.model_dump(mode="json") for outcome in outcomes]}
