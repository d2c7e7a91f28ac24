"""Profiled trials: they follow all others, leave profiles, and count in no figure."""

import gzip
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.plans import DATABASES, EXECUTION, RUN, plan_of, system_of, with_axes
from tests.unit.fakes import FakeBucket, FakeMetrics
from tests.unit.measured_runs import failed, measured
from tidemark.figures.trial_status import trial_result
from tidemark.model.profile import PROFILE_FILE
from tidemark.model.refusal import Refused
from tidemark.model.run_spec import RunSpec
from tidemark.model.task import KeptFile
from tidemark.money.budget import Spent
from tidemark.report.run_report.publishing import publish_report
from tidemark.run.choose_trial import ChooseTrialEvent, choose
from tidemark.run.prepare_trial import prepare
from tidemark.run.record_rates import record_rates
from tidemark.run.record_trial import RecordTrialEvent, record_trial
from tidemark.run.run_outcome import planned_outcome
from tidemark.store import keys
from tidemark.store.run_ends import record_end
from tidemark.store.stored_profile import read_profiles, read_stacks

VERSIONS = ["8.8.1", "9.8.4"]
STACKS = b"main;rocksdb::Add 30\nmain;rocksdb::Next 10\n"
# Without a time, so that a case has the same name in every process.
PACKED = gzip.compress(STACKS, mtime=0)
ENDED = datetime(2026, 11, 20, 14, tzinfo=UTC)
SYSTEM = system_of("rocksdb")


def plan(**fields):
    return plan_of({"versions": VERSIONS, "repetitions": 5, "profile": True, **fields})


def profiled_results(of):
    """Return the results of a plan's profiled trials, with rates that no figure may have."""
    trials = measured(of.model_copy(update={"trials": of.profiled}))
    return [
        trial.model_copy(update={"tests": tuple(map(with_records, trial.tests))})
        for trial in trials
    ]


def with_records(test):
    rates = tuple(rate.model_copy(update={"value": 1.0, "records": 400_000}) for rate in test.rates)
    file = KeptFile(task=0, name=PROFILE_FILE, size=1, sha256="0" * 64)
    return test.model_copy(update={"rates": rates, "artefacts": (file,)})


def stored(of, trials=(), left=STACKS):
    """Return a bucket with a plan, recorded trials, and a file that each profiled task left."""
    bucket = FakeBucket({keys.plan(RUN): of.model_dump_json().encode()})
    for trial in trials:
        bucket.write(keys.trial(RUN, trial.trial), trial.model_dump_json().encode())
    for trial in of.profiled:
        for test in of.suite.tests:
            key = keys.artefact(RUN, trial.trial, test.name, 0, PROFILE_FILE)
            bucket.write(key, left)
    return bucket


def recorded(bucket, trial):
    """Record a profiled trial as its state does; return its result and what was sent of it."""
    for test in trial.tests:
        key = keys.measured(RUN, trial.trial, test.test)
        bucket.write(key, test.model_dump_json().encode())
    metrics = FakeMetrics()
    event = RecordTrialEvent(run_id=RUN, trial=trial.trial, failure=None)
    return record_trial(bucket, metrics, event), metrics


def test_each_version_has_five_profiled_trials_in_turns_behind_all_others():
    made = plan()

    assert [trial.trial for trial in made.trials] == list(range(1, 11))
    assert [trial.trial for trial in made.profiled] == list(range(901, 911))
    assert Counter(trial.version for trial in made.profiled) == dict.fromkeys(VERSIONS, 5)
    pairs = [made.profiled[n : n + 2] for n in range(0, 10, 2)]
    assert all({trial.version for trial in pair} == set(VERSIONS) for pair in pairs)
    assert (made.request.most_trials, made.request.all_trials) == (10, 20)
    assert plan(profile=False).profiled == plan(profile=None).profiled == ()


