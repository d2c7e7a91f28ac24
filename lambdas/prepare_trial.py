"""PrepareTrial: the ECS tasks of each test of one trial, ready to be launched."""

import os
from typing import Any

from aws_lambda_powertools.utilities.parser import event_parser
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas import aws
from lambdas.events import TrialEvent
from lambdas.observability import logger
from lambdas.stored import planned, read_plan
from lambdas.systems import system
from suites import keys
from suites.model import MOST_ITERATIONS, Test
from suites.plan import Plan, PlannedTrial

# How much longer Step Functions waits than the task gives itself, so that its log says why it
# ended: the state's time also counts the provisioning of the task and the pull of its image.
_MARGIN_SECONDS = 300


@logger.inject_lambda_context(clear_state=True)
@event_parser(model=TrialEvent)
def handler(event: TrialEvent, _: LambdaContext) -> dict[str, Any]:
    """Return the tests in order, each with its environment, groups of tasks and time limit [s]."""
    plan = read_plan(aws.bucket(), event.run_id)
    trial = planned(plan, event.trial)
    where = system(plan.suite.name)
    return {
        "version": trial.version,
        "task_definition": where.task_definition,
        "container": where.container,
        "tests": [
            {
                "name": test.name,
                "groups": _groups(plan.request.tasks),
                "timeout_seconds": test.timeout_seconds + _MARGIN_SECONDS,
                "environment": _environment(plan, trial, test),
            }
            for test in plan.suite.tests
        ],
    }


def _groups(tasks: int) -> list[dict[str, int]]:
    """Return the tasks' indices, from 0, as ranges that a Map runs at once; both ends included."""
    return [
        {"first": first, "last": min(first + MOST_ITERATIONS, tasks) - 1}
        for first in range(0, tasks, MOST_ITERATIONS)
    ]


def _environment(plan: Plan, trial: PlannedTrial, test: Test) -> list[dict[str, str]]:
    data = keys.data(plan.run_id, trial.trial).rstrip("/")
    values = {
        "TIDEMARK_VERSION": trial.version,
        "TIDEMARK_PACKAGE": trial.package,
        "TIDEMARK_RECORDS": plan.request.records,
        "TIDEMARK_JOBS": test.jobs,
        # One seed for all trials of a run: every version works on the same records.
        "TIDEMARK_SEED": plan.seed,
        "TIDEMARK_DATA": f"s3://{os.environ['BUCKET']}/{data}",
        "TIDEMARK_DEADLINE_SECONDS": test.timeout_seconds,
    }
    return [{"Name": name, "Value": str(value)} for name, value in values.items()]
