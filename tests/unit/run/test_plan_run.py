"""Inputs that are planned or refused, resumes of runs, and starts that make only one run."""

import gzip
import json
from datetime import UTC, datetime

import pytest
from fuzzing import fuzz
from hypothesis import given
from hypothesis import strategies as st

from lambdas import end_run, plan_run, record_outcome, record_trial
from tests.plans import RUN
from tidemark.model.plan import Plan
from tidemark.model.refusal import Refused
from tidemark.model.request import RunRequest
from tidemark.model.steps import Invoke, RunTasks, Step
from tidemark.model.subject import Subject
from tidemark.model.suite_asset import packed_suites, queries_digest
from tidemark.model.task import Artefact
from tidemark.money.capacity import VCPUS
from tidemark.store import claims
from tidemark.store.claims import Claim
from tidemark.store.stored_plan import read_plan

pytestmark = pytest.mark.usefixtures("packed")

OUTCOME = f"runs/{RUN}/outcome.json"
FAILURE = {"Error": "States.TaskFailed", "Cause": "no reason"}
SCHEDULED = {"suite": "rocksdb", "scheduled_at": "2026-11-20T12:00:00Z"}


def arn(name):
    return f"arn:aws:states:eu-west-2:1:execution:Run:{name}"


def execution(name, execution_input):
    return {
        "execution_arn": arn(name),
        "execution_name": name,
        "started_at": "2026-11-21T09:00:00.000Z",
        "input": execution_input,
    }


def start(world, name, execution_input):
    planned = world.call(plan_run, execution(name, execution_input))
    world.executions.add(arn(name))
    return planned


def test_a_build_is_refused_unless_one_machine_measures_it(world, monkeypatch):
    wheel = f"file:///dist/x-1-py3-none-any.whl#sha256={'0' * 64}"
    request = {"suite": "rocksdb", "versions": ["1+0"], "builds": {"1+0": wheel}}

    sentence, _ = refused(world, "first", request)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")

    assert sentence == "builds: 1+0 can only be measured on one machine"
    assert start(world, "first", request)["trials"] == 12


def test_versions_of_an_image_are_refused_on_one_machine_and_measured_in_an_account(
    world, monkeypatch
):
    subject = Subject(image="x/rocksdb:{version}", form=".*", versions=["1.0", "2.0"])
    suite = packed_suites()["rocksdb"].model_copy(update={"subject": subject})
    monkeypatch.setattr(plan_run, "packed_suites", lambda: {"rocksdb": suite})
    request = {"suite": "rocksdb", "versions": ["3.0", "2.0"]}

    planned = start(world, "first", request)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    sentence, _ = refused(world, "second", request)

    plan = world.json(f"runs/{planned['run_id']}/plan.json")
    assert {each["package"] for each in plan["trials"]} == {"x/rocksdb:3.0", "x/rocksdb:2.0"}
    assert sentence.startswith("suite: the subject of rocksdb is an image of each version, and one")


def resume(world, name="second", **fields):
    return start(world, name, {"suite": "rocksdb", "run": RUN, **fields})


def record(world, trial):
    world.call(record_trial, {"run_id": RUN, "trial": trial, "failure": FAILURE})


def conclude(world, name, execution_input, run_id, failure=None):
    event = {**execution(name, execution_input), "run_id": run_id, "now": "2026-11-21T10:00:00Z"}
    return world.call(record_outcome, {**event, "failure": failure})


def refused(world, name, execution_input):
    """Return the sentence of a refusal, and the outcome that its execution then records."""
    with pytest.raises(Refused) as refusal:
        start(world, name, execution_input)
    cause = json.dumps({"errorMessage": str(refusal.value), "errorType": "Refused"})
    outcome = conclude(world, name, execution_input, None, {"Error": "Refused", "Cause": cause})
    return str(refusal.value), outcome


def test_a_resumed_run_keeps_its_name_and_plan(world):
    plan = world.bucket.objects[f"runs/{RUN}/plan.json"]
    record(world, 1)

    planned = resume(world, note="again", trigger="cli")

    assert (planned["run_id"], planned["trials"], planned["holder"]) == (RUN, 2, None)
    assert world.bucket.objects[f"runs/{RUN}/plan.json"] == plan
    assert world.json("claims/rocksdb.json")["execution_arn"] == arn("second")


