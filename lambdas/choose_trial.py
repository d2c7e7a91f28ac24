"""ChooseTrial: the next trial of a run that has no result yet, if the budget has room for it."""

from typing import Any

from aws_lambda_powertools.utilities.parser import event_parser
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas import aws
from lambdas.choosing import ChooseTrialEvent, choose
from lambdas.observability import logger


@logger.inject_lambda_context(clear_state=True)
@event_parser(model=ChooseTrialEvent)
def handler(event: ChooseTrialEvent, _: LambdaContext) -> dict[str, Any]:
    """Return the next trial and the name of its execution, None for both if there is none."""
    return choose(aws.bucket(), event).model_dump(mode="json")
