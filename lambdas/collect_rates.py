"""CollectRates: the rates of a test, once its log streams have all of them."""

from lambdas import answers, services
from tidemark.run.collect_rates import CollectRatesEvent, collect


@answers(CollectRatesEvent)
def handler(event: CollectRatesEvent) -> object:
    """Return the status of the test once its result is stored, or how long to wait [s]."""
    return collect(
        services.bucket(),
        services.log_queries(),
        services.tasks(),
        services.properties(),
        event,
        services.logs_deadline_seconds(),
    )
