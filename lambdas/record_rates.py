"""RecordRates: fold the trials of a run into its rows of the tables."""

from lambdas import answers, services
from tidemark.run.events import RunEvent
from tidemark.run.record_rates import record_rates


@answers(RunEvent)
def handler(event: RunEvent) -> object:
    """Write all rows of the run and return their numbers; a second call changes nothing."""
    return record_rates(services.bucket(), event.run_id)
