"""ChooseTrial: the next trial without a result, if the budget has room for it."""

from lambdas import answers, services
from tidemark.run.choose_trial import ChooseTrialEvent, choose


@answers(ChooseTrialEvent)
def handler(event: ChooseTrialEvent) -> object:
    """Return the next trial and the name of its execution, None for both if there is none."""
    return choose(services.bucket(), event)
