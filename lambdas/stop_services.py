"""StopServices: stop the services of a test that has ended."""

from typing import Any

from aws_lambda_powertools.utilities.parser import event_parser
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas import logger, services
from tidemark.run.stop_services import StopServicesEvent, stop_services


@logger.inject_lambda_context(clear_state=True)
@event_parser(model=StopServicesEvent)
def handler(event: StopServicesEvent, _: LambdaContext) -> dict[str, Any]:
    """Return the results of the services' tasks, or how long to wait until all have stopped [s]."""
    return stop_services(services.tasks(), event).model_dump(mode="json")
