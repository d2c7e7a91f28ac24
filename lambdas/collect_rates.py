"""CollectRates: read a test's log streams, find its tasks, and stop its services before."""

from typing import Any

from aws_lambda_powertools.utilities.parser import event_parser
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas import services, storage
from lambdas.environment import Environment
from lambdas.observability import logger
from tidemark.run.check_condition import CLUSTER, QUEUE, check_condition
from tidemark.run.collect_rates import Collected, CollectRatesEvent, collect
from tidemark.run.condition import CheckedCondition, ConditionEvent
from tidemark.run.found_tasks import FindTasksEvent, FoundTasks, find_tasks
from tidemark.run.services import StoppedServices, StopServicesEvent, stop_services

_Event = CollectRatesEvent | ConditionEvent | StopServicesEvent | FindTasksEvent


@logger.inject_lambda_context(clear_state=True)
@event_parser(model=_Event)
def handler(event: _Event, _: LambdaContext) -> dict[str, Any]:
    """Return the status of a test or whether a wait is over, or how long to wait [s]."""
    return _read(event, Environment()).model_dump(mode="json")


def _read(
    event: _Event, environment: Environment
) -> Collected | CheckedCondition | StoppedServices | FoundTasks:
    bucket, queries, systems = storage.bucket(), services.log_queries(), environment.systems
    if isinstance(event, StopServicesEvent):
        return stop_services(services.tasks(), event)
    if isinstance(event, ConditionEvent):
        backlogs = {QUEUE: services.queues, CLUSTER: services.clusters}
        return check_condition(bucket, queries, services.tasks(), systems, backlogs, event)
    if isinstance(event, FindTasksEvent):
        return find_tasks(bucket, services.tasks(), event)
    seconds = environment.logs_deadline_seconds
    tasks, properties = services.tasks(), services.properties()
    return collect(bucket, queries, tasks, properties, systems, event, seconds)
