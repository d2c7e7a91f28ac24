"""ChooseTrial: the next trial without a result, if the budget has room for it."""

from typing import Any

from aws_lambda_powertools.utilities.parser import event_parser
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas import logger, services
from tidemark.run.choose_trial import ChooseTrialEvent, choose


@logger.inject_lambda_context(clear_state=True)
@event_parser(model=ChooseTrialEvent)
def handler(event: ChooseTrialEvent, _: LambdaContext) -> dict[str, Any]:
    """Return the next trial and the name of its execution, None for both if there is none."""
    return choose(services.bucket(), event).model_dump(mode="json")
