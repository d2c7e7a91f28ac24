"""RestoreSystem: leave the system as the trial found it, and delete the data of the trial."""

from typing import Any

from aws_lambda_powertools.utilities.parser import event_parser
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas import logger, services
from tidemark.run.restore_system import RestoreSystemEvent, restore_system


@logger.inject_lambda_context(clear_state=True)
@event_parser(model=RestoreSystemEvent)
def handler(event: RestoreSystemEvent, _: LambdaContext) -> dict[str, Any]:
    """Enable the rules that the trial paused, delete the data of its tasks, and return nothing."""
    restore_system(services.bucket(), services.rules, event)
    return {}
