import pytest

from tests.plans import naming, rocksdb
from tests.refusals import refused
from tidemark.model.checkout import ROOT
from tidemark.model.refusal import Refused
from tidemark.model.request import check_account, check_one_machine, resolve_request
from tidemark.model.run_size import MOST_RUN_ENTRIES, entries
from tidemark.model.sentences import listed
from tidemark.model.steps import Invoke, RunTasks, Step, WaitUntil
from tidemark.model.subject import Subject
from tidemark.model.suite_files import read_suites

SUITES = {**read_suites(), "rocksdb": rocksdb()}
BISECT = {"base": "8.8.1", "new": "9.8.4", "metric": "ingest_rate"}


def test_missing_fields_take_the_defaults_of_the_suite():
    spec = resolve_request({"suite": "rocksdb"}, SUITES)

    assert spec.versions == ("8.8.1", "9.8.4")
    assert (spec.repetitions, spec.baseline, spec.trigger) == (12, None, "console")


def test_requested_values_are_kept():
    fields = {
        "suite": "rocksdb",
        "versions": ["9.0.0", "8.8.1"],
        "baseline": "8.8.1",
        "repetitions": 7,
        "tasks": 2,
        "records": 5000,
        "note": "why",
        "trigger": "cli",
        "scheduled_at": "2026-11-20T12:44:55Z",
        "budget_usd": 0.25,
        "until": "decided",
    }

    spec = resolve_request(fields, SUITES)

    others = {name: value for name, value in fields.items() if name not in {"tasks", "records"}}
    assert spec.model_dump(mode="json") == {
        **others,
        "builds": {},
        "parameters": {"tasks": 2, "records": 5000},
    }


def test_a_run_until_decided_has_a_baseline_and_as_many_repetitions_as_fit():
    spec = resolve_request({"suite": "rocksdb", "until": "decided"}, SUITES)
    assert (spec.baseline, spec.repetitions, spec.most_trials) == ("8.8.1", 100, 320)

    of_fifty = resolve_request({"suite": "rocksdb", "until": "decided", "tasks": 50}, SUITES)
    assert of_fifty.repetitions == 17  # 155 trials of 6,450 entries are less than a million

    versions = list(SUITES["rocksdb"].subject.versions)
    all_versions = {"suite": "rocksdb", "until": "decided", "versions": versions}
    spec = resolve_request(all_versions, SUITES)
    assert (spec.baseline, spec.repetitions, spec.most_trials) == ("7.4.4", 21, 891)


def test_a_run_until_decided_without_a_known_oldest_version_needs_a_baseline():
    builds = {f"9.8.4+{n * 8}": f"file:///x.whl#sha256={n * 64}" for n in "01"}
    fields = {"suite": "rocksdb", "until": "decided", "versions": [*builds], "builds": builds}

    assert refused(resolve_request, fields, SUITES) == (
        "baseline: the order of 9.8.4+00000000, 9.8.4+11111111 is not known; name the version that "
        "others are compared with"
    )
    assert resolve_request({**fields, "baseline": "9.8.4+11111111"}, SUITES).baseline


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"decides": False}, "until: no metric of rocksdb decides; expected decides: true of one"),
        (
            {"labels": ("file",)},
            "until: metrics of rocksdb that decide have labels, which are known only after a "
            "trial: ingest_rate, compaction_rate; leave out until, or decides: true",
        ),
    ],
)
def test_a_run_until_decided_needs_metrics_whose_number_is_known(changed, sentence):
    suite = SUITES["rocksdb"]
    tests = tuple(
        test.model_copy(
            update={"metrics": tuple(each.model_copy(update=changed) for each in test.metrics)}
        )
        for test in suite.tests
    )
    suites = {"rocksdb": suite.model_copy(update={"tests": tests})}

    assert refused(resolve_request, {"suite": "rocksdb", "until": "decided"}, suites) == sentence


