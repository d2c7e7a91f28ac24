"""A metric with labels in the tables, the report, the comparison and the progress of a run."""

import json
import math
from collections import Counter

import pytest

from tests.unit.fakes import FakeMetrics
from tests.unit.measured_runs import charts, measured, planned, row, with_ingest
from tidemark.cli import live
from tidemark.figures.query_rows import MetricRows
from tidemark.figures.rates import rates
from tidemark.figures.trial_statistics import histogram_text
from tidemark.model.labels import canonical
from tidemark.model.metric import Metric
from tidemark.model.results import NO_EXCLUSIONS
from tidemark.pages.shell import json_for_script
from tidemark.report.blocks import Details, Table, brief
from tidemark.report.comparison.by_labels import LabelChange, label_changes
from tidemark.report.comparison.contents import comparison
from tidemark.report.comparison.publishing import comment
from tidemark.report.comparison.sides import sides
from tidemark.report.markdown import markdown
from tidemark.report.page import page
from tidemark.report.run_report.measured import measured_run
from tidemark.report.run_report.publishing import report
from tidemark.run import record_trial
from tidemark.store.rows import rate_rows, sample_rows
from tidemark.store.stored_run import StoredRun
from tidemark.store.version_rows import verdict_rows

OPERATIONS = ("create", "delete")


def latency_plan(statistics=("mean", "p99"), repetitions=5, versions=("9.0.0", "9.8.4")):
    return with_ingest(
        planned(versions, repetitions=repetitions),
        name="latency", unit="ms", direction="lower", statistics=statistics,
        labels=("operation",), most_labels=1000, values="any",
    )  # fmt: skip


def with_latencies(trial, metric, operations):
    """Return a trial whose one task of ingest took 10 to 30 ms, and in 9.8.4 twice as long."""
    ingest, *others = trial.tests
    (stream,) = {sample.log_stream for sample in ingest.samples}
    factor = 2 if trial.version == "9.8.4" else 1
    texts = [str(factor * time + trial.repetition / 10) for time in (10, 20, 30)]
    mean = sum(map(float, texts)) / len(texts)
    rows = MetricRows(
        metric,
        [
            {"@logStream": stream, "value": str(mean), "n": "3", "operation": operation}
            for operation in operations
        ],
        [
            {"@logStream": stream, "@timestamp": "2026-11-20 12:45:10.000", "value": text,
             "operation": operation}
            for operation in operations for text in texts
        ],
    )  # fmt: skip
    ours = ingest.model_copy(
        update={
            "rates": tuple(rates(rows, expected=2, whole=True)),
            "samples": tuple(rows.samples),
        }
    )
    return trial.model_copy(update={"tests": (ours, *others)})


def with_buckets(trial):
    """Return a trial whose latencies are kept in buckets, and not one by one."""
    ingest, *others = trial.tests
    counted = {}
    for sample in ingest.samples:
        key = canonical(sample.labels)
        counted.setdefault(key, Counter())[float(math.floor(sample.value))] += 1
    kept = tuple(
        rate.model_copy(update={"histogram": histogram_text(counted[canonical(rate.labels)])})
        if rate.statistic == "p99"
        else rate
        for rate in ingest.rates
    )
    ours = ingest.model_copy(update={"rates": kept, "samples": ()})
    return trial.model_copy(update={"tests": (ours, *others)})


def test_a_report_has_the_quantiles_of_all_trials_together_from_values_and_from_buckets():
    run = run_of(latency_plan(), ["create"])
    table = pooled(run)
    assert [row.cells[:5] for row in table.rows] == [
        ("latency p99 [ms]", "create", "9.0.0", "5", "15"),
        ("latency p99 [ms]", "create", "9.8.4", "5", "15"),
    ]
    # The 13.86th of 15 values lies between the two greatest, 30.4 and 30.5.
    assert [row.cells[5] for row in table.rows] == ["30.49", "60.49"]

    metrics = {"samples": None, "histograms": "x"}
    suite = run.plan.suite
    ingest, *others = suite.tests
    metric = ingest.metrics[0].model_copy(update=metrics)
    binned = suite.model_copy(
        update={"tests": (ingest.model_copy(update={"metrics": (metric,)}), *others)}
    )
    plan = run.plan.model_copy(update={"suite": binned})
    of_buckets = pooled(StoredRun(plan, [*map(with_buckets, run.trials)], NO_EXCLUSIONS, []))
    assert [row.cells[:5] for row in of_buckets.rows] == [row.cells[:5] for row in table.rows]
    assert float(of_buckets.rows[0].cells[5]) == pytest.approx(30.49, abs=0.51)


