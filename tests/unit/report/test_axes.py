"""A run under two values of an axis in the tables, verdicts, report and comparison."""

import pytest

from tests.plans import DATABASES, plan_of, with_axes
from tests.unit.fakes import FakeMetrics
from tests.unit.measured_runs import (
    failed,
    left_out,
    measured,
    planned,
    row,
    with_ingest,
    with_values,
)
from tidemark.cli import live
from tidemark.figures.trial_status import trial_result
from tidemark.model.results import NO_EXCLUSIONS
from tidemark.report.comparison.contents import comparison
from tidemark.report.comparison.document import document
from tidemark.report.comparison.sides import sides
from tidemark.report.markdown import markdown
from tidemark.report.run_report.measured import measured_run
from tidemark.report.run_report.publishing import report
from tidemark.run import record_trial
from tidemark.store.rows import rate_rows, sample_rows
from tidemark.store.stored_run import StoredRun
from tidemark.store.version_rows import verdict_rows

BOTH = ["9.0.0", "9.8.4"]
POSTGRESQL, MARIADB = ('{"database": "postgresql"}', '{"database": "mariadb"}')


def ingested(trial):
    """Return a trial whose ingest is slower with 9.8.4 on MariaDB, and twice as slow there."""
    on_mariadb = trial.axes["database"] == "mariadb"
    slower = 0.8 if on_mariadb and trial.version == "9.8.4" else 1.0
    rate = 1000.0 * slower * (0.5 if on_mariadb else 1.0)
    return with_values(trial, "ingest", [rate + trial.repetition])


def run_of(repetitions=6, name="20261120T124455Z-abcdef", **fields):
    fields = {"versions": BOTH, "repetitions": repetitions, "tasks": 1, **fields}
    plan = plan_of(fields, suite=with_axes(DATABASES), name=name)
    return StoredRun(plan, [ingested(trial) for trial in measured(plan)], NO_EXCLUSIONS, [])


@pytest.fixture(scope="module")
def run():
    return run_of()


@pytest.fixture(scope="module")
def text(run):
    return markdown(report(measured_run(run)))


def test_an_axis_is_a_label_of_every_rate_and_sample_beside_the_labels_of_its_metric(run):
    trial = run.trials[0]
    (rate,) = trial.tests[0].rates
    own = rate.model_copy(update={"labels": {"operation": "create"}})
    tests = {"ingest": trial.tests[0].model_copy(update={"rates": (own,), "samples": ()})}

    result = trial_result(run.plan, run.plan.trials[0], tests, "")

    assert result.axes == {"database": "postgresql"}
    assert result.tests[0].rates[0].labels == {"database": "postgresql", "operation": "create"}
    assert {each["labels"] for each in rate_rows(run.plan, run.trials)} == {POSTGRESQL, MARIADB}
    assert {each["labels"] for each in sample_rows(run.trials)} == {POSTGRESQL, MARIADB}


def test_each_value_has_a_verdict_and_a_cost_of_its_own_pairs(run):
    rows = [each for each in verdict_rows(run) if each["test"] == "ingest"]

    assert {each["labels"]: each["verdict"] for each in rows} == {
        POSTGRESQL: "same", MARIADB: "slower",
    }  # fmt: skip
    # Twelve trials of two tests of five seconds each; the metrics of both tests share the alarms.
    assert [each["machine_seconds"] for each in rows] == [12 * 2 * 5.0] * 2
    assert [each["family"] for each in rows] == [4, 4]


def test_an_excluded_trial_drops_the_pair_of_its_own_values_alone(run):
    less = StoredRun(run.plan, run.trials, left_out(1, "the machine was busy"), [])

    pairs = {each["labels"]: each["pairs"] for each in verdict_rows(less)}

    assert pairs == {POSTGRESQL: 5, MARIADB: 6}


def test_a_metric_without_labels_of_its_own_decides_under_each_value(run):
    found = document(sides((run, "9.0.0"), (run, "9.8.4")))

    assert [(each.name, each.verdict, each.decides) for each in found.metrics[:2]] == [
        ("ingest_rate {database: postgresql}", "same", True),
        ("ingest_rate {database: mariadb}", "slower", True),
    ]


def test_a_trial_without_a_rate_keeps_its_axes(run):
    lost = [failed(run.trials[0])]

    rows = list(rate_rows(run.plan, lost))

    assert {(each["labels"], each["value"]) for each in rows} == {(POSTGRESQL, None)}
    alone = measured_run(StoredRun(run.plan, lost, NO_EXCLUSIONS, []))
    assert [each.labels for each in alone.quantities] == [POSTGRESQL, MARIADB] * 2


def test_the_report_shows_each_value_as_a_label(text):
    version = "9.8.4 against 9.0.0"
    assert "each measured 6 × for each database (postgresql, mariadb): " in text
    assert f"{version}: ▼ 1 slower, = 3 same." in text
    assert "- ▼ slower: ingest_rate {database: mariadb}, −19.86 % (95 % interval " in text
    assert row(text, "Axis database")[1] == "postgresql, mariadb"
    table = text.partition("## ingest_rate: 2 by label and statistic\n")[2].partition("\n## ")[0]
    assert row(table, "mariadb", "9.8.4")[6] == "6 of 6"
    # Samples of the other value are not in a chart and its table.
    charts = table.split("**Every sample")[1:]
    assert [sum(line.endswith(" yes |") for line in each.splitlines()) for each in charts] == [
        12
    ] * 2
    assert "## compaction {database: mariadb} over time\n" in text


