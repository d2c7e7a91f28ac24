"""The names of what an instance has: looked up by PlanRun, and filled in by PrepareTrial."""

import pytest

from lambdas import plan_run, prepare_trial
from tests.refusals import refused
from tests.unit.kiwi_instance import KIWI, SYSTEMS, read_kiwi
from tidemark.run.ports import Definition
from tidemark.store import keys

EXECUTION = "arn:aws:states:eu-west-2:1:execution:Run:first"
CONFIG = "s3://kiwi-my-id-config/instance.properties"
DEFINITIONS = "arn:aws:ecs:eu-west-2:1:task-definition"
CLUSTERS = "arn:aws:ecs:eu-west-2:1:cluster"
PROPERTIES = ["kiwi.version=12.4", "kiwi.subnets=subnet-0a1b2c3d,subnet-1a1b2c3d", "kiwi.table=t"]


def definition(family, containers=("main",), group="kiwi-my-id-logs", role="kiwi-my-id-role"):
    logs = dict.fromkeys(containers, (group, "prefix"))
    return Definition(arn=f"{DEFINITIONS}/{family}:7", roles=(role,), logs=logs)


@pytest.fixture
def start(world, tmp_path, monkeypatch):
    """Return a function that starts a run of an instance of the newer generation."""
    suite = read_kiwi(tmp_path)
    monkeypatch.setattr(plan_run, "packed_suites", lambda: {"kiwi": suite})
    world.systems = SYSTEMS
    world.account.things = {
        ("cluster", "kiwi-my-id-writers"),
        ("cluster", "kiwi-my-id-compact"),
        ("function", "kiwi-my-id-creator"),
        ("rule", "my-id-Nightly"),
        ("log_group", "kiwi-my-id-logs"),
    }
    world.account.definitions = {
        "kiwi-my-id-writer": definition("kiwi-my-id-writer"),
        "my-idCompactor": definition("my-idCompactor", ("main", "proxy")),
    }
    say(world)

    def start():
        event = {
            "execution_arn": EXECUTION,
            "execution_name": "first",
            "started_at": "2026-11-21T09:00:00.000Z",
            "input": {"suite": "kiwi", "instance": "my-id"},
        }
        return world.json(keys.plan(world.call(plan_run, event)["run_id"]))

    return start


def say(world, *lines):
    """Let the properties of the instance have further lines."""
    world.properties.texts = {CONFIG: "\n".join([*PROPERTIES, *lines])}


def refusal(start):
    return refused(start)


def test_the_plan_of_a_run_keeps_what_its_instance_has(start):
    known = start()["known"]

    assert known["names"] == {
        "writer": f"{DEFINITIONS}/kiwi-my-id-writer:7",
        "compactor": f"{DEFINITIONS}/my-idCompactor:7",
        "writers": f"{CLUSTERS}/kiwi-my-id-writers",
        "compactors": f"{CLUSTERS}/kiwi-my-id-compact",
        "subnets": "subnet-0a1b2c3d,subnet-1a1b2c3d",
        "table": "t",
        "creator": "kiwi-my-id-creator",
        "nightly": "my-id-Nightly",
    }
    logs = {"container": "main", "log_group": "kiwi-my-id-logs", "stream_prefix": "prefix"}
    assert known["logs"] == {"writer": logs, "compactor": logs}
    # A run starts tasks in this one alone.
    assert known["clusters"] == [f"{CLUSTERS}/kiwi-my-id-writers"]


def test_a_value_is_read_as_java_escapes_it(world, start):
    say(world)
    escaped = r"table=arn\:aws\:iam\:\:1\:\u0072ole"
    written = world.properties.texts[CONFIG].replace("table=t", escaped)
    world.properties.texts = {CONFIG: written}

    assert start()["known"]["names"]["table"] == "arn:aws:iam::1:role"


@pytest.mark.parametrize(("line", "value"), [("kiwi.mode=direct", "combined"), ("", "")])
def test_a_name_may_need_a_property_that_not_every_instance_has(
    world, start, monkeypatch, tmp_path, line, value
):
    mode = "table: {kind: text, forms: [combined], needs: kiwi.mode}"
    text = KIWI.replace("table: {kind: text, properties: [kiwi.table]}", mode)
    suite = read_kiwi(tmp_path / "other", text)
    monkeypatch.setattr(plan_run, "packed_suites", lambda: {"kiwi": suite})
    say(world, line)

    assert start()["known"]["names"]["table"] == value


def test_the_first_form_counts_whose_thing_exists(world, start):
    world.account.things -= {("function", "kiwi-my-id-creator")}
    world.account.things |= {("function", "my-id-creator")}

    assert start()["known"]["names"]["creator"] == "my-id-creator"