def test_the_quantiles_of_all_trials_say_that_the_table_has_the_first_alone():
    def of_operations(count):
        return pooled_details(run_of(latency_plan(), [f"op{n:02}" for n in range(count)])).blocks

    *_, table, more = of_operations(30)
    assert len(table.rows) == 48
    assert more == "The table has the first 24 of 30 quantiles."
    assert isinstance(of_operations(24)[-1], Table)


def pooled(run):
    return pooled_details(run).blocks[1]


def pooled_details(run):
    (results,) = (each for each in report(measured_run(run)).sections if each.heading == "Results")
    (details,) = (
        each for each in results.blocks
        if isinstance(each, Details) and each.name == "Quantiles over all trials"
    )  # fmt: skip
    return details


def run_of(plan, operations=OPERATIONS):
    metric = plan.suite.test("ingest").metrics[0]
    trials = [with_latencies(trial, metric, operations) for trial in measured(plan)]
    return StoredRun(plan, trials, NO_EXCLUSIONS, [])


def test_the_tables_have_a_row_for_each_statistic_and_combination_of_labels():
    run = run_of(latency_plan())

    first = [r for r in rate_rows(run.plan, run.trials) if (r["trial"], r["test"]) == (1, "ingest")]
    assert [(r["metric"], r["statistic"], r["labels"]) for r in first] == [
        ("latency", statistic, json.dumps({"operation": operation}))
        for statistic in ("mean", "p99")
        for operation in OPERATIONS
    ]
    logged = [r for r in sample_rows(run.trials) if r["metric"] == "latency"]
    assert {r["labels"] for r in logged} == {r["labels"] for r in first}
    assert len(logged) == 10 * 2 * 3


def test_each_combination_of_labels_has_a_verdict_of_its_own():
    rows = list(verdict_rows(run_of(latency_plan())))

    ours = {(r["statistic"], r["labels"]): r["verdict"] for r in rows if r["test"] == "ingest"}
    assert ours == {
        (statistic, json.dumps({"operation": operation})): "slower"
        for statistic in ("mean", "p99")
        for operation in OPERATIONS
    }
    assert {r["test"]: r["family"] for r in rows} == {"ingest": 4, "compaction": 1}


def test_a_metric_with_labels_that_was_not_measured_has_a_row_without_labels():
    plan = latency_plan()
    trials = [t.model_copy(update={"tests": (t.tests[0].model_copy(update={"rates": ()}),)})
              for t in measured(plan)]  # fmt: skip

    rows = [(r["statistic"], r["labels"], r["value"]) for r in rate_rows(plan, trials[:1])]
    assert rows == [("mean", "", None), ("p99", "", None)]


def test_the_report_has_a_verdict_and_a_chart_for_each_combination_of_labels():
    contents = report(measured_run(run_of(latency_plan())))
    text = markdown(contents)

    table = text.partition("## latency: 4 by label and statistic\n")[2].partition("**Every")[0]
    for statistic in ("mean", "p99"):
        for operation in OPERATIONS:
            assert row(table, operation, statistic, "9.8.4")[6] == "▼ slower"
    (of_p99, _) = charts(contents, "samples of latency p99")
    assert "p99 of a trial" in [mark.words for mark in of_p99.legend]


def test_the_comparison_has_a_row_for_each_combination_of_labels():
    run = run_of(latency_plan())

    text = markdown(comparison(sides((run, "9.0.0"), (run, "9.8.4"))))

    for cells in (("latency \\[ms\\]", "create"), ("latency p99 \\[ms\\]", "delete")):
        assert row(text, "ingest", *cells)[3] == "▼ slower"


def test_the_verdicts_of_a_comparison_are_those_of_the_whole_run():
    plan = latency_plan(("mean",), versions=["8.8.1", "9.0.0", "9.8.4"])
    metric = plan.suite.test("ingest").metrics[0]
    operations = {"8.8.1": [*OPERATIONS, "update"]}
    run = StoredRun(
        plan,
        [with_latencies(t, metric, operations.get(t.version, OPERATIONS)) for t in measured(plan)],
        NO_EXCLUSIONS,
        [],
    )

    both = sides((run, "9.0.0"), (run, "9.8.4"))

    told = {pair.name: pair.verdict.family for pair in both.pairs if pair.verdict}
    assert told["latency {operation: create}"] == 6
    rows = [row for row in verdict_rows(run) if row["baseline"] == "9.0.0"]
    assert {row["family"] for row in rows if row["labels"]} == {6}


