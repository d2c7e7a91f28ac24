"""RecordTrial: write a trial's result, once, and send its rates to CloudWatch."""

from lambdas import answers, services
from tidemark.run.record_trial import RecordTrialEvent, record_trial


@answers(RecordTrialEvent)
def handler(event: RecordTrialEvent) -> object:
    """Return the status of the trial, or of the first trial of a round."""
    result = record_trial(services.bucket(), services.metrics(), event)
    return {"trial": event.trial, "status": result.status}
