"""PauseRules: disable rules of an instance until the end of the trial."""

from lambdas import answers, services
from tidemark.run.pause_rules import PauseRulesEvent, pause


@answers(PauseRulesEvent)
def handler(event: PauseRulesEvent) -> object:
    """Disable the rules and return nothing; a second call changes nothing.

    Raises
    ------
    Refused
        If there is no rule of a name, or it has a state that nothing could restore.

    """
    pause(services.bucket(), services.rules(), event.run_id, event.rules)
    return {}
