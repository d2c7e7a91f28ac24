"""StopServices: stop the services of a test that has ended."""

from lambdas import answers, services
from tidemark.run.stop_services import StopServicesEvent, stop_services


@answers(StopServicesEvent)
def handler(event: StopServicesEvent) -> object:
    """Return the results of the services' tasks, or how long to wait until all have stopped [s]."""
    return stop_services(services.tasks(), event)
