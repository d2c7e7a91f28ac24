"""SweepRuns: end what nobody ended, and tell which suites were not measured when they were due."""

import json
import os
from datetime import UTC, datetime
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas import aws
from lambdas.attempts import Attempts
from lambdas.end_run import ending
from lambdas.missed import tell_missed
from lambdas.observability import logger


@logger.inject_lambda_context(clear_state=True)
def handler(_event: object, _: LambdaContext) -> dict[str, Any]:
    """Return the outcomes of the runs that were ended, and the suites that were not measured.

    The event, a schedule's, says nothing. Raises AttemptsFailed, when all else is done, with what
    could not be.
    """
    attempts, now = Attempts(), datetime.now(UTC)
    outcomes = ending().sweep(now, attempts)
    watched = json.loads(os.environ.get("SCHEDULES", "{}"))
    missed = tell_missed(aws.bucket(), aws.schedules(), watched, now, attempts)
    attempts.check()
    told = [outcome.model_dump(mode="json") for outcome in outcomes]
    return {"outcomes": told, "missed": missed}
