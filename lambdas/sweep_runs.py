"""SweepRuns: end runs and tasks that nobody ended, and name the suites with a missed schedule."""

from datetime import UTC, datetime
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from aws import CLIENT_ERRORS
from lambdas import logger, services
from tidemark.run.sweep_runs import Attempts, end_dead_runs, tell_missed_schedules


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
    outcomes = end_dead_runs(services.ending(), now, attempts)
    missed = tell_missed_schedules(
        services.bucket(),
        services.schedules(),
        services.metrics(),
        services.watched_schedules(),
        now,
        attempts,
    )
    attempts.check()
    ended = [outcome.model_dump(mode="json") for outcome in outcomes]
    return {"outcomes": ended, "missed": missed}
