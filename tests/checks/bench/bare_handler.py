"""Lambda handler with Powertools only, as the reference for import times."""

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import MetricUnit, single_metric
from aws_lambda_powertools.utilities.parser import BaseModel, event_parser
from aws_lambda_powertools.utilities.typing import LambdaContext

logger = Logger(service="bare")


class Event(BaseModel):
    """Event."""

    name: str


@logger.inject_lambda_context(clear_state=True)
@event_parser(model=Event)
def handler(event: Event, _: LambdaContext) -> dict[str, str]:
    """Return the event's name."""
    with single_metric(name="events", unit=MetricUnit.Count, value=1, namespace="Bare"):
        return {"name": event.name}