def test_a_run_that_exceeds_a_quota_is_refused_and_nothing_is_written(world):
    world.quotas.values["L-3032A538"] = 6
    before = dict(world.bucket.objects)

    assert start(world, "fits", {"suite": "rocksdb", "tasks": 3})["trials"] == 320
    world.bucket.objects = dict(before)
    with pytest.raises(Refused) as refusal:
        start(world, "wide", {"suite": "rocksdb", "tasks": 4})

    assert str(refusal.value) == (
        "tasks: 4 at once need 8 of the quota 'Fargate On-Demand vCPU resource count' "
        "(fargate L-3032A538), which is 6 in this account and region; ask for fewer, or have the "
        "quota raised"
    )
    assert world.bucket.objects == before


@pytest.mark.parametrize(
    ("vcpus", "asked", "planned"), [(4000, None, 12), (7, None, 3), (2, None, 1), (4000, 5, 5)]
)
def test_as_many_rounds_are_measured_at_once_as_the_quota_allows(world, vcpus, asked, planned):
    world.quotas.values["L-3032A538"] = vcpus

    run = start(world, "rounds", {"suite": "rocksdb", "layout": "rounds", "parallel": asked})

    plan = read_plan(world.bucket, run["run_id"])
    assert plan.request.parallel == planned
    assert [test.jobs for test in plan.suite.tests] == [30, 30]  # a billed minute's slices


def test_more_rounds_at_once_than_the_quota_allows_are_refused(world):
    world.quotas.values["L-3032A538"] = 6

    with pytest.raises(Refused, match=r"^tasks: 4 at once need 8 of the quota 'Fargate On-Demand"):
        start(world, "rounds", {"suite": "rocksdb", "layout": "rounds", "parallel": 4})


