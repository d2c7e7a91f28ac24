"""The figures of a run's versions, against those that its rates plainly give."""

import json
from datetime import date

import pytest

from tests.checks.conformance.figures import version_rates_of
from tests.plans import DATABASES, plan_of, with_axes
from tests.unit import two_of_everything
from tests.unit.fakes import FakeBucket
from tests.unit.measured_runs import failed, ingest_of, left_out, measured, planned
from tidemark.model.checkout import ROOT
from tidemark.model.plan import Import
from tidemark.model.publication import find_publication
from tidemark.model.results import NO_EXCLUSIONS
from tidemark.run.record_rates import record_rates
from tidemark.store import keys
from tidemark.store.imported_run import ImportedFigure, Release, write_release
from tidemark.store.rows import rate_rows, run_row
from tidemark.store.stored_plan import read_plan
from tidemark.store.stored_run import StoredRun, read_run
from tidemark.store.version_rows import judged_against_bases, verdict_rows, version_rate_rows

RUN = "20261120T124455Z-abcdef"


def with_a_baseline():
    plan = planned(["8.8.1", "9.0.0", "9.8.4"], baseline="9.0.0")
    return StoredRun(plan, measured(plan), NO_EXCLUSIONS, [])


def with_an_excluded_and_a_failed_trial():
    plan = planned(["9.0.0", "9.8.4"], repetitions=4)
    first, *others = measured(plan)
    return StoredRun(plan, [failed(first), *others], left_out(3, "noisy"), [])


def under_two_databases():
    plan = plan_of({"versions": ["9.0.0", "9.8.4"]}, suite=with_axes(DATABASES))
    return StoredRun(plan, measured(plan), NO_EXCLUSIONS, [])


def with_a_canary():
    suite = with_axes({}).model_copy(update={"canary": "8.8.1"})
    plan = plan_of({"versions": ["9.0.0", "9.8.4"]}, suite=suite)
    return StoredRun(plan, measured(plan), NO_EXCLUSIONS, [])


def imported():
    of_suite = find_publication(ROOT, "sleeper")
    texts = {"ingest_rate": "136000", "compaction_rate": "0"}
    figures = [
        ImportedFigure(of_suite.metric(name), text, float(text), None, 1)
        for name, text in texts.items()
    ]
    origin = Import(file="page.md", line=1, source="", imported_on=date(2026, 11, 23))
    release = Release("0.15.0", date(2023, 3, 30), 0, figures, origin)
    bucket = FakeBucket()
    return read_run(bucket, read_plan(bucket, write_release(bucket, "sleeper", "Sleeper", release)))


RUNS = {
    "with a baseline": with_a_baseline,
    "with an excluded and a failed trial": with_an_excluded_and_a_failed_trial,
    "under two databases": under_two_databases,
    "with a canary": with_a_canary,
    "imported": imported,
    **{
        f"of two suites, {number}": lambda run=run: run
        for number, run in enumerate(two_of_everything.stored_runs())
    },
}


@pytest.mark.parametrize("name", RUNS)
def test_the_figures_of_versions_are_those_that_their_rates_give(name):
    run = RUNS[name]()
    rates = list(rate_rows(run.plan, run.trials, run.exclusions))
    row = run_row(run.plan, run.trials, "complete", "", run.plan.started_at)

    found = list(version_rate_rows(run, judged_against_bases(run)))

    expected = version_rates_of(rates, [row])
    counted = [each for each in found if each["trials"]]
    assert expected
    assert sorted(
        ({column: each[column] for column in expected[0]} for each in counted), key=str
    ) == sorted(expected, key=str)
    assert {each["mean"] for each in found if not each["trials"]} <= {None}


@pytest.mark.parametrize("name", [name for name in RUNS if name != "imported"])
def test_a_version_has_the_verdict_against_its_base_that_the_table_of_verdicts_has(name):
    run = RUNS[name]()
    columns = ("test", "metric", "statistic", "labels", "version")
    judged = ("verdict", "reason", "effect", "low", "high")
    stored = {
        (*(row[each] for each in columns), row["baseline"]): [row[each] for each in judged]
        for row in verdict_rows(run)
    }

    for row in version_rate_rows(run, judged_against_bases(run)):
        told = stored.get((*(row[each] for each in columns), row["base"]), [None] * 5)
        assert [row[each] for each in judged] == told


def test_a_spread_that_overflows_is_not_known_and_leaves_the_row_readable():
    plan = planned(["9.8.4"], repetitions=2)
    trials = ingest_of(plan, {"9.8.4": [1e200, 2e200]})
    run = StoredRun(plan, trials, NO_EXCLUSIONS, [])

    (row,) = [row for row in version_rate_rows(run, {}) if row["test"] == "ingest"]

    assert (row["mean"], row["stddev"]) == (1.5e200, None)
    assert json.loads(json.dumps(row, allow_nan=False)) == row


def test_an_exclusion_changes_the_stored_figures_of_its_version_when_they_are_recorded_again():
    plan = planned(["9.0.0", "9.8.4"])
    bucket = FakeBucket()
    bucket.write(keys.plan(RUN), plan.model_dump_json().encode())
    for trial in measured(plan):
        bucket.write(keys.trial(RUN, trial.trial), trial.model_dump_json().encode())
    key = keys.table("version_rates", "rocksdb", RUN)
    record_rates(bucket, RUN)
    before = bucket.read(key)

    (exclusion,) = left_out(1, "busy")._decisions.values()
    bucket.write(keys.exclusion(RUN, 1), exclusion.model_dump_json().encode())
    record_rates(bucket, RUN)

    assert bucket.read(key) != before
    bucket.delete(keys.exclusion(RUN, 1))
    record_rates(bucket, RUN)
    assert bucket.read(key) == before
