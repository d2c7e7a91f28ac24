"""An instance that exists: its version from its own properties, and the run that measures it."""

import json
from datetime import UTC, datetime

import pytest

from lambdas import collect_rates, plan_run, prepare_trial, record_outcome
from tests.plans import RUN, in_trials, plan_of
from tests.refusals import refused
from tidemark.model.refusal import Refused
from tidemark.model.request import example_input, resolve_request
from tidemark.model.steps import Invoke, Step
from tidemark.model.subject import Subject
from tidemark.model.suite import Defaults
from tidemark.run.instance_look_up import reported_version
from tidemark.store import claims, keys
from tidemark.store.claims import Claim

PLACES = (
    "s3://kiwi-{instance}-config-{account}/instance.properties",
    "s3://kiwi-{instance}/config",
)
SUBJECT = Subject(instance={"objects": PLACES, "version": "kiwi.version"}, form=r"\d+\.\d+")
SUITE = in_trials().model_copy(
    update={"subject": SUBJECT, "defaults": Defaults(versions=("deployed",), repetitions=2)}
)
NEWER, OLDER = "s3://kiwi-my-id-config-1/instance.properties", "s3://kiwi-my-id/config"
EXECUTION = "arn:aws:states:eu-west-2:1:execution:Run:first"
OTHER = "arn:aws:states:eu-west-2:1:execution:Run:other"
INPUT = {"suite": "rocksdb", "instance": "my-id"}
EVENT = {
    "execution_arn": EXECUTION,
    "execution_name": "first",
    "started_at": "2026-11-21T09:00:00.000Z",
    "input": INPUT,
}


def resolved(fields, version=None):
    return resolve_request(fields, {"rocksdb": SUITE}, reported=lambda _, __: version)


def sentence(fields, version=None, suite=SUITE):
    return refused(resolve_request, fields, {"rocksdb": suite}, reported=lambda _, __: version)


def test_the_instance_reports_the_version_of_its_run():
    spec = resolved(INPUT, "12.4")

    assert (spec.versions, spec.baseline, spec.instance) == (("12.4",), None, "my-id")
    assert spec.parameters == {"instance": "my-id", "records": 200_000, "tasks": 1}


def test_a_run_may_name_the_version_that_its_instance_reports_and_no_other():
    assert resolved({**INPUT, "versions": ["12.4"]}, "12.4").versions == ("12.4",)
    assert sentence({**INPUT, "versions": ["12.3"]}, "12.4") == (
        "versions: 12.3 is not accepted, since my-id reports 12.4; expected 12.4 or no version"
    )
    assert sentence({**INPUT, "versions": ["12.3", "12.4"]}, "12.4") == (
        "versions: 12.3, 12.4 are not accepted, since an instance has one version; name none of "
        "them"
    )


def test_the_version_is_open_where_nobody_can_ask_the_instance():
    assert resolved(INPUT).versions == ("deployed",)
    assert resolved({**INPUT, "versions": ["12.4"]}).versions == ("12.4",)
    assert resolve_request(example_input(SUITE), {"rocksdb": SUITE}).instance == "my-id"


def test_a_version_without_the_form_goes_nowhere():
    assert sentence(INPUT, "12.4; rm").startswith(
        "instance: '12.4; rm' is not a version of RocksDB"
    )
    assert sentence({**INPUT, "versions": ["../x"]}).startswith("versions: '../x' is not a version")


@pytest.mark.parametrize(
    "text", ["", "-a", "a-", "My-id", "a/b", "a*", "{account}", "i" * 33, "a\n", "ä", 7, ["a"]]
)
def test_an_id_of_another_form_goes_nowhere(text):
    for fields in ({"instance": text}, {"parameters": {"instance": text}}):
        assert sentence({"suite": "rocksdb", **fields}).startswith("instance: ")


def test_an_id_has_up_to_32_characters():
    for text in ("a", "7", "a-b", "i" * 32):
        assert resolved({**INPUT, "instance": text}).instance == text


