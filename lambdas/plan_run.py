"""PlanRun: settle what a run measures, claim its suite and write its plan, or refuse its input."""

from typing import Any

from aws_lambda_powertools.utilities.parser import event_parser
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas import aws
from lambdas.events import ExecutionEvent
from lambdas.observability import logger
from lambdas.planning import begin
from suites.files import packed_suites


@logger.inject_lambda_context(clear_state=True)
@event_parser(model=ExecutionEvent)
def handler(event: ExecutionEvent, _: LambdaContext) -> dict[str, Any]:
    """Return the run's name, suite and trials, and who has to be ended first, None if nobody.

    Raises Refused, in one sentence, for an input that is not accepted.
    """
    planned = begin(
        aws.bucket(), aws.executions(), aws.releases(), aws.quotas(), event, packed_suites()
    )
    logger.info("planned", extra={"run_id": planned.run_id, "trials": planned.trials})
    return planned.model_dump(mode="json", by_alias=True)
