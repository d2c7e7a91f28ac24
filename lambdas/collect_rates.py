"""CollectRates: read a test's rates from its own log streams, once all of them have arrived."""

import os
from typing import Any

from aws_lambda_powertools.utilities.parser import event_parser
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas import aws
from lambdas.collecting import CollectRatesEvent, collect
from lambdas.observability import logger


@logger.inject_lambda_context(clear_state=True)
@event_parser(model=CollectRatesEvent)
def handler(event: CollectRatesEvent, _: LambdaContext) -> dict[str, Any]:
    """Return whether the test is complete, and its status or how long to wait for its logs [s]."""
    deadline_seconds = float(os.environ["LOGS_DEADLINE_SECONDS"])
    collected = collect(aws.bucket(), aws.log_queries(), event, deadline_seconds)
    return collected.model_dump(mode="json")
