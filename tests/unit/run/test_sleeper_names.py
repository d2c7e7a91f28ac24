"""The names that instances of Sleeper have, in each of its generations."""

import pytest

from tests.plans import system_of
from tests.system.end_to_end.sleeper.generations import (
    GENERATIONS,
    LAST_OLDER,
    NEWER,
    OLDER,
    OLDEST,
    properties,
)
from tests.unit.fakes import FakeAccount, FakeProperties
from tests.unit.kiwi_instance import CLUSTERS, DEFINITIONS, EXECUTION
from tidemark.model.checkout import ROOT
from tidemark.model.refusal import Refused
from tidemark.model.steps import Pause, Step
from tidemark.model.suite_files import read_suite
from tidemark.run.instance_look_up import known_instance
from tidemark.run.ports import Definition
from tidemark.run.prepare_trial import PreparedStep, prepare

ROLE = "my-id-SystemTestNestedSt-SystemTestTaskFamilyTask-1A2B3C4D5E6F"
INSTANCES = ROOT / "instances"
SUITE = read_suite(INSTANCES / "suites/sleeper_instance/suite.yaml", INSTANCES / "workloads")
SUITE = SUITE.measured_by("trials", (), SUITE.default_parameters)
ALL = pytest.mark.parametrize("generation", [*GENERATIONS, LAST_OLDER], ids=lambda each: each[0])


def named(text):
    return text.replace("{account}", "1").replace("{}", "my-id")


def account_of(generation):
    """Return an account with an instance of a generation."""
    account = FakeAccount()
    kinds = {
        "cluster": generation.clusters, "queue": generation.queues,
        "function": generation.functions, "rule": generation.rules,
    }  # fmt: skip
    account.things = {(kind, named(one)) for kind, all_ in kinds.items() for one in all_.values()}
    for task in (generation.writer, generation.ingester, generation.compactor):
        logs = {task.container: (named(task.log_group), named(task.stream_prefix))}
        arn = f"{DEFINITIONS}/{named(task.family)}:7"
        account.definitions[named(task.family)] = Definition(arn=arn, roles=(ROLE,), logs=logs)
        account.things.add(("log_group", named(task.log_group)))
    return account


def known(generation, account=None):
    found = FakeProperties()
    stated = properties(generation).items()
    text = "\n".join(f"{name}={named(value)}" for name, value in stated)
    found.texts = {f"s3://{'/'.join(map(named, generation.config))}": text}
    account = account or account_of(generation)
    return known_instance(found, account, SUITE, "my-id", EXECUTION)


@ALL
def test_the_tasks_of_an_instance_and_their_logs_are_found(generation):
    found = known(generation)

    kinds = ("writer", "ingester", "compactor")
    for word, kind in ((word, getattr(generation, word)) for word in kinds):
        assert found.names[word] == f"{DEFINITIONS}/{named(kind.family)}:7"
        assert found.logs[word].log_group == named(kind.log_group)
    assert found.clusters == (f"{CLUSTERS}/sleeper-my-id-system-test-cluster",)
    assert found.names["compactors"] == f"{CLUSTERS}/{named(generation.compactor.cluster)}"


@ALL
def test_writers_get_the_arguments_of_their_generation(generation):
    words = ("mode", "job", "config", "table", "role")
    given = [known(generation).names[word] for word in words]

    expected = [named(generation.texts["sleeper.config.bucket"]), "system-test"]
    if generation is NEWER:
        expected[:0] = ["combined", "jobs/tidemark.json"]
        expected[3:] = ["arn:aws:iam::1:role/sleeper-my-id-ingest"]
    assert [text for text in given if text] == expected


@ALL
def test_functions_queues_and_rules_are_those_of_the_generation(generation):
    names = known(generation).names

    functions = [names[word] for word in ("ingest_creator", "job_creator", "task_creator")]
    assert functions == [named(function) for function in generation.functions.values()]
    queues = {names[word] for word in ("ingest_jobs", "jobs", "dead", "creation", "pending")}
    assert queues - {""} == {named(queue) for queue in generation.queues.values()}
    rules = (
        "ingest_creation", "splitting", "job_creation", "task_creation", "splitting_task_creation",
    )  # fmt: skip
    assert {names[word] for word in rules} - {""} == {*map(named, generation.rules.values())}


def prepared(plan, suite, generation):
    """Return the steps of the second test of a run of an instance."""
    request = plan.request.model_copy(update={"parameters": {"instance": "my-id"}})
    fields = {"suite": suite, "request": request, "known": known(generation)}
    stored = plan.model_copy(update={**fields, "execution_arn": EXECUTION})
    system = system_of("sleeper")
    return prepare(stored, stored.trials[:1], system, "results").tests[-1].steps


@pytest.mark.parametrize("generation", [OLDER, NEWER], ids=lambda each: each[0])
def test_a_rule_that_the_instance_lacks_is_not_paused(plan, generation):
    rest = prepared(plan, SUITE, generation)[0]

    assert {*rest["rules"]} == {*map(named, generation.rules.values())}


def test_a_step_whose_rules_the_instance_lacks_is_left_out(plan):
    lacked = Step(name="rest", pause=Pause(rules=("{splitting_task_creation}",)))
    test = SUITE.tests[-1]
    test = test.model_copy(update={"steps": (lacked, *test.steps[1:])})
    suite = SUITE.model_copy(update={"tests": (test,)})

    kinds = [type(prepared(plan, suite, each)[0]) for each in (NEWER, OLDER)]
    assert kinds == [PreparedStep, dict]


@pytest.mark.parametrize("generation", [OLDEST, NEWER], ids=lambda each: each[0])
@pytest.mark.parametrize("kind", ["cluster", "queue", "function", "rule"])
def test_each_thing_that_is_missing_is_named(generation, kind):
    words = SUITE.subject.instance.names
    for word, value in known(generation).names.items():
        if words[word].kind == kind and not words[word].optional:
            account = account_of(generation)
            account.things.remove((kind, value.rpartition("/")[2]))

            with pytest.raises(Refused, match=rf"\{{{word}\}} of my-id is not there; expected a "):
                known(generation, account)
