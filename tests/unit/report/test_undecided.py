"""The advice of a run's report for metrics without a verdict."""

import pytest

from tests.plans import RUN
from tests.unit.measured_runs import measured, planned, with_values
from tidemark.model.exclusions import NONE
from tidemark.report.markdown import markdown
from tidemark.report.run_report.contents import report
from tidemark.report.run_report.measured import measured_run
from tidemark.report.run_report.undecided import advice
from tidemark.store.stored_run import StoredRun

BOTH = ("9.0.0", "9.8.4")
STEADY = [1000.0, 1001.0, 999.0, 1000.0, 1000.0]
SCATTERED = [1000.0, 1100.0, 900.0, 1000.0, 1000.0]
WILD = [1000.0, 1900.0, 100.0, 1000.0, 900.0, 1500.0, 300.0, 1000.0]


def run_of(*rates, versions=BOTH, trials=None, **more):
    """Return a run with these rates of both tests, by version and repetition."""
    plan = planned(versions, repetitions=len(rates[0]), **more)
    recorded = [
        with_values(with_values(trial, "ingest", [rate]), "compaction", [rate])
        for trial in measured(plan)[:trials]
        for rate in [rates[versions.index(trial.version)][trial.repetition - 1]]
    ]
    return measured_run(StoredRun(plan, recorded, NONE, []))


def test_a_run_with_too_few_pairs_is_measured_again_with_five_repetitions():
    run = run_of([1000.0], [1000.0])

    command = "tidemark run rocksdb --versions 9.0.0,9.8.4 --repetitions 5"
    assert advice(run) == f"Measure again, with about 5 repetitions: {command}"
    assert f"5 repetitions: {command}\n" in markdown(report(run))


def test_pairs_that_scatter_have_the_number_of_repetitions_that_tells():
    text = advice(run_of(SCATTERED, [1060.0, 1000.0, 990.0, 1000.0, 1010.0]))

    assert text.startswith("Measure again, with about 27 repetitions, which would give a verdict ")
    assert text.endswith(" --repetitions 27")


def test_longer_tests_are_the_advice_if_no_number_of_repetitions_tells():
    text = advice(run_of(WILD, WILD[::-1]))

    assert " and records 2,000,000, because 100 repetitions of such short tests would give" in text
    assert text.endswith("--set records=2000000")


def test_a_run_until_decided_is_repeated_until_decided():
    text = advice(run_of(WILD, WILD[::-1], trials=2 * len(WILD), until="decided"))

    assert " --versions 9.0.0,9.8.4 --baseline 9.0.0 --until decided --repetitions 8 " in text


def test_missing_trials_come_first():
    run = run_of(STEADY, STEADY, trials=4)

    assert advice(run) == f"Measure the missing trials: tidemark run --resume {RUN}"


@pytest.mark.parametrize("share", [1.0, 0.8])
def test_a_run_with_a_verdict_on_every_metric_has_no_advice(share):
    assert advice(run_of(STEADY, [share * rate for rate in STEADY])) == ""


def test_a_run_of_one_version_has_no_advice():
    assert advice(run_of(STEADY, versions=BOTH[:1])) == ""
