"""CleanUpTrial: enable the rules that a trial paused, and delete its data."""

from lambdas import answers, services
from tidemark.run.clean_up_trial import CleanUpTrialEvent, clean_up_trial


@answers(CleanUpTrialEvent)
def handler(event: CleanUpTrialEvent) -> object:
    """Enable the rules that the trial paused, delete the data of its tasks, and return nothing."""
    clean_up_trial(services.bucket(), services.rules, event)
    return {}