def test_a_stored_request_is_accepted_as_the_input_of_another_run():
    spec = resolve_request({"suite": "rocksdb", "records": 5000}, SUITES)

    assert resolve_request(spec.model_dump(mode="json"), SUITES) == spec


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ("rocksdb", 'input: expected an object such as {"suite": "rocksdb"}'),
        ({}, "suite: required, but missing"),
        (
            {"suite": "leveldb"},
            "suite: 'leveldb' is not known; there are clickhouse, deltalake, kiwi, "
            "rocksdb, rocksdbjni, sleeper",
        ),
        (
            {"suite": "rocksdb", "repetition": 3},
            "repetition: unknown field; known are suite, versions, instance, builds, slowed, "
            "baseline, repetitions, until, within_seconds, keep_going, bisect, layout, parallel, "
            "profile, parameters, tests, axes, tasks, records, budget_usd and 3 more; did you mean "
            "'repetitions'?",
        ),
        (
            {"suite": "rocksdb", "until": "decided", "versions": ["9.0.0"]},
            "until: 9.0.0 alone has no verdict; name two versions or more",
        ),
        (
            {"suite": "rocksdb", "until": "decided", "repetitions": 4},
            "repetitions: 4 are too few to decide a verdict; expected 5 or more",
        ),
        (
            {"suite": "rocksdb", "until": "bored"},
            "until: 'bored' is not accepted; expected 'decided'",
        ),
        (
            {"suite": "rocksdb", "versions": []},
            "versions: [] is not accepted; expected a list of 1 entries or more",
        ),
        (
            {"suite": "rocksdb", "versions": ["8.8.1", "9.0.0", "9.0.0"]},
            "versions: 9.0.0 is given twice; name each version once, or measure one beside itself "
            "with `tidemark calibrate`",
        ),
        (
            {"suite": "rocksdb", "versions": ['9.0" | filter 1']},
            "versions: '9.0\" | filter 1' is not a version of RocksDB; expected the form of 9.8.4",
        ),
        (
            {"suite": "rocksdb", "versions": ["../x"]},
            "versions: '../x' is not a version of RocksDB; expected the form of 9.8.4",
        ),
        (
            {"suite": "rocksdb", "versions": ["9.0.0\n"]},
            "versions: '9.0.0\\n' is not a version of RocksDB; expected the form of 9.8.4",
        ),
        (
            {"suite": "rocksdb", "versions": ["9.9.9"]},
            "versions: 9.9.9 has no release in the suite of RocksDB; there are "
            "7.4.4, 7.7.3, 8.0.0, 8.1.1, 8.5.3, 8.6.7, 8.8.1, 8.10.0, 9.0.0, 9.7.3, 9.8.4",
        ),
        (
            {"suite": "rocksdb", "builds": {"1+0": "file:///x.whl"}},
            "builds.1+0: 'file:///x.whl' is not accepted; expected the file:// URL of a wheel or "
            "of a folder of jars with #sha256= and its digest",
        ),
        (
            {"suite": "rocksdb", "builds": {"1+0": f"file:///x.whl#sha256={'0' * 64}"}},
            "builds: 1+0 is not measured; there are 8.8.1, 9.8.4",
        ),
        (
            {
                "suite": "rocksdb",
                "versions": ["9.8.4"],
                "builds": {"9.8.4": f"file:///x.whl#sha256={'0' * 64}"},
            },
            "builds: 9.8.4 is the name of a release; expected a name such as 1.4.0+1a2b3c4d, which "
            "the suite does not list",
        ),
        (
            {"suite": "rocksdb", "baseline": "7.4.4"},
            "baseline: '7.4.4' is not measured in this run; expected one of 8.8.1, 9.8.4",
        ),
        (
            {"suite": "rocksdb", "repetitions": 0},
            "repetitions: 0 is not accepted; expected 1 or more",
        ),
        (
            {"suite": "rocksdb", "repetitions": 100000},
            "repetitions: 100000 is not accepted; expected 100 or less",
        ),
        (
            {"suite": "rocksdb", "records": 10_000_001},
            "records: 10000001 is not accepted; expected a whole number from 1 to 10,000,000",
        ),
        (
            {"suite": "rocksdb", "parameters": {"records": 0}},
            "parameters.records: 0 is not accepted; expected a whole number from 1 to 10,000,000",
        ),
        (
            {"suite": "rocksdb", "parameters": {"records": True}},
            "parameters.records: True is not accepted; expected a whole number from 1 to "
            "10,000,000",
        ),
        (
            {"suite": "rocksdb", "parameters": {"record": 1}},
            "parameters: rocksdb has no 'record'; there are records, tasks; "
            "did you mean 'records'?",
        ),
        (
            {"suite": "rockdb"},
            "suite: 'rockdb' is not known; there are clickhouse, deltalake, kiwi, "
            "rocksdb, rocksdbjni, sleeper; "
            "did you mean 'rocksdb'?",
        ),
        (
            {"suite": "rocksdb", "bisect": {**BISECT, "metric": "ingest_rat"}},
            "bisect.metric: 'ingest_rat' decides no run of rocksdb; there are ingest_rate, "
            "compaction_rate; did you mean 'ingest_rate'?",
        ),
        (
            {"suite": "rocksdb", "records": 1, "parameters": {"records": 1}},
            "records: the parameter is given twice, here and in parameters",
        ),
        (
            {
                "suite": "rocksdb",
                "versions": list(SUITES["rocksdb"].subject.versions),
                "repetitions": 90,
            },
            "repetitions: 90 of 11 versions are 990 trials; one run has at most 900",
        ),
        (
            {"suite": "rocksdb", "tasks": True},
            "tasks: True is not accepted; expected a whole number",
        ),
        (
            {"suite": "rocksdb", "budget_usd": 0},
            "budget_usd: 0 is not accepted; expected a number above 0",
        ),
        (
            {"suite": "rocksdb", "budget_usd": "1"},
            "budget_usd: '1' is not accepted; expected a number",
        ),
        (
            {"suite": "rocksdb", "budget_usd": float("nan")},
            "budget_usd: nan is not accepted; expected a finite number",
        ),
        (
            {"suite": "rocksdb", "budget_usd": float("inf")},
            "budget_usd: inf is not accepted; expected a finite number",
        ),
        (
            {"suite": "rocksdb", "records": "many"},
            "records: 'many' is not accepted; expected a whole number",
        ),
        (
            {"suite": "rocksdb", "note": "two\nlines"},
            "note: 'two\\nlines' is not accepted; expected a text of one line without control "
            "characters",
        ),
        (
            {"suite": "rocksdb", "bisect": {**BISECT, "base": "eight"}},
            "bisect.base: rocksdb lists no 'eight'; there are "
            f"{listed(read_suites()['rocksdb'].subject.versions)}",
        ),
        (
            {"suite": "rocksdb", "bisect": {**BISECT, "new": "8.6.7"}},
            "bisect.new: 8.6.7 does not follow 8.8.1; expected a newer version",
        ),
        (
            {"suite": "rocksdb", "bisect": {**BISECT, "new": "8.8.1"}},
            "bisect.new: '8.8.1' is also the base; expected a newer version",
        ),
        (
            {"suite": "rocksdb", "bisect": {**BISECT, "metric": "speed"}},
            "bisect.metric: 'speed' decides no run of rocksdb; there are ingest_rate, "
            "compaction_rate",
        ),
        (
            {"suite": "rocksdb", "bisect": {"base": "8.8.1", "new": "9.8.4"}},
            "bisect.metric: required, but missing",
        ),
        (
            {"suite": "rocksdb", "bisect": BISECT, "versions": ["9.8.4"], "until": "decided"},
            "bisect: the search takes the place of versions, until; leave them out",
        ),
        (
            {"suite": "rocksdb", "trigger": "me"},
            "trigger: 'me' is not accepted; expected 'console', 'schedule' or 'cli'",
        ),
    ],
)
def test_a_bad_input_is_refused_in_one_sentence_that_names_its_field(fields, sentence):
    assert refused(resolve_request, fields, SUITES) == sentence