def test_the_frequency_and_the_number_of_profiled_trials_may_be_given():
    made = plan(profile={"hz": 250, "trials": 2})

    assert (made.request.profile.hz, len(made.profiled)) == (250, 4)
    assert RunSpec.model_validate_json(made.request.model_dump_json()) == made.request


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"profile": {"hz": 0}}, "profile.hz: 0 is not accepted; expected 1 or more"),
        ({"profile": {"hz": 1001}}, "profile.hz: 1001 is not accepted; expected 1,?000 or less"),
        ({"profile": {"Hz": 99}}, "profile.Hz: unknown field; known are hz, trials"),
        ({"profile": 99}, 'profile: 99 is not accepted; expected true or {"hz": 99}'),
        (
            {"versions": [
                "7.4.4", "7.7.3", "8.0.0", "8.1.1", "8.5.3", "8.6.7", "8.8.1", "8.10.0", "9.0.0",
            ], "profile": {"trials": 12}},
            "profile.trials: 9 versions have 108 profiled trials; one run has at most 99",
        ),
        (
            {"versions": None, "repetitions": None,
             "bisect": {"base": "8.8.1", "new": "9.8.4", "metric": "ingest_rate"}},
            "profile: not accepted with bisect; profile two versions in a run of their own",
        ),
    ],
)  # fmt: skip
def test_a_profile_that_is_not_possible_is_refused_by_name(fields, sentence):
    given = {key: value for key, value in fields.items() if value is not None}
    base = {} if "bisect" in given else {"versions": VERSIONS, "repetitions": 1}
    with pytest.raises(Refused, match=sentence):
        plan_of({**base, "profile": True, **given})


def test_a_suite_without_a_profiler_has_no_profile():
    suite = with_axes({}).model_copy(update={"profiler": None})

    with pytest.raises(Refused, match="profile: rocksdb has no profiler; leave it out, or add "):
        plan_of({"profile": True}, suite=suite)


def test_a_suite_with_axes_has_profiles_of_its_one_default_combination():
    suite = with_axes(DATABASES)
    defaults = suite.defaults.model_copy(update={"axes": {"database": ("mariadb",)}})
    one = suite.model_copy(update={"defaults": defaults})

    several = "rocksdb has axes of more than one combination by default, .*; leave it out"
    with pytest.raises(Refused, match=several):
        plan_of({"profile": True}, suite=suite)
    with pytest.raises(Refused, match="profiles of its default axes alone; leave axes out"):
        plan_of({"profile": True, "axes": {"database": ["postgresql"]}}, suite=one)
    made = plan_of({"profile": True, "versions": VERSIONS}, suite=one)
    assert [trial.axes for trial in made.profiled] == [{"database": "mariadb"}] * 10


def test_profiled_trials_are_chosen_once_all_others_are_recorded():
    made = plan()
    trials, profiled = measured(made), profiled_results(made)

    def chosen(done):
        event = ChooseTrialEvent(run_id=RUN, execution_arn=EXECUTION)
        return [each.trial for each in choose(stored(made, done), event).rounds]

    assert chosen(trials[:-1]) == [10]
    assert chosen(trials) == [901]
    assert chosen([*trials, *profiled[:3]]) == [904]
    assert chosen([*trials, *profiled]) == []


def test_a_budget_covers_profiled_trials_too():
    made = plan()
    trials, profiled = measured(made), profiled_results(made)
    event = ChooseTrialEvent(run_id=RUN, execution_arn=EXECUTION, budget_usd=1000.0)

    before = choose(stored(made, trials), event).spent
    after = choose(stored(made, [*trials, *profiled]), event.model_copy(update={"spent": before}))

    assert before.trials == tuple(range(1, 11))
    assert after.spent.trials == (*range(1, 11), *range(901, 911))
    assert after.spent.usd == pytest.approx(2 * before.usd)
    short = event.model_copy(update={"spent": Spent(), "budget_usd": before.usd})
    assert "10 of 20 trials" in choose(stored(made, trials), short).cut_short


def test_only_profiled_trials_have_a_profiler():
    made = plan()

    def variables(trial):
        prepared = prepare(made, [trial], SYSTEM, "bucket")
        return [{one["Name"]: one["Value"] for one in test.environment} for test in prepared.tests]

    assert all("TIDEMARK_PROFILER" not in found for found in variables(made.trials[0]))
    for found in variables(made.profiled[0]):
        assert found["TIDEMARK_PROFILER"] == "async-profiler"
        assert found["TIDEMARK_PROFILE_HZ"] == "99"


