"""CollectRates: read a test's log streams, for its rates or for the condition of a step."""

from typing import Any

from aws_lambda_powertools.utilities.parser import event_parser
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas import services, storage
from lambdas.environment import Environment
from lambdas.observability import logger
from tidemark.run.collecting import Collected, CollectRatesEvent, collect
from tidemark.run.condition import CheckedCondition, ConditionEvent, check


@logger.inject_lambda_context(clear_state=True)
@event_parser(model=CollectRatesEvent | ConditionEvent)
def handler(event: CollectRatesEvent | ConditionEvent, _: LambdaContext) -> dict[str, Any]:
    """Return the status of a test or whether a step's wait is over, or how long to wait [s]."""
    return _read(event, Environment()).model_dump(mode="json")


def _read(
    event: CollectRatesEvent | ConditionEvent, environment: Environment
) -> Collected | CheckedCondition:
    bucket, queries, systems = storage.bucket(), services.log_queries(), environment.systems
    if isinstance(event, ConditionEvent):
        return check(bucket, queries, systems, event)
    seconds = environment.logs_deadline_seconds
    return collect(bucket, queries, services.tasks(), systems, event, seconds)
