"""CheckCondition: whether a service is ready or the wait of a step is over."""

from lambdas import answers, services
from tidemark.run.check_condition import CLUSTER, QUEUE, check_condition
from tidemark.run.condition import ConditionEvent


@answers(ConditionEvent)
def handler(event: ConditionEvent) -> object:
    """Return that the wait is over, with the reason if the test fails, or how long to wait [s]."""
    return check_condition(
        services.bucket(),
        services.log_queries(),
        services.tasks(),
        {QUEUE: services.queues, CLUSTER: services.clusters},
        event,
    )
