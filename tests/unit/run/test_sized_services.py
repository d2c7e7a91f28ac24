"""The size that a trial gives its services, and the place of their profiles."""

from tests.plans import system_of
from tests.unit.sized_runs import sized_plan
from tidemark.run.prepare_trial import PreparedService, prepare

DEFINITIONS = {"server": "server:1", "agent": "agent:1"}


def test_each_trial_gives_the_server_the_size_of_its_axis_and_the_agent_its_own():
    plan = sized_plan()
    system = system_of("kiwi", services=DEFINITIONS)

    def sizes(trial):
        steps = [
            step for test in prepare(plan, [trial], system, "bucket").tests for step in test.steps
        ]
        services = [step for step in steps if isinstance(step, PreparedService)]
        return {(service.name, *service.size.items()) for service in services}

    found = {trial.axes["size"]: sizes(trial) for trial in plan.trials}

    assert found["half"] == {("server", ("Cpu", "512"), ("Memory", "1024")), ("agent",)}
    assert found["two"] == {("server", ("Cpu", "2048"), ("Memory", "4096")), ("agent",)}


def test_only_services_of_profiled_trials_have_a_place_for_a_profile():
    plan = sized_plan()
    system = system_of("kiwi", services=DEFINITIONS)

    def places(number):
        trial = plan.trials[0].model_copy(update={"trial": number})
        for test in prepare(plan, [trial], system, "bucket").tests:
            for step in test.steps:
                if isinstance(step, PreparedService):
                    given = {one["Name"]: one["Value"] for one in step.environment}
                    place = given.get("TIDEMARK_ARTEFACTS", "")
                    yield place == f"{test.artefacts}{step.index}/" if place else None

    assert set(places(901)) == {True}
    assert set(places(1)) == {None}