def test_a_long_value_is_shortened_in_its_refusal():
    assert len(refused(resolve_request, {"suite": "rocksdb", "note": "x" * 1000}, SUITES)) < 160


def test_steps_that_wait_too_often_for_the_history_of_a_trial_are_refused():
    wait = WaitUntil(query="failures")
    waits = (Step(name=f"wait_{number}", wait_until=wait) for number in range(9))
    steps = (Step(name="load", run_tasks=RunTasks()), *waits)
    ingest = SUITES["rocksdb"].test("ingest").model_copy(update={"steps": steps})
    suite = SUITES["rocksdb"].model_copy(update={"tests": (ingest,)})

    assert refused(resolve_request, {"suite": "rocksdb"}, {"rocksdb": suite}).endswith(
        "may take 30061 events; the history of a trial holds 24900"
    )


def test_steps_that_run_too_many_tasks_together_are_refused():
    steps = tuple(Step(name=name, run_tasks=RunTasks()) for name in ("load", "compact"))
    ingest = SUITES["rocksdb"].test("ingest").model_copy(update={"steps": steps})
    suite = SUITES["rocksdb"].model_copy(update={"tests": (ingest,)})

    assert resolve_request({"suite": "rocksdb", "tasks": 100}, {"rocksdb": suite}).tasks == 100
    assert refused(resolve_request, {"suite": "rocksdb", "tasks": 101}, {"rocksdb": suite}) == (
        "tasks: the steps of ingest run 202 tasks together; a test has at most 200"
    )