def test_labels_that_only_one_side_has_are_not_comparable():
    plan = latency_plan(("mean",))
    both, less = run_of(plan), run_of(plan, ["create"])
    later = StoredRun(plan.model_copy(update={"run_id": "20261127T124455Z-fedcba"}),
                      less.trials, NO_EXCLUSIONS, [])  # fmt: skip

    text = markdown(comparison(sides((both, "9.0.0"), (later, "9.8.4"))))

    name = "latency \\[ms\\]"
    assert row(text, "ingest", name, "create")[3] == "? cannot tell"
    assert row(text, "ingest", name, "delete")[3] == "– not comparable"
    assert "no trial of 9.8.4 that counts has this rate" in text


def test_a_run_of_one_version_shows_its_first_metrics_and_counts_the_others():
    run = run_of(latency_plan(("mean",), versions=("9.8.4",)), [f"call{n}" for n in range(14)])

    (_, items, *_) = report(measured_run(run)).summary
    assert items.items[-1] == "5 more metrics"
    assert items.items[-2].startswith("latency {operation: call")


def with_factors(run, version, factors):
    """Return a run in which each operation of a version takes some times as long; 0 is none."""

    def rate(one):
        factor = factors[one.labels["operation"]] if one.labels else 1
        return [one.model_copy(update={"value": one.value * factor})] if factor else []

    def test(one):
        return one.model_copy(update={"rates": tuple(r for each in one.rates for r in rate(each))})

    trials = [
        trial.model_copy(update={"tests": tuple(map(test, trial.tests))})
        if trial.version == version
        else trial
        for trial in run.trials
    ]
    return StoredRun(run.plan, trials, NO_EXCLUSIONS, [])


def test_a_comparison_lists_the_operations_that_worsened_and_improved_with_the_worst_first():
    # 9.8.4 takes twice as long before the factors.
    factors = {"create": 0.6, "list": 0.75, "copy": 7, "find": 0.4, "move": 0.501, "delete": 0}
    run = with_factors(run_of(latency_plan(("mean",)), factors), "9.8.4", factors)

    text = markdown(comparison(sides((run, "9.0.0"), (run, "9.8.4"))))

    tables = text.partition("Worsened: latency of ingest \\[ms\\]")[2]
    worsened, _, improved = tables.partition("Improved: latency of ingest \\[ms\\]")
    names = [line.split(" | ")[0] for line in worsened.splitlines() if line.startswith("| ")]
    assert names == ["| Labels", "| copy", "| list", "| create"]
    assert row(worsened, "copy")[4] == "13.9 times as long"
    assert row(worsened, "list")[1:] == ["20.30", "30.23", "9.925", "+48.9 %"]
    assert row(improved, "find")[3:] == ["−4.180", "−20.6 %"]
    assert (
        "latency of ingest: 1 combination of labels changed by less than 1 % or 2 ms." in improved
    )
    assert "latency of ingest is missing in 9.8.4: delete." in improved
    assert "−100" not in text


@pytest.fixture(scope="module")
def thousand():
    plan = latency_plan(("mean",), repetitions=2)
    return run_of(plan, [f"operation-{number:04d}" for number in range(1000)])


def test_a_thousand_labels_have_twenty_charts_and_a_table_of_all_others(thousand):
    contents = report(measured_run(thousand))

    assert len(charts(contents, "samples of latency")) == 20
    assert "The table has 980 more, without charts." in markdown(contents)
    assert row(markdown(contents), "operation-0999", "9.8.4")[5] == (
        "? cannot tell (2 of the 5 pairs that a verdict needs)"
    )
    assert len(page(contents).encode()) < 3_000_000


def test_a_thousand_labels_are_compared_with_twenty_charts(thousand):
    text = markdown(comparison(sides((thousand, "9.0.0"), (thousand, "9.8.4"))))

    assert row(text, "ingest", "latency \\[ms\\]", "operation-0999")[3] == "? cannot tell"
    assert "latency: the table of results has 980 more, without charts." in text
    assert "Worsened: latency of ingest: the table of results has 980 more." in text


@pytest.fixture(scope="module")
def forty():
    plan = latency_plan(("mean",), repetitions=5)
    return run_of(plan, [f"operation-{number:04d}" for number in range(40)])


@pytest.mark.parametrize(("number", "more"), [(6, "1 more metric"), (7, "2 more metrics")])
def test_the_metrics_that_are_not_shown_at_once_are_counted(number, more):
    plan = latency_plan(("mean",), repetitions=2)
    run = run_of(plan, [f"operation-{each}" for each in range(number)])

    assert f"<b>{more}</b>" in markdown(comparison(sides((run, "9.0.0"), (run, "9.8.4"))))


