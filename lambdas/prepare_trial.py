"""PrepareTrial: the steps of each test of a trial, ready for the state machine."""

from lambdas import answers, services
from tidemark.run.ecs_resources import with_image
from tidemark.run.instance_look_up import check_version_of
from tidemark.run.prepare_trial import PrepareTrialEvent, prepare
from tidemark.store.stored_plan import planned, read_plan


@answers(PrepareTrialEvent)
def handler(event: PrepareTrialEvent) -> object:
    """Return the tests in order, each with its environment, groups of tasks and time limit [s].

    Raises
    ------
    Refused
        If the instance of the run reports another version than before.

    """
    plan = read_plan(services.bucket(), event.run_id)
    system, trial = event.systems[plan.suite.name], planned(plan, event.trial)
    together = [planned(plan, number) for number in event.every_trial]
    if plan.suite.subject.image:
        definitions = services.task_definitions()
        system = with_image(system, plan.suite, trial.package, trial.axes, definitions)
    if plan.suite.subject.instance:
        check_version_of(services.properties(), plan, trial)
    return prepare(plan, together, system, services.bucket_name())