@pytest.mark.parametrize(
    "value", ["kiwi-my-id-writers", f"{CLUSTERS}/kiwi-my-id-writers", "  kiwi-my-id-writers "]
)
def test_a_property_may_have_a_name_or_an_arn(world, start, value):
    say(world, f"kiwi.cluster={value}")

    assert start()["known"]["names"]["writers"] == f"{CLUSTERS}/kiwi-my-id-writers"


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            "kiwi.cluster=other",
            "instance: {writers} of my-id is 'other' in kiwi.cluster of "
            f"{CONFIG}; expected kiwi-my-id-writers",
        ),
        (
            "kiwi.cluster=a\nkiwi.cluster=b",
            f"instance: {CONFIG} has 2 values of kiwi.cluster; expected one",
        ),
        (
            "kiwi.table=u",
            f"instance: {CONFIG} has 2 values of kiwi.table; expected one",
        ),
    ],
)
def test_a_property_of_another_form_is_refused(world, start, line, sentence):
    say(world, line)

    assert refusal(start) == sentence


@pytest.mark.parametrize(
    ("missing", "sentence"),
    [
        (("cluster", "kiwi-my-id-compact"), "a cluster kiwi-my-id-compact"),
        (("function", "kiwi-my-id-creator"), "a function kiwi-my-id-creator or my-id-creator"),
        (("rule", "my-id-Nightly"), "a rule my-id-Nightly"),
    ],
)
def test_a_name_of_nothing_is_refused_before_anything_is_claimed(world, start, missing, sentence):
    world.account.things.remove(missing)
    before = dict(world.bucket.objects)

    assert refusal(start).endswith(f" of my-id is not there; expected {sentence}")
    assert world.bucket.objects == before


def test_a_missing_task_definition_is_refused(world, start):
    world.account.definitions.clear()

    assert refusal(start) == (
        "instance: {writer} of my-id is not there; expected a task definition my-idWriter or "
        "kiwi-my-id-writer"
    )


def test_a_property_that_is_missing_is_refused(world, start):
    world.properties.texts = {CONFIG: "\n".join(PROPERTIES[:2])}

    assert refusal(start) == (
        f"instance: {{table}} of my-id has no value; expected kiwi.table in {CONFIG}"
    )


@pytest.mark.parametrize(
    ("family", "found", "sentence"),
    [
        (
            "kiwi-my-id-writer",
            {"group": "/other"},
            "{writer} of my-id logs to '/other'; expected kiwi-my-id-*",
        ),
        (
            "kiwi-my-id-writer",
            {"group": "kiwi-my-id-x"},
            "{writer} of my-id logs to 'kiwi-my-id-x', which is not there; expected a log group",
        ),
        (
            "kiwi-my-id-writer",
            {"role": "admin"},
            "{writer} of my-id has the role 'admin'; expected kiwi-my-id-*",
        ),
        (
            "kiwi-my-id-writer",
            {"containers": ("a", "b")},
            "{writer} of my-id has the containers a, b; expected one, or its name in the field "
            "container",
        ),
        (
            "my-idCompactor",
            {"containers": ("a",)},
            "{compactor} of my-id has the containers a; expected main",
        ),
    ],
)
def test_a_definition_that_may_not_be_used_is_refused(world, start, family, found, sentence):
    world.account.definitions[family] = definition(family, **found)

    assert refusal(start) == f"instance: {sentence}"


def test_a_definition_that_the_run_only_finds_may_have_any_role(world, start):
    found = definition("my-idCompactor", role="my-idCompactorRole")
    world.account.definitions["my-idCompactor"] = found

    assert start()["known"]["names"]["compactor"] == f"{DEFINITIONS}/my-idCompactor:7"


def test_a_container_that_logs_elsewhere_is_refused(world, start):
    found = definition("kiwi-my-id-writer")._replace(logs={"main": None})
    world.account.definitions["kiwi-my-id-writer"] = found

    assert refusal(start) == (
        "instance: {writer} of my-id has the container main; expected the log driver awslogs with "
        "a stream prefix"
    )


def test_the_steps_of_a_trial_have_the_names_of_the_instance(world, start):
    plan = start()

    prepared = world.call(prepare_trial, {"run_id": plan["run_id"], "trial": 1})

    rest, write, create, compact = prepared["tests"][0]["steps"]
    assert rest["rules"] == ["my-id-Nightly", "kiwi-my-id-hourly"]
    assert write["command"] == ["kiwi-my-id-config", "t"]
    assert write["place"] == {
        "cluster": f"{CLUSTERS}/kiwi-my-id-writers",
        "task_definition": f"{DEFINITIONS}/kiwi-my-id-writer:7",
        "subnets": ["subnet-0a1b2c3d", "subnet-1a1b2c3d"],
        "security_groups": [],
    }
    assert write["container"] == "main"
    assert create["function"] == "kiwi-my-id-creator"
    assert compact == {"name": "compact", "cluster": f"{CLUSTERS}/kiwi-my-id-compact"}
