"""The verdicts that QuickSight reads, against the verdicts that the stored trials give."""

import pytest

from tests.checks.conformance.local_engine import LocalEngine
from tests.plans import RUN
from tests.unit.measured_runs import left_out
from tests.unit.run.test_next_trial import BASE, NEW, OTHER, Measuring
from tidemark.dashboard.definition import data_sets, read_definition
from tidemark.figures.verdicts.version_verdicts import verdicts, version_pairs
from tidemark.store import keys
from tidemark.store.run_objects import each_trial, read_exclusions
from tidemark.store.stored_plan import read_plan
from tidemark.store.tables import record_rates

KINDS = {
    "verdict": "STRING", "reason": "STRING", "low": "DECIMAL", "high": "DECIMAL",
    "change": "DECIMAL",
}  # fmt: skip


@pytest.fixture(scope="module")
def run():
    """Return a run until decided, with a trial that a user excluded, and its tables."""
    run = Measuring({NEW: 0, OTHER: 0.2})
    run.go_on(most=6)
    (exclusion,) = left_out(4, "busy")._decisions.values()
    run.bucket.write(keys.exclusion(RUN, 4), exclusion.model_dump_json().encode())
    run.go_on()
    record_rates(run.bucket, RUN)
    return run


@pytest.fixture(scope="module")
def data_set():
    """Return the data set of verdicts as the dashboard's definition declares it."""
    return data_sets(read_definition())["version_pairs"]


def recomputed(bucket):
    """Return the verdicts that a run's stored trials give, by test, metric, base and version."""
    plan, exclusions = read_plan(bucket, RUN), read_exclusions(bucket, RUN)
    trials = list(each_trial(bucket, RUN))
    return {
        (each.quantity.test, each.quantity.metric.name, base, version): (
            each.judgement.word,
            each.judgement.reason,
            each.judgement.low,
            each.judgement.high,
            each.change,
        )
        for base, version in version_pairs(plan)
        for each in verdicts(plan, trials, exclusions, base, version, resumed=False)
    }


def test_the_data_set_of_quicksight_has_the_verdicts_of_the_stored_trials(run, data_set):
    tables = {key: run.bucket.read(key) for key in run.bucket.keys("tables/")}
    columns, rows = LocalEngine(tables).ask(data_set.within("tidemark"))
    named = [dict(zip([name for name, _ in columns], row, strict=True)) for row in rows]

    read = {
        (row["test"], row["metric"], row["base"], row["new"]): tuple(row[name] for name in KINDS)
        for row in named
        if {row["base"], row["new"]} <= {BASE, NEW, OTHER}
    }
    assert read == recomputed(run.bucket)
    assert {word for word, *_ in read.values()} == {"slower", "same", "cannot tell"}


def test_quicksight_reads_each_part_of_a_verdict_with_its_type(data_set):
    assert {name: data_set.columns[name] for name in KINDS} == KINDS
