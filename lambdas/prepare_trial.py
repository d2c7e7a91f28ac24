"""PrepareTrial: the ECS tasks of each test of one trial, ready to be launched."""

import os
from typing import Any

from aws_lambda_powertools.utilities.parser import event_parser
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas import aws
from lambdas.events import TrialEvent
from lambdas.observability import logger
from lambdas.preparing import prepare
from lambdas.stored import planned, read_plan
from lambdas.systems import system


@logger.inject_lambda_context(clear_state=True)
@event_parser(model=TrialEvent)
def handler(event: TrialEvent, _: LambdaContext) -> dict[str, Any]:
    """Return the tests in order, each with its environment, groups of tasks and time limit [s]."""
    plan = read_plan(aws.bucket(), event.run_id)
    where = system(plan.suite.name)
    prepared = prepare(plan, planned(plan, event.trial), where, os.environ["BUCKET"])
    return prepared.model_dump(mode="json")
