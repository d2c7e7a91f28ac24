"""ChooseTrial: the next trial of a run that has no result yet."""

from typing import Any

from aws_lambda_powertools.utilities.parser import BaseModel, event_parser
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas import aws
from lambdas.events import RunEvent
from lambdas.failure import Failure
from lambdas.observability import logger
from lambdas.record import record, trial_result
from lambdas.stored import planned, read_measured, read_plan
from suites import keys
from suites.plan import trial_execution


class LostTrial(BaseModel):
    """A trial whose execution ended without recording a result, and what Step Functions said."""

    trial: int
    failure: Failure


class ChooseTrialEvent(RunEvent):
    """A run, its execution, and the trial that was lost last, if one was."""

    execution_arn: str
    lost: LostTrial | None = None


@logger.inject_lambda_context(clear_state=True)
@event_parser(model=ChooseTrialEvent)
def handler(event: ChooseTrialEvent, _: LambdaContext) -> dict[str, Any]:
    """Return the next trial and the name of its execution, None for both when all are done."""
    bucket = aws.bucket()
    plan = read_plan(bucket, event.run_id)
    if event.lost:
        # Without a result it would be chosen again and again.
        failure = f"the trial's execution ended with {event.lost.failure}"
        trial = planned(plan, event.lost.trial)
        measured = read_measured(bucket, event.run_id, trial.trial)
        record(bucket, trial_result(plan, trial, measured, failure))
        bucket.delete(keys.data(event.run_id, trial.trial))
        bucket.delete(keys.measurements(event.run_id, trial.trial))
    done = set(bucket.keys(keys.trials(event.run_id)))
    left = (
        trial.trial for trial in plan.trials if keys.trial(event.run_id, trial.trial) not in done
    )
    following = next(left, None)
    name = trial_execution(event.run_id, following, event.execution_arn) if following else None
    return {"trial": following, "name": name, "done": len(done)}
