"""Rounds and trials: how a run measures its versions."""

import pytest

from tests.refusals import refused
from tidemark.model.profile import with_profile
from tidemark.model.request import resolve_request
from tidemark.model.run_spec import released, requirement
from tidemark.model.suite_files import read_suites

SUITES = read_suites()


def layout(suite="rocksdb", **fields):
    return resolve_request({"suite": suite, **fields}, SUITES).layout


def test_a_run_has_the_layout_of_its_suite_unless_it_names_one():
    assert layout() == "rounds"
    assert layout(layout="trials") == "trials"
    assert layout("kiwi") == "trials"


def test_more_versions_than_a_task_holds_are_measured_in_trials_unless_rounds_are_asked_for():
    versions = list(SUITES["rocksdb"].subject.versions)

    assert layout(versions=versions[:6]) == "rounds"
    assert layout(versions=versions[:7]) == "trials"


def test_a_suite_in_rounds_has_a_job_for_each_slice():
    suite = SUITES["rocksdb"]

    def jobs(layout):
        return [test.jobs for test in suite.measured_by(layout, (), {}).tests]

    assert jobs("trials") == [2, 5]
    assert jobs("rounds") == [5, 5]


def test_a_run_may_measure_some_of_the_tests_in_the_order_of_the_suite():
    suite = SUITES["kiwi"]
    some = resolve_request({"suite": "kiwi", "tests": ["bounded", "api_baseline"]}, SUITES)
    every = resolve_request({"suite": "kiwi", "tests": [each.name for each in suite.tests]}, SUITES)

    assert some.tests == ("api_baseline", "bounded")
    assert [test.name for test in some.measured(suite).tests] == ["api_baseline", "bounded"]
    assert every == resolve_request({"suite": "kiwi"}, SUITES)


def test_a_version_logs_some_metrics_once_in_a_round_and_for_each_job_of_a_trial():
    ingest = {
        layout: SUITES["rocksdb"].measured_by(layout, (), {}).test("ingest")
        for layout in ("rounds", "trials")
    }
    # A profiled trial of a run in rounds measures one version.
    ingest["profiled"] = with_profile(ingest["rounds"])

    values = {
        layout: [metric.values_of(test.jobs) for metric in test.metrics]
        for layout, test in ingest.items()
    }
    assert values == {
        "rounds": [1, 5, 1, 5], "trials": [2, 2, 2, 2], "profiled": [5, 5, 5, 5],
    }  # fmt: skip


def test_a_run_that_names_no_end_goes_on_until_decided_within_the_time_of_its_suite():
    default = resolve_request({"suite": "rocksdb"}, SUITES)
    fixed = resolve_request({"suite": "rocksdb", "repetitions": 3}, SUITES)
    alone = resolve_request({"suite": "rocksdb", "versions": ["9.8.4"]}, SUITES)
    endless = resolve_request({"suite": "rocksdb", "until": "decided"}, SUITES)

    assert (default.until, default.within_seconds, default.baseline) == ("decided", 180, "8.8.1")
    assert (fixed.until, fixed.repetitions) == (None, 3)
    assert (alone.until, alone.repetitions) == (None, 12)
    assert (endless.until, endless.within_seconds) == ("decided", None)


def test_a_limit_of_time_is_that_of_five_repetitions_at_least():
    run = resolve_request({"suite": "rocksdb"}, SUITES)

    assert run.trials_within(trial_seconds=60) == 2 * 5
    assert run.trials_within(trial_seconds=4.5) == 2 * 20
    assert run.trials_within(trial_seconds=0.001) == run.most_trials


def test_a_limit_of_time_has_room_for_whole_batches_of_rounds():
    run = resolve_request({"suite": "rocksdb", "parallel": 6}, SUITES)

    assert run.trials_in_batches(round_seconds=100) == 2 * 2 * 6  # the second begins before 180 s
    assert run.trials_in_batches(round_seconds=180) == 2 * 6


def test_each_trial_of_the_layout_trials_takes_a_time_of_its_own():
    fields = {"suite": "rocksdb", "layout": "trials", "until": "decided", "within_seconds": 3600}
    run = resolve_request({**fields, "versions": ["8.8.1", "9.0.0", "9.8.4"]}, SUITES)

    assert run.trials_in_batches(round_seconds=60) == 3 * 20


def test_a_version_may_be_measured_beside_itself_slowed():
    run = resolve_request({"suite": "rocksdb", "versions": ["9.8.4"], "slowed": [0, 5]}, SUITES)

    assert run.versions == ("9.8.4", "9.8.4+slow.0", "9.8.4+slow.5")
    assert run.baseline == "9.8.4"
    assert {released(run, version) for version in run.versions} == {"9.8.4"}
    assert {requirement(run, SUITES["rocksdb"], each) for each in run.versions} == {
        "rocksdict==0.3.29"
    }


@pytest.mark.parametrize("layout", ["rounds", "trials"])
def test_a_version_that_is_given_twice_is_measured_beside_itself(layout):
    fields = {"suite": "rocksdb", "versions": ["9.8.4", "9.8.4"], "layout": layout}
    run = resolve_request(fields, SUITES)

    assert run.versions == ("9.8.4", "9.8.4+slow.0")
    assert (run.baseline, run.slowed, run.until) == ("9.8.4", {"9.8.4+slow.0": 0}, "decided")


TWICE = {"versions": ["9.8.4", "9.8.4"]}
SLOWED = {"versions": ["9.8.4"], "slowed": [5]}


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        (
            {"versions": list(SUITES["rocksdb"].subject.versions)[:7], "layout": "rounds"},
            "layout: 7 versions are too many for one task; expected ",
        ),
        (
            {"suite": "kiwi", "layout": "rounds"},
            "layout: versions cannot take turns in api_baseline, bounded, unbounded of kiwi; ",
        ),
        (
            {"tests": ["ingests"]},
            "tests: rocksdb has no 'ingests'; there are ingest, compaction; did ",
        ),
        ({"tests": ["ingest", "ingest"]}, "tests: a test is given twice in ingest, ingest"),
        (
            {"within_seconds": 60, "repetitions": 5},
            "within_seconds: only a run until decided has such a limit",
        ),
        (
            {"layout": "trials", "parallel": 2},
            "parallel: trials of one version follow each other; ",
        ),
        ({"versions": 3 * ["9.8.4"]}, "versions: 9.8.4 is given twice"),
        ({**TWICE, "baseline": "9.0.0"}, "versions: 9.8.4 is given twice"),
        (
            {**SLOWED, "versions": ["9.0.0", "9.8.4"]},
            "slowed: expected one version, without a baseline",
        ),
        ({**SLOWED, "slowed": [5, 5]}, "slowed: a percentage is given twice in 5, 5"),
        (
            {**SLOWED, "layout": "trials"},
            "slowed: a run of rocksdb in trials cannot slow a version; "
            "expected 0, or layout rounds and a suite that may have it",
        ),
    ],
)
def test_a_layout_that_no_run_can_have_is_refused_by_its_field(fields, sentence):
    assert refused(resolve_request, {"suite": "rocksdb", **fields}, SUITES).startswith(sentence)
