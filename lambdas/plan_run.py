"""PlanRun: settle what a run measures and write its plan, or refuse its input."""

from typing import Any

from aws_lambda_powertools.utilities.parser import event_parser
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas import aws
from lambdas.events import ExecutionEvent
from lambdas.observability import logger
from suites import keys
from suites.files import packed_suites
from suites.plan import make_plan, run_id
from suites.request import settle


@logger.inject_lambda_context(clear_state=True)
@event_parser(model=ExecutionEvent)
def handler(event: ExecutionEvent, _: LambdaContext) -> dict[str, Any]:
    """Return the run's name and suite; raise Refused, in one sentence, for a bad input."""
    suites = packed_suites()
    request = settle(event.input, suites)
    name = run_id(event.execution_name, event.input, event.started_at)
    plan = make_plan(
        request,
        suites[request.suite],
        name=name,
        execution_arn=event.execution_arn,
        started_at=event.started_at,
    )
    aws.bucket().write(keys.plan(name), plan.model_dump_json().encode())
    logger.info("planned", extra={"run_id": name, "trials": len(plan.trials)})
    return {"run_id": name, "suite": request.suite, "trials": len(plan.trials)}
