"""CollectRates: the rates of a test, once its log streams have all of them."""

from typing import Any

from aws_lambda_powertools.utilities.parser import event_parser
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas import logger, services
from lambdas.services import Environment
from tidemark.run.collect_rates import CollectRatesEvent, collect


@logger.inject_lambda_context(clear_state=True)
@event_parser(model=CollectRatesEvent)
def handler(event: CollectRatesEvent, _: LambdaContext) -> dict[str, Any]:
    """Return the status of the test once its result is stored, or how long to wait [s]."""
    collected = collect(
        services.bucket(),
        services.log_queries(),
        services.tasks(),
        services.properties(),
        event,
        Environment().logs_deadline_seconds,
    )
    return collected.model_dump(mode="json")