@pytest.mark.parametrize("left", [STACKS, PACKED])
def test_a_profiled_trial_stores_the_stacks_of_each_test_with_the_cpu_time_of_records(left):
    made = plan()
    trial = profiled_results(made)[0]
    bucket = stored(made, left=left)

    result, metrics = recorded(bucket, trial)
    repeated, _ = recorded(bucket, trial)

    profiles = read_profiles(bucket, "rocksdb")
    assert repeated == result
    assert [(each.run, each.trial) for each in profiles] == [(RUN, trial.trial)] * 2
    assert {each.test for each in profiles} == {"ingest", "compaction"}
    assert {each.version for each in profiles} == {trial.version}
    for each in profiles:
        assert read_stacks(bucket, each) == {"main;rocksdb::Add": 30, "main;rocksdb::Next": 10}
        assert each.seconds == pytest.approx(40 / 99 / 0.4)
    assert metrics.sent == []
    assert keys.trial(RUN, trial.trial) == f"runs/{RUN}/profiled/{trial.trial}.json"


def test_the_tasks_of_a_test_are_added_up():
    made = plan()
    trial = profiled_results(made)[0]
    ingest, compaction = trial.tests
    second = replace(ingest.tasks[0], index=1)
    both = tuple(KeptFile(task=task, name=PROFILE_FILE, size=1, sha256="0" * 64) for task in (0, 1))
    more = {"tasks": (*ingest.tasks, second), "artefacts": both}
    bucket = stored(made)
    bucket.write(keys.artefact(RUN, trial.trial, "ingest", 1, PROFILE_FILE), b"main;other 2\n")

    tests = (ingest.model_copy(update=more), compaction)
    recorded(bucket, trial.model_copy(update={"tests": tests}))

    (profile,) = [each for each in read_profiles(bucket, "rocksdb") if each.test == "ingest"]
    assert profile.samples == 42


def served(of, left):
    """Return the result of a profiled trial whose tests have a service, and what that left."""
    trial = profiled_results(of)[0]
    both = tuple(KeptFile(task=task, name=PROFILE_FILE, size=1, sha256="0" * 64) for task in (0, 1))
    tests = tuple(
        test.model_copy(
            update={
                "tasks": (*test.tasks, replace(test.tasks[0], index=1, service="server")),
                "artefacts": both if left else both[:1],
            }
        )
        for test in trial.tests
    )
    bucket = stored(of)
    for test in tests:
        bucket.write(keys.artefact(RUN, trial.trial, test.test, 1, PROFILE_FILE), left)
    return bucket, trial.model_copy(update={"tests": tests})


def test_the_name_of_a_service_is_the_outermost_frame_of_its_stacks():
    bucket, trial = served(plan(), b"main (serve.py);answer (views.py) 5\n")

    recorded(bucket, trial)

    assert read_stacks(bucket, read_profiles(bucket, "rocksdb")[0]) == {
        "main;rocksdb::Add": 30,
        "main;rocksdb::Next": 10,
        "service server;main (serve.py);answer (views.py)": 5,
    }


@pytest.mark.parametrize(
    ("left", "why"),
    [
        (b"", "service server left no profile; its log may say why"),
        (
            b"main;a\n",
            "the profile of service server cannot be read: line 1: 'main;a' is not a stack",
        ),
    ],
)
def test_a_service_without_a_profile_fails_the_profile_and_not_the_trial(left, why):
    bucket, trial = served(plan(), left)

    result, _ = recorded(bucket, trial)

    assert result.status == "ok"
    assert all(why in test.artefact_notes[-1] for test in result.tests)
    assert not list(bucket.keys("profiles/"))