def test_one_machine_measures_one_round_at_a_time(world, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    rounds = {"suite": "rocksdb", "layout": "rounds"}

    sentence, _ = refused(world, "many", {**rounds, "parallel": 4})
    run = start(world, "one", {**rounds, "parallel": 1})

    assert sentence == (
        "parallel: 4 rounds at once need a host each; expected 1 on one machine, or a run with "
        "--aws"
    )
    assert [test.jobs for test in read_plan(world.bucket, run["run_id"]).suite.tests] == [15, 16]


def test_a_run_that_needs_too_many_network_interfaces_is_refused(world):
    world.quotas.values["L-DF5E4CA3"] = 9

    with pytest.raises(Refused, match="10 at once need 10 of the quota 'Network interfaces per"):
        start(world, "wide", {"suite": "rocksdb", "tasks": 10})


def test_a_run_whose_quotas_cannot_be_read_starts_and_the_log_says_so(world, caplog):
    world.quotas.unreadable = True

    assert start(world, "fits", {"suite": "rocksdb"})["trials"] > 0
    assert f"{VCPUS.name} cannot be read; the run starts, and may lack capacity" in caplog.text


def test_a_resume_needs_the_quotas_of_its_run(world):
    world.quotas.values["L-3032A538"] = 3

    with pytest.raises(Refused, match=r"^tasks: 2 at once need 4"):
        resume(world)


def test_a_resume_has_its_own_budget_or_else_the_latest_of_its_run(world, plan):
    world.store(plan, request=plan.request.model_copy(update={"budget_usd": 0.5}))

    assert resume(world)["budget_usd"] == 0.5
    conclude(world, "second", {"suite": "rocksdb", "run": RUN}, RUN)
    assert resume(world, "third", budget_usd=2)["budget_usd"] == 2
    conclude(world, "third", {"suite": "rocksdb", "run": RUN}, RUN)
    assert resume(world, "fourth")["budget_usd"] == 2


def test_a_budget_for_a_run_without_prices_is_refused(world, plan):
    world.store(plan, prices=None, estimate=None)

    with pytest.raises(Refused, match=f"^budget_usd: {RUN} was planned without prices"):
        resume(world, budget_usd=1)


def test_each_resume_is_kept_with_its_trigger_and_its_note(world):
    record(world, 1)
    for name, note in (("second", "the machine was needed"), ("third", "")):
        resume(world, name, note=note, trigger="cli")
        resume(world, name, note=note, trigger="cli")  # a state that is tried again
        conclude(world, name, {"suite": "rocksdb", "run": RUN}, RUN, FAILURE)

    packed = world.bucket.objects[f"tables/runs/suite=rocksdb/year=2026/{RUN}.jsonl.gz"]
    row = json.loads(gzip.decompress(packed))
    kept = sorted(map(json.loads, row["resumes"]), key=lambda resume: resume["note"])
    assert kept == [
        {"started_at": "2026-11-21 09:00:00.000", "trigger": "cli", "note": note}
        for note in ("", "the machine was needed")
    ]


def test_a_resumed_run_has_the_outcome_of_all_its_trials(world):
    record(world, 1)
    conclude(world, "first", {"suite": "rocksdb"}, RUN, FAILURE)
    resume(world)
    record(world, 2)

    outcome = conclude(world, "second", {"suite": "rocksdb", "run": RUN}, RUN)

    assert outcome["execution_arn"] == arn("second")
    assert outcome["reason"].startswith("2 of 2 trials did not give all rates")
    assert world.json(OUTCOME) == outcome


def test_a_run_whose_execution_died_is_ended_before_it_is_resumed(world):
    claim = Claim(
        run_id=RUN, execution_arn=arn("first"), claimed_at=datetime(2026, 11, 20, tzinfo=UTC)
    )
    claims.take(world.bucket, "rocksdb", claim)

    held = resume(world)
    world.call(end_run, {"detail": held["holder"]})
    ended = world.json(OUTCOME)
    planned = resume(world)

    assert ended["status"] == "aborted"
    assert planned["holder"] is None
    assert world.json("claims/rocksdb.json")["execution_arn"] == arn("second")


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        (
            {"versions": ["9.0.0"]},
            "versions: unknown field; known are suite, run, budget_usd, note, trigger",
        ),
        ({"run": "latest"}, "run: 'latest' is not accepted; expected the form of 2026"),
        ({"run": f"{RUN}\n"}, f"run: '{RUN}\\n' is not accepted; expected the form of 2026"),
        ({"run": f"../{RUN}"}, f"run: '../{RUN}' is not accepted; expected the form of 2026"),
        ({"run": None}, "run: None is not accepted; expected a text"),
        (
            {"suite": "leveldb"},
            "suite: 'leveldb' is not known; there are clickhouse, deltalake, kiwi, "
            "rocksdb, rocksdbjni, sleeper",
        ),
        (
            {"run": "20261120T000000Z-000000"},
            "run: 20261120T000000Z-000000 is not known; its plan is not in the results bucket",
        ),
    ],
)
def test_an_impossible_resume_is_refused_and_nothing_is_written(world, fields, sentence):
    before = dict(world.bucket.objects)

    with pytest.raises(Refused) as refusal:
        resume(world, **fields)

    assert str(refusal.value).startswith(sentence)
    assert world.bucket.objects == before


def test_a_resume_of_a_run_without_missing_trials_is_refused_and_its_outcome_stays(world):
    world.bucket.write(OUTCOME, b"{}")
    record(world, 1)
    record(world, 2)

    sentence, outcome = refused(world, "second", {"suite": "rocksdb", "run": RUN})

    assert sentence == f"run: {RUN} has no missing trial; every trial is recorded"
    assert outcome["run_id"] != RUN
    assert world.bucket.objects[OUTCOME] == b"{}"


def test_a_resume_after_an_edit_of_the_log_queries_is_refused(world):
    started = start(world, "first", {"suite": "rocksdb", "tasks": 1})["run_id"]
    key = f"runs/{started}/plan.json"
    plan = Plan.model_validate_json(world.bucket.read(key))
    assert plan.queries_digest == queries_digest(packed_suites()["rocksdb"])
    edited = plan.model_copy(update={"queries_digest": "0"})
    world.bucket.write(key, edited.model_dump_json().encode())

    assert refused(world, "second", {"suite": "rocksdb", "run": started})[0] == (
        f"run: the log queries of rocksdb were edited after {started} began, so that its other "
        "trials would be read in another way; start a new run"
    )