def test_a_run_without_an_instance_is_told_what_to_name():
    assert sentence({"suite": "rocksdb"}) == (
        "instance: there is none; expected the id of an instance of RocksDB such as my-id: 1 to 32 "
        "small letters, digits and hyphens, with no hyphen at either end"
    )


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"baseline": "12.4"}, "baseline: an instance has only its own version; leave it out"),
        (
            {"builds": {"1+0": f"file:///x.whl#sha256={'0' * 64}"}},
            "builds: an instance has only its own version; leave it out",
        ),
        ({"until": "decided"}, "until: 12.4 alone has no verdict; name two versions or more"),
        (
            {"bisect": {"base": "1.0", "new": "1.1", "metric": "ingest_rate"}},
            "bisect.base: ",
        ),
    ],
)
def test_fields_about_several_versions_are_refused_for_an_instance(fields, expected):
    assert sentence({**INPUT, **fields}, "12.4").startswith(expected)


def calling(function):
    """Return the suite with a call of a function before the tasks of its tests."""
    steps = (Step(name="reset", invoke=Invoke(function=function)), *SUITE.tests[0].every_step)
    tests = tuple(test.model_copy(update={"steps": steps}) for test in SUITE.tests)
    return SUITE.model_copy(update={"tests": tests})


def test_an_id_that_gives_too_long_a_name_of_a_function_is_refused():
    suite = calling("kiwi-{instance}-a-function-with-a-rather-long-name")

    assert sentence({**INPUT, "instance": "i" * 25}, "12.4", suite) == (
        f"instance: '{'i' * 25}' gives the name kiwi-{'i' * 25}-a-function-with-a-rather-long-name "
        "of 65 characters; functions and rules have at most 64"
    )


def test_a_suite_without_instances_refuses_one():
    suite = in_trials()

    expected = "instance: rocksdb is not a suite of instances; leave it out"
    assert sentence(INPUT, suite=suite) == expected
    fields = {"suite": "rocksdb", "parameters": {"instance": "my-id"}}
    assert sentence(fields, suite=suite) == expected


def test_a_stored_request_of_an_instance_is_accepted_as_the_input_of_another_run():
    stored = json.loads(resolved(INPUT, "12.4").model_dump_json())

    assert resolved(stored, "12.4") == resolved(INPUT, "12.4")


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("kiwi.version=12.4", "12.4"),
        ("# kiwi.version=1.0\r\n\tkiwi.version : 12.4 \r\n", "12.4"),
        ("a=b\nkiwi.version = 12.4\nkiwi.version=12.4\n", "12.4"),
        ("a=b \\\n kiwi.version=1.0\nkiwi.version=12.4", "12.4"),
        ("a=b\\\\\nkiwi.version=12.4", "12.4"),
    ],
)
def test_the_version_is_a_line_of_the_properties(world, text, version):
    world.properties.texts = {OLDER: text}

    assert reported_version(world.properties, SUITE, "my-id", EXECUTION) == version


def test_the_first_object_that_can_be_read_counts(world):
    world.properties.texts = {NEWER: "kiwi.version=12.4", OLDER: "kiwi.version=1.0"}

    assert reported_version(world.properties, SUITE, "my-id", EXECUTION) == "12.4"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kiwi_version=1\nmy.kiwi.version=2", f"instance: {NEWER} has no value of kiwi.version; "),
        ("kiwi.version=1\nkiwi.version=2", f"instance: {NEWER} has 2 values of kiwi.version; "),
    ],
)
def test_properties_without_one_version_are_refused(world, text, expected):
    world.properties.texts = {NEWER: text, OLDER: "kiwi.version=1.0"}

    assert (
        refused(reported_version, world.properties, SUITE, "my-id", EXECUTION)
        == f"{expected}expected one"
    )


@pytest.fixture
def start(world, monkeypatch):
    """Return a function that starts a run of the suite and returns its plan."""
    monkeypatch.setattr(plan_run, "packed_suites", lambda: {"rocksdb": SUITE})

    def start():
        run_id = world.call(plan_run, EVENT)["run_id"]
        return world.json(keys.plan(run_id))

    return start


def test_an_instance_that_is_not_known_is_refused_before_anything_is_claimed(world, start):
    before = dict(world.bucket.objects)

    assert refused(start) == (
        "instance: my-id is not known, since its properties cannot be read; expected them in "
        f"{NEWER}, {OLDER}"
    )
    assert world.bucket.objects == before