def test_as_many_tasks_as_a_trials_history_holds_are_accepted():
    assert resolve_request({"suite": "rocksdb", "tasks": 200}, SUITES).tasks == 200


def test_a_request_whose_trials_may_exceed_their_history_is_refused():
    suite = SUITES["rocksdb"]
    third = suite.tests[0].model_copy(update={"name": "third"})
    long = suite.model_copy(update={"tests": (*suite.tests, third)})

    assert refused(resolve_request, {"suite": "rocksdb", "tasks": 200}, {"rocksdb": long}) == (
        "tasks: 200 tasks of 3 tests may take 36210 events; the history of a trial holds 24900"
    )


def test_the_largest_run_that_the_functions_can_hold_is_accepted():
    spec = resolve_request({"suite": "rocksdb", "repetitions": 38, "tasks": 100}, SUITES)

    assert 2 * spec.repetitions * entries(SUITES["rocksdb"], 100) <= MOST_RUN_ENTRIES


def test_a_run_that_the_functions_cannot_hold_is_refused_with_its_numbers():
    assert refused(
        resolve_request, {"suite": "rocksdb", "repetitions": 39, "tasks": 100}, SUITES
    ) == (
        "repetitions: 78 trials of 100 tasks may keep 1,006,200 values, files and minutes of "
        "usage; one run has at most 1,000,000, enough for 77 such trials"
    )


def test_profiled_trials_take_room_in_the_functions():
    fields = {"suite": "rocksdb", "repetitions": 38, "tasks": 100, "profile": {"trials": 1}}

    assert refused(resolve_request, fields, SUITES) == (
        "repetitions: 78 trials of 100 tasks may keep 1,006,200 values, files and minutes of "
        "usage; one run has at most 1,000,000, enough for 77 such trials"
    )


def test_a_trial_that_the_functions_cannot_hold_is_refused_with_its_numbers():
    suite = SUITES["rocksdb"]
    metric = (
        suite.tests[0]
        .metrics[0]
        .model_copy(
            update={
                "values": "any",
                "values_at_most": 9_999,
                "statistics": ("mean", "p50", "p90", "p95", "p99"),
            }
        )
    )
    metrics = (metric, metric.model_copy(update={"name": "latency"}))
    wide = suite.model_copy(
        update={"tests": (suite.tests[0].model_copy(update={"metrics": metrics}),)}
    )

    assert refused(
        resolve_request, {"suite": "rocksdb", "repetitions": 1, "tasks": 1}, {"rocksdb": wide}
    ) == (
        "tasks: 1 task of 1 test may keep 100,051 values, files and minutes of usage; one trial "
        "has at most 100,000"
    )


