"""PlanRun: settle a run's request, claim its suite and write its plan, or refuse its input."""

from lambdas import answers, logger, services
from tidemark.model.suite_asset import packed_suites
from tidemark.run.events import ExecutionEvent
from tidemark.run.plan_run import begin


@answers(ExecutionEvent)
def handler(event: ExecutionEvent) -> object:
    """Return the run's name, suite and trials, and the execution to end first, None if none.

    Raises
    ------
    Refused
        If the input is not accepted; the message is one sentence.

    """
    planned = begin(
        services.bucket(),
        services.executions(),
        services.releases(),
        services.quotas(),
        services.properties(),
        services.account(),
        event,
        packed_suites(),
        one_machine=services.on_one_machine(),
    )
    logger.info("planned", extra={"run_id": planned.run_id, "trials": planned.trials})
    return planned
