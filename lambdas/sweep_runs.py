"""SweepRuns: end runs and tasks that nobody ended, and name the suites with a missed schedule."""

from datetime import UTC, datetime
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from aws.client_errors import CLIENT_ERRORS
from lambdas import services, storage
from lambdas.dead_runs import ending
from lambdas.environment import Environment
from lambdas.observability import logger
from tidemark.run.attempts import Attempts
from tidemark.run.missed_schedules import tell_missed


@logger.inject_lambda_context(clear_state=True)
def handler(_event: object, _: LambdaContext) -> dict[str, Any]:
    """Return the outcomes of the runs that were ended, and the suites that were not measured.

    The event of the schedule carries no data.

    Raises
    ------
    AttemptsFailed
        If an attempt failed; raised after all other attempts.

    """
    attempts, now = Attempts(CLIENT_ERRORS), datetime.now(UTC)
    outcomes = ending().sweep(now, attempts)
    schedules = Environment().schedules
    missed = tell_missed(
        storage.bucket(), services.schedules(), services.metrics(), schedules, now, attempts
    )
    attempts.check()
    ended = [outcome.model_dump(mode="json") for outcome in outcomes]
    return {"outcomes": ended, "missed": missed}