def any_values(most):
    """Return RocksDB's suite whose tasks log any number of values, and two figures of them."""
    suite = SUITES["rocksdb"]
    changed = {"values": "any", "values_at_most": most, "statistics": ("mean", "p99")}
    metric = suite.tests[1].metrics[0].model_copy(update=changed)
    test = suite.tests[1].model_copy(update={"metrics": (metric,), "slices": None})
    defaults = suite.defaults.model_copy(update={"layout": "trials"})
    return suite.model_copy(update={"tests": (test,), "defaults": defaults})


@pytest.mark.parametrize(
    "fields",
    [
        {"versions": ["8.8.1", "9.0.0", "9.8.4"], "until": "decided"},
        {"bisect": {"base": "8.8.1", "new": "9.8.4", "metric": "compaction_rate"}},
    ],
)
def test_a_suite_of_any_number_of_values_is_measured_until_decided(fields):
    spec = resolve_request({"suite": "rocksdb", **fields}, {"rocksdb": any_values(1_000)})

    assert spec.until == "decided"
    assert spec.repetitions >= 60


def test_a_run_of_too_many_values_is_refused_with_the_bound_that_makes_room():
    fields = {"suite": "rocksdb", "versions": ["8.8.1", "9.8.4"], "until": "decided"}
    with pytest.raises(Refused, match="; a lower values_at_most of compaction_rate makes room for"):
        resolve_request(fields, {"rocksdb": any_values(9_999)})


def test_newest_and_previous_are_the_last_two_of_the_suites_versions():
    fields = {"suite": "rocksdb", "versions": ["previous", "8.0.0", "newest"], "baseline": "newest"}

    spec = resolve_request(fields, SUITES)

    assert (spec.versions, spec.baseline) == (("9.7.3", "8.0.0", "9.8.4"), "9.8.4")


def test_newest_and_previous_are_taken_from_the_released_versions():
    fields = {"suite": "rocksdb", "versions": ["newest", "previous"]}

    spec = resolve_request(fields, SUITES, lambda _: ["8.8.1", "8.10.0", "8.0.0", "8.10.0"])

    assert spec.versions == ("8.10.0", "8.8.1")


def test_released_versions_are_not_read_if_every_version_is_named():
    resolve_request(
        {"suite": "rocksdb", "versions": ["9.0.0"]}, SUITES, lambda _: pytest.fail("read")
    )


@pytest.mark.parametrize(
    ("versions", "released", "sentence"),
    [
        (
            ["newest", "previous"],
            ["9.8.4"],
            "versions: RocksDB has no previous version; 9.8.4 is the only one",
        ),
        (["newest"], [], "versions: RocksDB has no newest version; none is listed"),
        (
            ["newest"],
            ["9.8.4", "10.0.0"],
            "versions: the newest version of RocksDB is '10.0.0', which its suite does not have; "
            f"there are {', '.join(SUITES['rocksdb'].subject.versions)}",
        ),
        (
            ["newest", "9.8.4"],
            ["9.8.4", "9.7.3"],
            "versions: 9.8.4 is given twice, newest is 9.8.4; name each version once, or measure "
            "one beside itself with `tidemark calibrate`",
        ),
    ],
)
def test_an_unusable_newest_or_previous_version_is_refused(versions, released, sentence):
    assert (
        refused(
            resolve_request, {"suite": "rocksdb", "versions": versions}, SUITES, lambda _: released
        )
        == sentence
    )


@pytest.mark.parametrize(
    "value", ["yesterday", "2026-11-20T12:44:55", "2026-13-20T12:44:55Z", 1763640000, ""]
)
def test_a_scheduled_time_that_is_no_time_in_utc_is_refused(value):
    with pytest.raises(Refused, match=r"^scheduled_at: "):
        resolve_request({"suite": "rocksdb", "scheduled_at": value}, SUITES)


def of_images(form=".*"):
    subject = Subject(image="ghcr.io/x/rocksdb:{version}", form=form)
    return SUITES["rocksdb"].model_copy(update={"subject": subject})


