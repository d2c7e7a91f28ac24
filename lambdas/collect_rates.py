"""CollectRates: read a test's rates from its own log streams, once all of them have arrived."""

from typing import Any

from aws_lambda_powertools.utilities.parser import event_parser
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas import services, storage
from lambdas.environment import Environment
from lambdas.observability import logger
from tidemark.run.collecting import CollectRatesEvent, collect


@logger.inject_lambda_context(clear_state=True)
@event_parser(model=CollectRatesEvent)
def handler(event: CollectRatesEvent, _: LambdaContext) -> dict[str, Any]:
    """Return whether the test is complete, and its status or how long to wait for its logs [s]."""
    environment = Environment()
    collected = collect(
        storage.bucket(),
        services.log_queries(),
        services.tasks(),
        environment.systems,
        event,
        environment.logs_deadline_seconds,
    )
    return collected.model_dump(mode="json")
