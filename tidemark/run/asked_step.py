"""The step or service that a test waits for: whether it is over, and else how long to wait."""

from collections.abc import Mapping

from tidemark.model.step_tasks import of_steps
from tidemark.run.backlog import Backlogs, check_backlog
from tidemark.run.condition import CheckedCondition, ConditionEvent, check
from tidemark.run.load_levels import hold
from tidemark.run.ports import LogQueries, Tasks
from tidemark.run.readiness import check_ready
from tidemark.run.system import System
from tidemark.store.bucket import Bucket
from tidemark.store.stored_plan import read_plan


def ask_step(
    bucket: Bucket,
    queries: LogQueries,
    tasks: Tasks,
    systems: Mapping[str, System],
    backlogs: Backlogs,
    event: ConditionEvent,
) -> CheckedCondition:
    """Return whether a service is ready, a condition holds or a load is over.

    Raises
    ------
    KeyError
        If the test has no such service, and no such step that waits.

    """
    plan = read_plan(bucket, event.run_id)
    suite = plan.suite
    system = systems[suite.name].of_instance(plan.known)
    if event.service:
        return check_ready(queries, tasks, system, suite, event, event.service)
    steps = {step.name: step for step in suite.test(event.test).steps}
    step = steps[event.step]
    if step.load:
        return hold(bucket, queries, tasks, system, plan, step.load, event)
    wait = step.wait_until
    if wait and wait.query:
        before = of_steps(suite.test(event.test), plan.request.tasks, event.tasks)
        return check(queries, system.by_log_group(before), suite, wait, wait.query, event)
    if wait:
        return check_backlog(backlogs, wait, event)
    raise KeyError(event.step)