def test_a_resume_of_another_suites_run_is_refused(world, plan):
    world.store(plan, request=plan.request.model_copy(update={"suite": "x"}))

    assert refused(world, "second", {"suite": "rocksdb", "run": RUN})[0] == (
        f"run: {RUN} is a run of x, not of rocksdb"
    )


def without_profiler(plan):
    """Return the suites of a deployment that has no profiler."""
    return {"rocksdb": plan.suite.model_copy(update={"profiler": None})}


def test_a_resume_of_a_run_with_profiles_is_refused_where_no_suite_has_a_profiler(
    world, plan, monkeypatch
):
    world.store(plan, profiled=plan.trials[:1])
    bare = without_profiler(plan)["rocksdb"]
    keeps = bare.tests[0].model_copy(update={"artefacts": (Artefact(file="*.folded"),)})
    deployed = bare.model_copy(update={"tests": (keeps,)})
    monkeypatch.setattr(plan_run, "packed_suites", lambda: {"rocksdb": deployed})

    sentence, _ = refused(world, "second", {"suite": "rocksdb", "run": RUN})

    assert sentence.startswith(f"run: {RUN} has profiled trials, and no suite of this deployment")


def refused_until_deployed(world, plan, monkeypatch, **of_a_test):
    """Return the refusal of a resume whose plan has more in a test than any deployed suite."""
    suite = world.store(plan, of_a_test).suite
    sentence, _ = refused(world, "second", {"suite": "rocksdb", "run": RUN})
    monkeypatch.setattr(plan_run, "packed_suites", lambda: {"rocksdb": suite})
    assert resume(world)["run_id"] == RUN
    return sentence


def test_a_resume_of_a_run_that_keeps_files_is_refused_where_no_suite_keeps_some(
    world, plan, monkeypatch
):
    declared = (Artefact(file="*.folded"),)
    monkeypatch.setattr(plan_run, "packed_suites", lambda: without_profiler(plan))

    sentence = refused_until_deployed(world, plan, monkeypatch, artefacts=declared)

    assert sentence.startswith(f"run: {RUN} keeps files that its tasks leave, and no suite of this")


def test_a_resume_of_a_run_that_calls_functions_is_refused_where_no_suite_calls_them(
    world, plan, monkeypatch
):
    load = Step(name="load", run_tasks=RunTasks())
    reset = Step(name="reset", invoke=Invoke(function="kiwi-reset"))

    sentence = refused_until_deployed(world, plan, monkeypatch, steps=(load, reset))

    assert sentence.startswith(f"run: {RUN} calls kiwi-reset, and no suite of this deployment does")


@pytest.mark.parametrize(
    ("released", "measured"), [([], ["9.8.4", "9.7.3"]), (["9.0.0", "8.8.1"], ["9.0.0", "8.8.1"])]
)
def test_newest_and_previous_come_from_release_pipelines_or_else_from_the_suite_file(
    world, released, measured
):
    world.releases.by_suite = {"rocksdb": released}

    planned = start(world, "first", {"suite": "rocksdb", "versions": ["newest", "previous"]})

    plan = world.json(f"runs/{planned['run_id']}/plan.json")
    assert plan["request"]["versions"] == measured


def test_a_schedule_that_delivers_twice_starts_one_run_and_the_second_names_the_first(world):
    first = start(world, "first", SCHEDULED)
    before = dict(world.bucket.objects)

    second = start(world, "second", SCHEDULED)

    assert first["run_id"].startswith("20261120T120000Z-")
    assert (first["started_by"], second["started_by"]) == (None, arn("first"))
    assert second["run_id"] == first["run_id"]
    assert world.bucket.objects == before


def test_a_second_delivery_starts_nothing_after_the_end_of_the_first(world):
    first = start(world, "first", SCHEDULED)
    conclude(world, "first", SCHEDULED, first["run_id"])
    before = dict(world.bucket.objects)

    assert start(world, "second", SCHEDULED)["started_by"] == arn("first")
    assert world.bucket.objects == before