def test_the_table_of_trials_has_a_column_for_an_axis(run, text):
    table = text.partition("## Trials\n")[2].partition("\n## ")[0]
    header = next(line for line in table.splitlines() if line.startswith("| Trial "))

    assert header.startswith("| Trial | Version | database | Repetition | Status | ingest_rate")
    first = run.trials[0]
    assert row(table, "1", first.version, "postgresql", "1", "ok")[5] == "1,001.0"


def test_progress_and_troubles_name_the_axes_of_a_trial(run):
    assert live._trial_line(run.trials[0], run.plan).startswith(
        f"trial 1 of 24  {run.trials[0].version:>8}  ingest_rate {{database: postgresql}} 1,001.0 "
    )
    first = failed(run.trials[0])
    assert live._trial_line(first, run.plan).startswith(
        f"trial 1 of 24  {first.version} {{database: postgresql}}  failed: "
    )
    text = markdown(report(measured_run(StoredRun(run.plan, [first], NO_EXCLUSIONS, []))))
    assert f"trial 1 ({first.version} {{database: postgresql}}) failed: " in text


def test_a_value_that_one_side_did_not_measure_is_not_comparable():
    both = run_of()
    less = run_of(name="20261127T124455Z-fedcba", axes={"database": ["postgresql"]})

    text = markdown(comparison(sides((less, "9.0.0"), (both, "9.8.4"))))

    missing = row(text, "ingest", "ingest_rate \\[records/s\\]", "mariadb")
    assert missing[3] == "– not comparable"
    assert "no trial of 9.0.0 {database: mariadb} is recorded" in text
    measured = row(text, "ingest", "ingest_rate \\[records/s\\]", "postgresql")
    assert measured[6] != missing[6]
    assert "Axis database is postgresql for 9.0.0 and postgresql, mariadb for 9.8.4" in text
    assert "The two sides were not measured alike: Axis database is postgresql for 9.0.0" in text
    assert "--axis database=postgresql" in text


def test_a_comparison_has_the_values_of_an_axis_beside_each_other_for_both_versions(run):
    text = markdown(comparison(sides((run, "9.0.0"), (run, "9.8.4"))))

    both = ["mariadb against postgresql"]
    name = "ingest_rate \\[records/s\\]"
    assert row(text, "ingest", name, "9.0.0", *both)[4:] == ["503.5 against 1,003.5", "−49.83 %"]
    assert row(text, "ingest", name, "9.8.4", *both)[4:] == ["403.5 against 1,003.5", "−59.79 %"]


def test_a_value_of_an_axis_that_takes_far_longer_has_its_factor():
    fields = {"versions": BOTH, "repetitions": 6, "tasks": 1}
    plan = with_ingest(
        plan_of(fields, suite=with_axes(DATABASES)), name="latency", unit="ms", direction="lower"
    )
    times = {"postgresql": 100.0, "mariadb": 1380.0}
    trials = [with_values(t, "ingest", [times[t.axes["database"]]]) for t in measured(plan)]
    run = StoredRun(plan, trials, NO_EXCLUSIONS, [])

    text = markdown(comparison(sides((run, "9.0.0"), (run, "9.8.4"))))

    beside = text.partition("The values of database beside each other")[2]
    assert row(beside, "ingest", "latency \\[ms\\]", "9.8.4")[5] == "13.8 times as long"


def test_a_run_from_before_there_were_axes_is_shown_and_compared_with_nothing():
    plan = planned(BOTH, repetitions=6, name="20261119T124455Z-fedcba")
    older, newer = StoredRun(plan, measured(plan), NO_EXCLUSIONS, []), run_of()

    text = markdown(comparison(sides((older, "9.0.0"), (newer, "9.8.4"))))

    results, _, _ = text.partition("The values of database beside each other")
    without = row(results, "ingest", "ingest_rate \\[records/s\\]", "")
    assert (without[7], without[3]) == ("missing", "– not comparable")
    assert "no trial of 9.8.4 without axes is recorded" in text
    under = row(results, "ingest", "ingest_rate \\[records/s\\]", "mariadb")
    assert (under[6], under[3]) == ("missing", "– not comparable")
    assert "## Graphs: ingest\n" in text


def test_an_axis_of_any_accepted_name_is_a_dimension_in_cloudwatch():
    fields = {"versions": BOTH, "repetitions": 1, "tasks": 1}
    plan, metrics = plan_of(fields, suite=with_axes({"unit": ("a", "b")})), FakeMetrics()

    record_trial._send_rates(metrics, "rocksdb", measured(plan)[0])

    assert [dimensions["unit"] for _, _, _, dimensions in metrics.sent] == ["a", "a"]


def test_cloudwatch_gets_a_figure_for_each_value(run):
    metrics = FakeMetrics()

    record_trial._send_rates(metrics, "rocksdb", run.trials[0])

    assert [(name, dimensions["database"]) for name, _, _, dimensions in metrics.sent] == [
        ("ingest_rate", "postgresql"), ("compaction_rate", "postgresql"),
    ]  # fmt: skip
