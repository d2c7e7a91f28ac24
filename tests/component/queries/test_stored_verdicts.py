"""The verdicts that people and programs read, against those that the stored trials give."""

import pytest

from tests.component.cloud.twelve_versions import Tables
from tests.plans import EXECUTION, RUN, STARTED
from tests.unit.measured_runs import left_out
from tests.unit.run.test_choose_trial import BASE, NEW, OTHER, Measuring
from tidemark.dashboard.data_sets import read_data_set, read_rows
from tidemark.figures.verdicts.version_verdicts import verdicts, version_pairs
from tidemark.model.plan import Resume
from tidemark.model.version_order import NEWEST, PREVIOUS
from tidemark.report.comparison.document import document
from tidemark.report.comparison.sides import sides
from tidemark.report.run_report.measured import measured_run
from tidemark.run.record_rates import record_rates
from tidemark.store import keys
from tidemark.store.run_ends import record_run
from tidemark.store.stored_plan import read_plan
from tidemark.store.stored_run import read_run

NAMES = ("test", "metric", "base", "new")
KINDS = {
    "verdict": "STRING", "reason": "STRING", "low": "DECIMAL", "high": "DECIMAL",
    "change": "DECIMAL",
}  # fmt: skip


def decided():
    run = Measuring({NEW: 0, OTHER: 0.2})
    run.go_on()
    return run


def ended_by_a_budget_and_resumed():
    run = Measuring({NEW: 0, OTHER: 0.2})
    run.go_on(most=9)
    assert run.choose(budget_usd=0.001).cut_short
    resumed(run)
    run.go_on()
    return run


def killed():
    run = Measuring({NEW: 0, OTHER: 0.2})
    run.go_on(most=13)
    run.bucket.delete(keys.work(RUN))
    run.go_on()
    return run


def planned_and_resumed():
    run = Measuring({NEW: 0, OTHER: 0.2}, until=None, repetitions=8)
    run.go_on(most=11)
    resumed(run)
    run.go_on()
    return run


def with_an_excluded_trial():
    run = Measuring({NEW: 0, OTHER: 0.2})
    run.go_on(most=6)
    (exclusion,) = left_out(4, "busy")._decisions.values()
    run.bucket.write(keys.exclusion(RUN, 4), exclusion.model_dump_json().encode())
    run.go_on()
    return run


def searched():
    run = Measuring({NEW: 0.2, OTHER: 0.2}, bisect={"base": BASE, "new": OTHER, "metric": METRIC})
    run.go_on()
    return run


METRIC = "ingest_rate"
RUNS = (
    decided,
    ended_by_a_budget_and_resumed,
    killed,
    planned_and_resumed,
    with_an_excluded_trial,
    searched,
)


def resumed(run):
    by_hand = Resume(execution_arn=EXECUTION, started_at=STARTED, trigger="cli", note="")
    run.bucket.write(keys.resume(RUN, "by-hand"), by_hand.model_dump_json().encode())


@pytest.fixture(scope="module")
def buckets():
    """Return the bucket of each run with its tables."""
    made = {make.__name__: make() for make in RUNS}
    for run in made.values():
        record_rates(run.bucket, RUN)
        outcome = run.outcome()
        run.bucket.write(keys.outcome(RUN), outcome.model_dump_json().encode())
        record_run(run.bucket, run.plan, run.stored.trials, outcome)
    return {name: run.bucket for name, run in made.items()}


@pytest.fixture(scope="module")
def data_set():
    """Return the data set of verdicts as the dashboard's definition declares it."""
    return read_data_set("version_pairs")


def recomputed(run):
    """Return the verdicts that a run's stored trials give, by test, metric, base and version."""
    return {
        (each.quantity.test, each.quantity.metric.name, base, version): (
            each.judgement.word,
            each.judgement.reason,
            each.judgement.low,
            each.judgement.high,
            each.change,
        )
        for base, version in version_pairs(run.plan)
        for each in verdicts(run, base, version)
    }


def test_the_page_and_the_data_set_of_quicksight_have_the_verdicts_of_the_stored_trials(
    buckets, data_set
):
    # One statement reads all runs, each as that of a suite of its own.
    tables = {
        key.replace("suite=rocksdb", f"suite={name}"): bucket.read(key)
        for name, bucket in buckets.items()
        for key in bucket.keys("tables/")
    }
    # The page asks for these columns of the statement that QuickSight asks for.
    page = read_rows(Tables(tables, ",".join(buckets)), data_set, ["suite", *NAMES, *KINDS])
    rows = page.rows

    assert page.left_out == []

    # Rows of the words newest and previous repeat the rows of the versions that they stand for.
    of_versions = [row for row in rows if not {NEWEST, PREVIOUS, "base"} & {*row}]
    for name, bucket in buckets.items():
        found = {tuple(row[1:5]): tuple(row[5:]) for row in of_versions if row[0] == name}
        assert found == recomputed(read_run(bucket, read_plan(bucket, RUN)))
        assert "slower" in {word for word, *_ in found.values()}
        run = read_plan(bucket, RUN)
        newest = run.ascending[-1]
        against_base = [
            row for row in rows if row[0] == name and tuple(row[3:5]) == ("base", NEWEST)
        ]
        assert against_base
        for row in against_base:
            assert tuple(row[5:]) == found[(*row[1:3], run.bases[newest], newest)]


@pytest.mark.parametrize("name", [make.__name__ for make in RUNS])
def test_a_comparison_for_programs_has_the_verdicts_of_the_stored_trials(buckets, name):
    run = read_run(buckets[name], read_plan(buckets[name], RUN))

    found = {
        (metric.test, metric.name, base, new): (
            metric.verdict, metric.reason, metric.low, metric.high, metric.change,
        )
        for base, new in version_pairs(run.plan)
        for metric in document(sides((run, base), (run, new))).metrics
    }  # fmt: skip
    assert found == recomputed(run)


@pytest.mark.parametrize("name", [make.__name__ for make in RUNS])
def test_the_table_of_a_run_has_the_verdicts_of_the_stored_trials(buckets, name):
    run = read_run(buckets[name], read_plan(buckets[name], RUN))
    bases = run.plan.bases

    measured = measured_run(run)
    found = {
        (quantity.test, quantity.metric.name, base, version): (
            judged.word, judged.reason, judged.low, judged.high, verdict.change,
        )
        for quantity in measured.quantities for version, base in bases.items()
        for verdict in [measured.verdict(base, version, quantity)]
        for judged in [verdict.judgement]
    }  # fmt: skip
    assert found
    assert found == {names: told for names, told in recomputed(run).items() if names in found}
    assert {base for _, _, base, _ in found} <= {*bases.values()}


def test_quicksight_reads_each_part_of_a_verdict_with_its_type(data_set):
    assert {name: data_set.columns[name] for name in KINDS} == KINDS