@pytest.mark.parametrize("metrics", [2, 40])
def test_a_comment_has_its_answer_and_its_figures_within_24_lines_before_the_first_fold(
    forty, metrics
):
    plan = planned(["9.0.0", "9.8.4"], repetitions=8)
    run = forty if metrics == 40 else StoredRun(plan, measured(plan), NO_EXCLUSIONS, [])

    text = comment(comparison(sides((run, "9.0.0"), (run, "9.8.4"))))

    lines = text.partition("<details>")[0].splitlines()
    assert len(lines) <= 24
    assert lines[2] == ("▼ 40 slower, = 1 same." if metrics == 40 else "= 2 same.")
    assert sum(line.startswith("| ingest: ") for line in lines) == (6 if metrics == 40 else 1)


def test_the_worst_of_many_metrics_come_first(forty):
    text = markdown(comparison(sides((forty, "9.0.0"), (forty, "9.8.4"))))

    worst, same = text.splitlines()[4:6]
    assert worst.startswith("- ▼ slower: latency {operation: operation-0000}, +98.5 % (95 % ")
    assert worst.endswith("; 39 more of latency")
    assert same == "- = same: compaction_rate"
    assert "<details><summary><b>35 more metrics</b></summary>" in text
    drawn = charts(comparison(sides((forty, "9.0.0"), (forty, "9.8.4"))), "Δ of each metric")
    assert "The table has 21 more." in drawn[0].caption


def test_the_results_of_a_report_with_many_metrics_fit_a_screen_with_the_changes_first(forty):
    short = markdown(brief(report(measured_run(forty))))

    assert len(short.splitlines()) < 60
    assert short.count("▼ slower |") == 24
    assert "The sections below have 58 more rows." in short
    assert "; 39 more of latency\n" in short


def test_the_progress_of_a_run_shows_the_first_rates_and_counts_the_others(thousand):
    line = live._trial_line(thousand.trials[0], thousand.plan)

    assert line.endswith("latency {operation: operation-0005} 40.10 ms  and 995 more")


def test_cloudwatch_gets_no_figure_with_labels_and_one_for_each_other_metric():
    metrics = FakeMetrics()

    record_trial._send_rates(metrics, "rocksdb", run_of(latency_plan()).trials[0])

    assert [name for name, *_ in metrics.sent] == ["compaction_rate"]


def test_a_hostile_label_is_text_on_the_page():
    hostile = "</script><script>alert(1)</script>|*`_"
    contents = report(measured_run(run_of(latency_plan(("mean",)), [hostile])))

    assert "<script>alert(1)" not in page(contents)
    assert json_for_script(hostile) != hostile


LATENCY = Metric(
    name="latency", unit="ms", direction="lower", query="latency", labels=("operation",),
    most_labels=20, values="any",
)  # fmt: skip
RATE = LATENCY.model_copy(update={"unit": "1/s", "direction": "higher"})


def changes(metric=LATENCY, **figures):
    found = label_changes(metric, (LabelChange(name, *both) for name, both in figures.items()))
    return {kind: [each.labels for each in group] for kind, group in found._asdict().items()}


def test_changes_are_sorted_by_their_share_and_split_by_their_direction():
    assert changes(a=(100, 110), b=(100, 150), c=(100, 60), d=(100, 97)) == {
        "worsened": ["b", "a"], "improved": ["c", "d"], "small": [], "missing": [],
    }  # fmt: skip


def test_where_more_is_better_less_is_worse():
    assert changes(RATE, a=(100, 110), b=(100, 90))["worsened"] == ["b"]


@pytest.mark.parametrize(
    ("base", "new", "kind"),
    [
        (100, 102, "worsened"),
        (100, 101.9, "small"),  # less than 2 ms
        (10, 11.9, "small"),
        (1_000, 1_009, "small"),  # less than 1 %
        (1_000, 1_010, "worsened"),
        (50, 50, "small"),
        (0, 3, "worsened"),
        (0, 0, "small"),
    ],
)
def test_a_change_counts_if_its_share_and_its_difference_are_large(base, new, kind):
    assert changes(a=(base, new))[kind] == ["a"]


def test_the_suite_says_what_a_large_change_is():
    fine = LATENCY.model_copy(update={"least_change": 0.001, "least_difference": 0.0})

    assert changes(fine, a=(1_000, 1_001.5))["worsened"] == ["a"]
    assert changes(LATENCY.model_copy(update={"least_change": 0.2}), a=(100, 110))["small"] == ["a"]


def test_other_units_have_no_least_difference():
    assert changes(RATE, a=(0.1, 0.102))["improved"] == ["a"]


def test_a_missing_figure_is_missing_and_no_loss_of_everything():
    assert changes(a=(100, None), b=(None, 100), c=(None, None)) == {
        "worsened": [], "improved": [], "small": [], "missing": ["a", "b"],
    }  # fmt: skip