def test_a_second_delivery_that_overtakes_the_plan_of_the_first_starts_nothing(world):
    planned = start(world, "first", SCHEDULED)
    world.bucket.delete(f"runs/{planned['run_id']}/plan.json")

    assert start(world, "second", SCHEDULED)["started_by"] == arn("first")


def test_two_deliveries_at_once_start_one_run(world):
    """The first plans and ends its run right after the second has found no run."""
    take = claims.take

    def overtaken(bucket, suite, claim):
        monkeypatch.setattr(claims, "take", take)
        planned = start(world, "first", SCHEDULED)
        conclude(world, "first", SCHEDULED, planned["run_id"])
        return take(bucket, suite, claim)

    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(claims, "take", overtaken)
        sentence, outcome = refused(world, "second", SCHEDULED)

    assert "was already started by" in sentence
    assert outcome["status"] == "rejected"
    assert not list(claims.all_held(world.bucket))


@pytest.mark.parametrize("scheduled_at", ["2099-01-01T00:00:00Z", "2026-11-14T08:59:59Z"])
def test_a_run_scheduled_for_a_distant_time_is_refused(world, scheduled_at):
    sentence, _ = refused(world, "first", {**SCHEDULED, "scheduled_at": scheduled_at})

    time = f"{scheduled_at[:10]} {scheduled_at[11:19]} UTC"
    assert sentence == (
        f"scheduled_at: {time} is not accepted; expected a time from "
        "2026-11-14 09:00:00 UTC to 2026-11-22 09:00:00 UTC"
    )


@pytest.mark.parametrize("scheduled_at", ["2026-11-14T09:00:00Z", "2026-11-22T09:00:00Z"])
def test_the_first_and_the_last_accepted_times_of_a_schedule_are_accepted(world, scheduled_at):
    assert start(world, "first", {**SCHEDULED, "scheduled_at": scheduled_at})


def test_the_next_scheduled_start_is_another_run(world):
    first = start(world, "first", SCHEDULED)
    conclude(world, "first", SCHEDULED, first["run_id"])

    second = start(world, "second", {**SCHEDULED, "scheduled_at": "2026-11-21T12:00:00Z"})

    assert second["run_id"] != first["run_id"]


EXECUTION = {
    "execution_arn": "arn:aws:states:eu-west-2:1:execution:Run:by-hand",
    "execution_name": "by-hand",
    "started_at": "2026-11-20T12:44:55.123Z",
}
texts = st.text(st.characters(), max_size=10) | st.sampled_from(
    ["rocksdb", "9.0.0", "9.0.0\n", "９.0.0", "../x", "$(x)", "\ud800", "\0", "x" * 100_000]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
inputs = values | st.fixed_dictionaries(
    {"suite": st.just("rocksdb") | texts},
    optional={name: values for name in RunRequest.model_fields if name != "suite"}
    | {"versions": st.lists(texts, max_size=2), "repetitions": st.integers(-1, 101)},
)


@pytest.mark.usefixtures("packed")
@fuzz(200)
@given(execution_input=inputs)
def test_any_input_is_planned_or_refused_with_only_an_outcome(world, execution_input):
    world.bucket.objects.clear()
    try:
        planned = world.call(plan_run, {**EXECUTION, "input": execution_input})
    except Refused as refused:
        cause = json.dumps({"errorMessage": str(refused), "errorType": type(refused).__name__})
    else:
        claim, key = sorted(world.bucket.objects)
        assert claim == "claims/rocksdb.json"
        plan = Plan.model_validate_json(world.bucket.objects[key])
        assert (key, len(plan.trials)) == (f"runs/{plan.run_id}/plan.json", planned["trials"])
        return
    assert world.bucket.objects == {}
    ended = world.call(
        record_outcome,
        {
            **EXECUTION,
            "run_id": None,
            "now": "2026-11-20T12:44:56.000Z",
            "input": execution_input,
            "failure": {"Error": "Refused", "Cause": cause},
        },
    )
    assert ended["status"] == "rejected"
    assert ended["reason"] == json.loads(cause)["errorMessage"]
    assert list(world.bucket.objects) == [f"runs/{ended['run_id']}/outcome.json"]