@pytest.mark.parametrize(
    ("left", "why"),
    [
        (b"", "it has no samples"),
        (PACKED[:-9], "the profile of task 0 cannot be read: its gzip ends too early"),
        (STACKS[:-3], "the profile of task 0 cannot be read: line 2: the file ends within it"),
        (b"main;parse\n", "the profile of task 0 cannot be read: line 1: 'main;parse' is not"),
        (None, "task 0 left no profile; its log may say why"),
    ],
)  # fmt: skip
def test_a_profile_that_cannot_be_read_fails_itself_and_not_the_trial(left, why):
    made = plan()
    trial = profiled_results(made)[0]
    if left is None:
        tests = tuple(test.model_copy(update={"artefacts": ()}) for test in trial.tests)
        trial = trial.model_copy(update={"tests": tests})
    bucket = stored(made, left=left or b"")

    result, _ = recorded(bucket, trial)

    assert result.status == "ok"
    notes = [note for test in result.tests for note in test.artefact_notes]
    assert len(notes) == 2
    assert all(note.startswith(f"no profile is stored: {why}") for note in notes)
    assert not list(bucket.keys("profiles/")) + list(bucket.keys("tables/"))


def test_a_task_that_dies_leaves_a_sentence_and_no_profile():
    made = plan()
    trial = failed(profiled_results(made)[0])
    bucket = stored(made)

    result, _ = recorded(bucket, trial)

    assert [test.artefact_notes[-1] for test in result.tests] == [
        "no profile is stored: the test is failed",
        "no profile is stored: the test is skipped",
    ]
    assert not list(bucket.keys("profiles/"))


def written(bucket, made, trials):
    """Write all that a run publishes; return every object with a figure by its key."""
    record_rates(bucket, RUN)
    publish_report(bucket, RUN)
    outcome = planned_outcome(made, trials, set(), EXECUTION, ENDED)
    assert record_end(bucket, made, trials, outcome, None).status == "complete"
    prefixes = ("tables/", "history/", "versions/", "reports/")
    figures = {key: bucket.objects[key] for prefix in prefixes for key in bucket.keys(prefix)}
    return {key: body for key, body in figures.items() if "/runs/" not in key}


def test_no_rate_verdict_history_or_report_has_a_figure_of_a_profiled_trial():
    # All figures of profiled trials are 1 record/s here: one of them would change every mean.
    made = plan(baseline="8.8.1")
    trials = measured(made)

    alone = written(stored(made, trials), made, trials)
    both = written(stored(made, [*trials, *profiled_results(made)]), made, trials)

    assert {key.split("/")[1] for key in alone if key.startswith("tables/")} == {
        "changes", "rates", "task_rates", "task_usage", "latest_rates", "version_rates", "verdicts",
    }  # fmt: skip
    same = [key for key in alone if "report." not in key]
    assert any("against" in key for key in same)
    assert {key: both[key] for key in same} == {key: alone[key] for key in same}


def test_the_run_is_complete_and_costs_what_its_profiled_trials_cost_too():
    made = plan()
    trials, profiled = measured(made), profiled_results(made)

    def row(done):
        bucket = stored(made, done)
        written(bucket, made, trials)
        return gzip.decompress(bucket.objects[keys.table("runs", "rocksdb", RUN)]).decode()

    assert '"trials_planned": 10, "trials_done": 10' in row([*trials, *profiled])
    assert row(trials) != row([*trials, *profiled])


def test_a_lost_profiled_trial_is_recorded_where_no_reader_of_rates_looks():
    made = plan()
    trials = measured(made)
    bucket = stored(made, trials)
    lost = {"trial": 901, "failure": {"Error": "States.Timeout", "Cause": ""}}

    event = ChooseTrialEvent(run_id=RUN, execution_arn=EXECUTION, lost=[lost])
    assert choose(bucket, event).rounds[0].trial == 902

    assert list(bucket.keys(keys.profiled_trials(RUN))) == [keys.trial(RUN, 901)]
    assert len(list(bucket.keys(keys.trials(RUN)))) == 10


def test_a_trial_result_keeps_the_number_of_its_profiled_trial():
    made = plan()

    assert trial_result(made, made.profiled[0], {}, "lost").trial == 901