def of_jars():
    subject = Subject(folder="~/kiwi", advice="build it", form=r"\d{1,3}\.\d{1,3}\.\d{1,3}")
    return SUITES["rocksdb"].model_copy(update={"subject": subject})


def calling(subject=SUITES["rocksdb"].subject):
    """Return the suite with a step that calls a function."""
    suite = SUITES["rocksdb"]
    load = Step(name="load", run_tasks=RunTasks())
    reset = Step(name="reset", invoke=Invoke(function="kiwi-reset"))
    test = suite.tests[0].model_copy(update={"steps": (load, reset)})
    return suite.model_copy(update={"tests": (test,), "subject": subject})


def with_containers():
    served = read_suites(ROOT / "images")["mattermost"]
    return served.model_copy(update={"subject": SUITES["rocksdb"].subject})


@pytest.mark.parametrize(
    ("check", "suite", "sentence"),
    [
        (
            check_one_machine,
            calling(),
            "suite: steps of rocksdb call kiwi-reset, and one machine has no functions of a system "
            "under test; measure it with --aws, or leave these steps out",
        ),
        (
            check_one_machine,
            of_images(),
            "suite: the subject of rocksdb is an image of each version, and one machine runs no "
            "images; measure it with --aws, or write a subject with package or prepare",
        ),
        (
            check_one_machine,
            with_containers(),
            "suite: server of mattermost has containers of images, and one machine runs no images; "
            "measure it with --aws",
        ),
        (
            check_account,
            of_jars(),
            "suite: the versions of rocksdb are jars in ~/kiwi of a machine, and an account has no "
            "such folder; measure it without --aws",
        ),
    ],
)
def test_a_suite_that_a_place_cannot_measure_is_refused_there(check, suite, sentence):
    assert refused(check, suite) == sentence


def test_a_place_accepts_the_suites_that_it_can_measure():
    instance = {"objects": ["s3://kiwi-{instance}/config"], "version": "kiwi.version"}
    for suite in (SUITES["rocksdb"], of_jars(), calling(Subject(instance=instance, form=".*"))):
        check_one_machine(suite)
    for suite in (SUITES["rocksdb"], of_images()):
        check_account(suite)


@pytest.mark.parametrize(
    ("subject", "url", "expected"),
    [
        (of_jars().subject, f"file:///home/you/x.whl#sha256={'0' * 64}", "a folder"),
        (SUITES["rocksdb"].subject, f"file:///home/you/x/#sha256={'0' * 64}", "a wheel"),
    ],
)
def test_a_build_of_another_kind_of_subject_is_refused(subject, url, expected):
    suite = SUITES["rocksdb"].model_copy(update={"subject": subject})
    fields = {"suite": "rocksdb", "versions": ["9.8.4+1"], "builds": {"9.8.4+1": url}}

    with pytest.raises(Refused, match=rf"^builds\.9\.8\.4\+1: .* expected {expected}$"):
        resolve_request(fields, {"rocksdb": suite})


def test_a_version_that_no_tag_can_hold_is_refused():
    request = {"suite": "rocksdb", "versions": ["1.0+x"]}

    with pytest.raises(Refused, match=r"^versions: '1\.0\+x' is not a tag of an image; "):
        resolve_request(request, {"rocksdb": of_images()})


def test_a_search_goes_up_to_the_newest_version_by_that_word():
    fields = {"suite": "rocksdb", "bisect": {**BISECT, "new": "newest"}}

    spec = resolve_request(fields, SUITES)

    subject = SUITES["rocksdb"].subject
    newest = max(subject.versions, key=subject.version_order)
    assert spec.bisect.versions[-1] == spec.versions[-1] == newest


def test_a_search_from_a_branch_to_a_release_is_refused_because_their_order_is_not_known():
    suites = {"rocksdb": naming(["main", "0.9", "1.0"])}
    search = {"base": "main", "new": "1.0", "metric": "ingest_rate"}

    with pytest.raises(Refused, match=r"^bisect\.new: the order of main, 1\.0 is not known"):
        resolve_request({"suite": "rocksdb", "bisect": search}, suites)
