"""CheckCondition: whether a service is ready or the wait of a step is over."""

from typing import Any

from aws_lambda_powertools.utilities.parser import event_parser
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas import logger, services
from tidemark.run.check_condition import CLUSTER, QUEUE, check_condition
from tidemark.run.condition import ConditionEvent


@logger.inject_lambda_context(clear_state=True)
@event_parser(model=ConditionEvent)
def handler(event: ConditionEvent, _: LambdaContext) -> dict[str, Any]:
    """Return that the wait is over, with the reason if the test fails, or how long to wait [s]."""
    checked = check_condition(
        services.bucket(),
        services.log_queries(),
        services.tasks(),
        {QUEUE: services.queues, CLUSTER: services.clusters},
        event,
    )
    return checked.model_dump(mode="json")
