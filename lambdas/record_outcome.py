"""RecordOutcome: record the outcome of a run and announce it."""

from lambdas import answers, logger, services
from tidemark.run.record_outcome import RecordOutcomeEvent, conclude


@answers(RecordOutcomeEvent)
def handler(event: RecordOutcomeEvent) -> object:
    """Write the outcome and the run's row, announce them, release the claim; return the outcome."""
    outcome = conclude(services.bucket(), services.listeners(), services.rules(), event)
    logger.info("ended", extra={"run_id": outcome.run_id, "status": outcome.status})
    return outcome