@pytest.fixture
def measured_by_another(world):
    """Return the claim of another suite on the instance, by an execution that runs."""
    world.properties.texts = {OLDER: "kiwi.version=12.4"}
    at = datetime(2026, 11, 20, 12, tzinfo=UTC)
    claim = Claim(run_id=RUN, execution_arn=OTHER, claimed_at=at, instance="my-id")
    claims.take(world.bucket, "other", claim)
    world.executions.add(OTHER)
    return claim


def test_an_instance_that_another_suite_measures_is_refused_with_its_holder(
    world, start, measured_by_another
):
    with pytest.raises(Refused) as refused:
        start()

    assert str(refused.value) == (
        f"instance: my-id is being measured by run {RUN} since 2026-11-20 12:00:00 UTC; wait for "
        f"its end, or end it with `tidemark stop {RUN}`, execution {OTHER}"
    )
    failure = {"Error": "Refused", "Cause": json.dumps({"errorMessage": str(refused.value)})}
    event = {**EVENT, "run_id": None, "now": "2026-11-21T09:00:01Z", "failure": failure}
    assert world.call(record_outcome, event)["status"] == "rejected"
    assert [held.claim for held in claims.all_held(world.bucket)] == [measured_by_another]


def test_a_dead_run_of_another_suite_is_ended_before_its_instance_is_measured(
    world, start, measured_by_another
):
    world.executions.add(OTHER, "ABORTED")
    assert world.call(plan_run, EVENT)["holder"]["executionArn"] == OTHER

    claims.release(world.bucket, claims.held_by(world.bucket, OTHER))

    assert start()["request"]["parameters"]["instance"] == "my-id"


def test_the_tasks_get_the_id_and_nothing_to_install(world, start):
    world.properties.texts = {OLDER: "kiwi.version=12.4"}

    plan = start()
    prepared = world.call(prepare_trial, {"run_id": plan["run_id"], "trial": 1})

    assert [(trial["version"], trial["package"]) for trial in plan["trials"]] == [("12.4", "")] * 2
    for test in prepared["tests"]:
        variables = {each["Name"]: each["Value"] for each in test["environment"]}
        assert variables["TIDEMARK_INSTANCE"] == "my-id"
        assert (variables["TIDEMARK_VERSION"], variables["TIDEMARK_PACKAGE"]) == ("12.4", "")


def test_a_step_calls_the_function_of_the_instance(world, start, monkeypatch):
    suite = calling("kiwi-{instance}-reset")
    monkeypatch.setattr(plan_run, "packed_suites", lambda: {"rocksdb": suite})
    world.properties.texts = {OLDER: "kiwi.version=12.4"}

    plan = start()
    prepared = world.call(prepare_trial, {"run_id": plan["run_id"], "trial": 1})

    assert prepared["tests"][0]["steps"][0] == {
        "name": "reset", "function": "kiwi-my-id-reset", "payload": {}, "timeout_seconds": 60,
    }  # fmt: skip


def test_a_trial_of_an_instance_that_has_changed_is_refused(world, start):
    world.properties.texts = {NEWER: "kiwi.version=12.4"}
    plan = start()

    world.properties.texts = {NEWER: "kiwi.version=12.5"}
    assert refused(world.call, prepare_trial, {"run_id": plan["run_id"], "trial": 2}) == (
        "instance: my-id reports '12.5' now, and this run measures 12.4; start another run"
    )


@pytest.mark.parametrize(("version", "status"), [("12.4", "incomplete"), ("12.5", "failed")])
def test_an_instance_that_changes_during_a_test_fails_the_test(world, start, version, status):
    world.properties.texts = {NEWER: "kiwi.version=12.4"}
    plan = start()

    world.properties.texts = {NEWER: f"kiwi.version={version}"}
    world.logs.answers = {"": []}
    collected = world.call(
        collect_rates,
        {
            "run_id": plan["run_id"], "trial": 1, "test": "ingest", "attempt": 9, "lines": 0,
            "tasks": [], "artefacts": "", "bytes_scanned": 0, "started_at": "2026-11-20T12:45:00Z",
            "ended_at": "2026-11-20T12:46:00Z", "now": "2026-11-20T13:46:00Z",
        },
    )  # fmt: skip

    assert collected["status"] == status


def test_the_plan_of_a_package_asks_no_instance(world, plan):
    assert plan_of({}).request.instance is None
    assert world.call(prepare_trial, {"run_id": plan.run_id, "trial": 1})
