"""PauseRules: disable rules of an instance until the end of the trial."""

from typing import Any

from aws_lambda_powertools.utilities.parser import event_parser
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas import logger, services
from tidemark.run.pause_rules import PauseRulesEvent, pause


@logger.inject_lambda_context(clear_state=True)
@event_parser(model=PauseRulesEvent)
def handler(event: PauseRulesEvent, _: LambdaContext) -> dict[str, Any]:
    """Disable the rules and return nothing; a second call changes nothing.

    Raises
    ------
    Refused
        If there is no rule of a name, or it has a state that nothing could restore.

    """
    pause(services.bucket(), services.rules(), event.run_id, event.rules)
    return {}
