"""The report of a run in both of its forms."""

import base64
import hashlib
import io
import json
import math
import re
from dataclasses import replace
from datetime import timedelta
from html.parser import HTMLParser

import pytest
import vl_convert
from rich.console import Console

from lambdas import publish_report
from tests.plans import STARTED, plan_of, rocksdb
from tests.unit.measured_runs import (
    HOSTILE,
    charts,
    failed,
    ingest_of,
    left_out,
    measured,
    on_machine,
    planned,
    row,
    using,
    with_ingest,
    with_values,
)
from tests.unit.prepared_results import PREPARED
from tidemark.cli.show import rates
from tidemark.model.checkout import ROOT
from tidemark.model.numerals import figure, ranges
from tidemark.model.plan import Resume
from tidemark.model.results import NO_EXCLUSIONS
from tidemark.model.task import Artefact, KeptFile
from tidemark.report.blocks import Details, Table, brief
from tidemark.report.files import dump, load
from tidemark.report.markdown import markdown, plain
from tidemark.report.page import page
from tidemark.report.run_report.measured import measured_run
from tidemark.report.run_report.publishing import report
from tidemark.report.terminal import print_blocks
from tidemark.store.keys import BLOCKS
from tidemark.store.stored_run import StoredRun
from tidemark.store.version_rows import verdict_rows

VEGA = ROOT / "tidemark" / "pages" / "vega.js"


def report_of(plan, trials, exclusions=NO_EXCLUSIONS, resumes=()):
    return report(measured_run(StoredRun(plan, trials, exclusions, resumes)))


def markdown_of(plan, trials, exclusions=NO_EXCLUSIONS, resumes=()):
    return markdown(report_of(plan, trials, exclusions, resumes))


def test_no_line_of_a_page_breaks_within_the_id_of_a_run():
    plan = planned(repetitions=1)
    html = page(report_of(plan, measured(plan)))
    body = html.partition("<main>")[2].partition("</header>")[0]

    whole = f'<span class="whole">{plan.run_id}</span>'
    assert whole in body.partition("</h1>")[0]
    outside = re.sub(r"<code>.*?</code>", "", body.replace(whole, ""))
    assert plan.run_id not in outside


def charts_of(plan, trials, exclusions=NO_EXCLUSIONS, of=", by version and trial, in"):
    return charts(report_of(plan, trials, exclusions), of)


def layer(chart, name):
    (found,) = [found for found in chart.spec["layer"] if found["name"] == name]
    return found["data"]["values"]


def values_of(trials, metric):
    return [
        sample.value
        for trial in trials
        for test in trial.tests
        for sample in test.samples
        if sample.metric == metric
    ]


def test_a_report_names_the_canary_and_has_no_verdict_on_it():
    suite = rocksdb().model_copy(update={"canary": "8.8.1"})
    plan = plan_of({"versions": ["9.0.0", "9.8.4"], "repetitions": 5}, suite=suite)
    run = StoredRun(plan, measured(plan), NO_EXCLUSIONS, [])

    text = markdown(report(measured_run(run)))

    assert "each measured 5 × beside the canary 8.8.1: " in text
    assert "All 15 trials gave rates." in text
    assert row(text, "8.8.1")[1].startswith("rocksdict")
    assert {(each["baseline"], each["version"]) for each in verdict_rows(run)} == {
        ("9.0.0", "9.8.4")
    }


def test_the_legend_of_samples_names_the_marks_that_the_chart_has():
    plan = planned(["9.0.0"], repetitions=2)
    trials = measured(plan)

    (every, *_), (part, *_) = (
        charts_of(plan, trials, exclusions) for exclusions in (NO_EXCLUSIONS, left_out(1, "noisy"))
    )
    words = "sample", "mean of a trial", "mean of the version"
    assert tuple(mark.words for mark in every.legend) == words
    assert [mark.words for mark in part.legend][1] == "sample that is not in the rate"
    drawn = {each["name"]: each["mark"]["color"] for each in part.spec["layer"]}
    names = ["samples", "left_out", "trials", "versions"]
    assert [mark.color for mark in part.legend] == [drawn[name] for name in names]


def test_the_summary_names_slower_metrics_first_then_failed_trials_then_the_same():
    plan = planned(["9.0.0", "9.8.4"], repetitions=6)
    rates = {"9.0.0": (1000.0, 1000.0), "9.8.4": (1000.0, 800.0)}
    trials = [
        with_values(with_values(trial, "ingest", [ingest]), "compaction", [compaction])
        for trial in measured(plan)
        for ingest, compaction in [rates[trial.version]]
    ]
    trials[-1] = failed(trials[-1])

    headline, items, *_ = report_of(plan, trials).summary
    assert headline == "9.8.4 against 9.0.0: ▼ 1 slower, ✗ failed: 1 of 12 trials, = 1 same."
    assert items.items == (
        "▼ slower: compaction_rate, −20.00 % (95 % interval −20.00 % to −20.00 %)",
        "= same: ingest_rate",
    )


def test_the_summary_counts_failed_trials_among_all_that_were_planned():
    plan = planned(["9.0.0", "9.8.4"], repetitions=6)
    first, second, *_ = measured(plan)

    headline, *_ = report_of(plan, [failed(first), second]).summary

    assert "✗ failed: 1 of 12 trials" in headline


def test_the_summary_of_many_versions_names_the_first_and_the_last():
    text = markdown(PREPARED["20 versions"].report())

    assert "RocksDB 9.0.0 to 9.19.0 (20 versions), each measured 5 ×: " in text
    assert "9.12.0 against 9.11.0, −20.0 % (" in text, "as many digits as a comparison has"


def test_the_same_stored_run_gives_the_same_bytes():
    first, again = (report_of(planned(), measured(planned())) for _ in range(2))

    assert markdown(first) == markdown(again)
    assert page(first) == page(again)


def test_a_rate_has_its_spread_its_change_and_its_extremes():
    plan = planned(["9.0.0", "9.8.4"], repetitions=2)
    trials = ingest_of(plan, {"9.0.0": [1000, 1020], "9.8.4": [900.0, 918.0]})

    table = markdown_of(plan, trials).partition("## ingest_rate")[2]

    assert row(table, "9.0.0", "1,010") == [
        "9.0.0", "1,010", "14", "first version", "nothing to compare", "2 of 2", "2", "1,000",
        "1,020",
    ]  # fmt: skip
    assert row(table, "9.8.4", "909") == [
        "9.8.4", "909", "13", "−10.00 %",
        "? cannot tell (2 of the 5 pairs that a verdict needs)", "2 of 2", "2", "900", "918",
    ]  # fmt: skip


def test_a_run_names_the_test_of_a_metric_that_two_tests_have():
    plan = with_ingest(planned(["9.0.0", "9.8.4"], repetitions=6), name="compaction_rate")
    run = measured_run(StoredRun(plan, measured(plan), NO_EXCLUSIONS, []))

    text = markdown(report(run))

    both = ["ingest: compaction_rate", "compaction: compaction_rate"]
    assert f"= same: {', '.join(reversed(both))}\n" in text
    assert all(f"| {name} \\[records/s\\] |" in text for name in both)
    printed = io.StringIO()
    print_blocks([rates(report(run))], Console(file=printed, width=80))
    assert all(f"{name} [records/s]" in printed.getvalue() for name in both)


def test_the_summary_leaves_out_changes_that_are_the_same():
    plan = planned(["8.8.1", "9.0.0", "9.8.4"], repetitions=5)
    rates = {
        "8.8.1": [100, 102, 101, 100, 101],
        "9.0.0": [101, 102, 101, 101, 100],
        "9.8.4": [90, 91, 90, 90, 90],
    }
    trials = ingest_of(plan, rates)

    text = markdown_of(plan, trials)

    assert "Each version against the version before it: ▼ 1 slower, = 3 same.\n" in text
    assert "- ▼ slower: ingest_rate, 9.8.4 against 9.0.0, −10.69 % (95 % interval " in text
    assert "9.0.0 against 8.8.1" not in text
    assert "If nothing has changed, at most 1 % of runs until decided say slower or faster" in text


def test_the_short_form_of_a_report_has_its_figures_and_neither_samples_nor_details():
    plan = planned(["9.0.0", "9.8.4"], repetitions=5)
    whole = report_of(plan, measured(plan))

    short, text = markdown(brief(whole)), plain(whole)

    headings = re.findall("^## (.*)$", short, re.MULTILINE)
    assert headings == ["Results"]
    assert short.count(" | 9.8.4 | ") == 2
    assert "Every sample" not in short
    assert "How to read" not in short
    assert {"## Trials", "## Set-up", "## Logs"} < set(text.splitlines())
    assert "details>" not in text


def test_a_fold_has_its_name_on_the_line_that_opens_it_and_on_a_terminal_above_its_text():
    whole = report_of(planned(), measured(planned()))
    name = "How to read the figures"

    opened = f"\n\n<details><summary><b>{name}</b></summary>\n\nA rate is the mean of"
    assert opened in markdown(whole)
    assert f"\n\n**{name}**\n\nA rate is the mean of" in plain(whole)


def test_a_dumped_report_lacks_the_drawings_of_its_charts_alone():
    whole = report_of(planned(), measured(planned()))
    text = dump(whole)

    again = load(text.encode())

    assert markdown(again) == markdown(whole)
    assert "vega" not in text
    assert json.loads(dump(again)) == json.loads(text)


def test_a_larger_figure_is_slower_if_lower_is_better():
    plan = with_ingest(planned(["9.0.0", "9.8.4"], repetitions=1), direction="lower", unit="s")

    text = markdown_of(plan, ingest_of(plan, {"9.0.0": [0.5], "9.8.4": [0.75]}))

    assert "| +50.00 % | none | ? cannot tell (1 of the 5 pairs that a verdict needs) |" in text
    assert "ingest_rate in s by version; lower is better" in text


def test_a_long_cell_may_break_into_lines():
    plan = planned(["9.0.0", "9.8.4"], repetitions=1)

    text = page(report_of(plan, measured(plan)))

    told = '<b class="untold">? cannot tell</b> (1 of the 5 pairs that a verdict needs)'
    assert f'<td class="long">{told}</td>' in text
    assert "<td>nothing to compare</td>" in text


def test_a_missing_rate_is_shown_in_words():
    plan = planned(["9.0.0", "9.8.4"], repetitions=1)
    trials = [failed(trial) if trial.version == "9.0.0" else trial for trial in measured(plan)]

    text = markdown_of(plan, trials)

    table = text.partition("## ingest_rate")[2].partition("## compaction_rate")[0]
    assert row(table, "9.0.0", "missing")[2:] == [
        "missing", "first version", "nothing to compare", "0 of 1", "0", "missing", "missing",
    ]  # fmt: skip
    assert "missing: 9.0.0 has no rate" in table
    assert "1 of 2 trials gave rates, 1 failed." in text
    assert re.search(r"- trial \d \(9\.0\.0\) failed: ingest: its container ended with exit", text)


@pytest.mark.parametrize("metric", ["ingest_rate", "compaction_rate"])
def test_every_sample_is_in_the_chart_and_in_its_table(metric):
    plan = planned(tasks=2)
    trials = measured(plan)

    (chart,) = charts_of(plan, trials, of=f" of {metric}, ")

    drawn = layer(chart, "samples")
    assert sorted(point["value"] for point in drawn) == sorted(values_of(trials, metric))
    listed = [text for row in chart.table.rows for text in row.cells[3].split(", ")]
    assert sorted(map(float, listed)) == sorted(values_of(trials, metric))
    assert len({point["x"] for point in drawn}) == len(drawn)


def test_the_chart_has_the_means_of_trials_and_versions_and_its_samples_in_their_lanes():
    plan = planned(["9.0.0", "9.8.4"], repetitions=2)
    trials = ingest_of(plan, {"9.0.0": [1000, 1020], "9.8.4": [900, 918]})

    chart, _ = charts_of(plan, trials)

    assert [(mean["of"], mean["value"]) for mean in layer(chart, "versions")] == [
        ("9.0.0", 1010), ("9.8.4", 909),
    ]  # fmt: skip
    assert sorted(mean["value"] for mean in layer(chart, "trials")) == [900, 918, 1000, 1020]
    for point, lane in zip(layer(chart, "samples"), layer(chart, "trials"), strict=True):
        assert lane["of"] == f"trial {point['trial']}"
        assert lane["x"] < point["x"] < lane["end"]
        assert math.floor(point["x"]) == ["9.0.0", "9.8.4"].index(point["version"])


def test_the_caption_says_where_the_axis_starts():
    plan = planned(["9.8.4"], repetitions=2)
    chart, _ = charts_of(plan, ingest_of(plan, {"9.8.4": [1000, 1100]}))

    assert chart.spec["encoding"]["y"]["scale"]["domain"] == [992, 1108]
    assert chart.spec["encoding"]["y"]["title"] == "ingest_rate [records/s]"
    assert "The axis starts at 992 records/s." in chart.caption


@pytest.mark.parametrize(
    "values", [[5.0], [0.0, 0.0], [0.0001, 5e9], [-5.0], [-3.0, 40.0], [-0.5, -0.25]]
)
def test_any_samples_lie_within_the_axis(values):
    plan = planned(["9.8.4"], repetitions=1)
    trials = [with_values(trial, "ingest", values) for trial in measured(plan)]
    chart, _ = charts_of(plan, trials)

    low, high = chart.spec["encoding"]["y"]["scale"]["domain"]

    assert low <= min(values) <= max(values) < high
    assert (low < 0) == (min(values) < 0)


def test_vega_lite_draws_each_sample_and_each_version():
    plan = planned()
    trials = measured(plan)

    for chart, metric in zip(
        charts_of(plan, trials), ("ingest_rate", "compaction_rate"), strict=True
    ):
        svg = vl_convert.vegalite_to_svg({**chart.spec, "width": 600})
        groups = re.findall(r'<g class="mark-symbol[^>]*>(.*?)</g>', svg)
        assert sum(group.count("<path") for group in groups) == len(values_of(trials, metric))
        assert all(f">{version}</text>" in svg for version in plan.request.versions)
        assert f">{metric} [records/s]</text>" in svg


def test_samples_of_a_failed_trial_are_drawn_apart_and_are_in_no_mean():
    plan = planned(["9.8.4"], repetitions=2)
    first, second = measured(plan)

    chart, _ = charts_of(plan, [failed(first), second])

    assert {point["trial"] for point in layer(chart, "left_out")} == {1}
    assert {point["trial"] for point in layer(chart, "samples")} == {2}
    assert [mean["of"] for mean in layer(chart, "trials")] == ["trial 2"]


def test_an_excluded_trial_is_struck_out_with_its_reason_and_counts_nowhere():
    plan = planned(["9.8.4"], repetitions=2)
    trials = ingest_of(plan, {"9.8.4": [1, 1000]})
    excluded = left_out(1, "a neighbour was noisy")

    text = markdown_of(plan, trials, excluded)

    assert "- trial 1 (9.8.4) is left out of every figure: a neighbour was noisy\n" in text
    assert "| ~~1~~ | ~~9.8.4~~ | ~~1~~ | ~~ok, left out~~ | ~~1.000~~ |" in text
    assert row(text, "9.8.4", "1,000", "one trial")[-3:] == ["1", "1,000", "1,000"]
    chart, _ = charts_of(plan, trials, excluded)
    assert [point["value"] for point in layer(chart, "left_out")] == [1]
    assert "<s>ok, left out</s>" in page(report_of(plan, trials, excluded))


def test_a_sample_that_is_no_finite_number_is_listed_and_not_drawn():
    plan = planned(["9.8.4"], repetitions=1)
    (trial,) = measured(plan)
    ingest, compaction = trial.tests
    first, *rest = ingest.samples
    infinite = replace(first, value=None, value_text="∞")
    ingest = ingest.model_copy(update={"samples": (infinite, *rest)})

    chart, _ = charts_of(plan, [trial.model_copy(update={"tests": (ingest, compaction)})])

    assert [point["value"] for point in layer(chart, "samples")] == [s.value for s in rest]
    assert chart.caption.endswith("Not drawn: 1 without a finite number.")
    assert chart.table.rows[0].cells[3].startswith("∞, ")


def test_a_changed_machine_is_named_with_its_trials():
    plan = planned(["9.8.4"], repetitions=4)
    trials = measured(plan)
    trials[2] = on_machine(trials[2], cpu_model="Intel Xeon", host="ip-10-0-0-8")

    text = markdown_of(plan, trials)

    assert (
        "- cpu_model was not the same for all trials: "
        "AMD EPYC 7R13 in trial 1–2, 4; Intel Xeon in trial 3.\n"
    ) in text
    assert row(text, "cpu_model") == ["cpu_model", "AMD EPYC 7R13", "Intel Xeon"]
    assert row(text, "trials") == ["trials", "1–2, 4", "3"]
    assert row(text, "memory") == ["memory", "8.0 GiB", "8.0 GiB"]
    assert "did not run alike" not in markdown_of(plan, trials, left_out(3, "another machine"))


def test_hosts_may_differ_and_packages_may_differ_between_versions():
    plan = planned(["9.0.0", "9.8.4"], repetitions=1)
    trials = [
        on_machine(trial, host=f"host{trial.trial}", package_digest=f"digest {trial.version}")
        for trial in measured(plan)
    ]

    text = markdown_of(plan, trials)

    assert "did not run alike" not in text
    assert row(text, "hosts") == ["hosts", "2"]
    assert row(text, "9.0.0", "rocksdict==0.3.23") == [
        "9.0.0", "rocksdict==0.3.23", "digest 9.0.0", "sha256:cd34",
    ]  # fmt: skip


def test_another_field_is_shown_and_named_if_it_changed_between_trials_of_a_version():
    plan = planned(["9.0.0", "9.8.4"], repetitions=2)
    trials = [on_machine(trial, duckdb_module=trial.version) for trial in measured(plan)]
    changed = [on_machine(trial, duckdb_module=f"d{trial.repetition}") for trial in trials]

    text = markdown_of(plan, trials)

    assert row(text, "Logged: duckdb_module")[1] == "9.0.0, 9.8.4"
    assert "Machine 2" not in text
    assert "did not run alike" not in text
    assert "duckdb_module was not the same for all trials of 9.8.4: " in markdown_of(plan, changed)


def test_a_data_set_is_of_its_version_and_named_if_it_changed_between_trials():
    plan = planned(["9.0.0", "9.8.4"], repetitions=2)
    trials = [on_machine(trial, data_set_sqlite=trial.version) for trial in measured(plan)]
    changed = [on_machine(trial, data_set_sqlite=f"d{trial.repetition}") for trial in trials]

    assert "data_set" not in markdown_of(plan, trials)
    assert "data_set_sqlite was not the same for all trials of 9.8.4: " in markdown_of(
        plan, changed
    )


def test_a_package_that_changed_between_trials_of_one_version_is_named():
    plan = planned(["9.8.4"], repetitions=2)
    trials = [on_machine(trial, package_digest=f"d{trial.trial}") for trial in measured(plan)]

    assert (
        "- package_digest was not the same for all trials of 9.8.4: d1 in trial 1; d2 in trial 2.\n"
    ) in markdown_of(plan, trials)


def test_an_image_that_changed_between_trials_of_one_version_is_named():
    plan = planned(["9.8.4"], repetitions=2)
    first, second = measured(plan)
    ingest, compaction = second.tests
    pushed = replace(ingest.tasks[0], image_digest="sha256:ef56")
    tests = (ingest.model_copy(update={"tasks": (pushed,)}), compaction)

    text = markdown_of(plan, [first, second.model_copy(update={"tests": tests})])

    assert (
        "image_digest was not the same for all trials of 9.8.4: "
        "sha256:cd34 in trial 1–2; sha256:ef56 in trial 2."
    ) in text


def test_a_planned_trial_that_is_not_recorded_is_named():
    plan = planned(["9.8.4"], repetitions=2)

    text = markdown_of(plan, measured(plan)[:1])

    assert "1 of 2 trials gave rates, 1 not recorded.\n" in text
    assert "- planned and not recorded: trials 2 (9.8.4)\n" in text
    assert row(text, "2", "9.8.4", "2")[3] == "not recorded"


def test_a_run_of_one_version_and_one_trial_has_a_report():
    plan = planned(["9.8.4"], repetitions=1)

    text = markdown_of(plan, measured(plan))

    assert re.search(r"^- ingest_rate of 9\.8\.4: [\d,.]+ k records/s$", text, re.MULTILINE)


def test_a_run_without_any_trial_or_sample_has_a_report():
    plan = planned(["9.0.0", "9.8.4"], repetitions=1)

    text = markdown_of(plan, [])

    assert "None of 2 trials gave rates, 2 not recorded.\n" in text
    assert "chart of ingest_rate: no sample is a finite number, and no rate counts." in text
    assert "No task logged its machine." in text
    assert row(text, "Measured until \\[UTC\\]") == ["Measured until \\[UTC\\]", "missing"]
    assert "missing: 9.0.0 has no rate" in page(report_of(plan, []))


def test_the_set_up_says_how_far_apart_the_tasks_of_a_test_started():
    plan = planned(tasks=2)
    first, *others = measured(plan)
    ingest, compaction = first.tests
    late = ingest.tasks[1].started_at + timedelta(seconds=2.25)
    later = (ingest.tasks[0], replace(ingest.tasks[1], started_at=late))
    apart = (ingest.model_copy(update={"tasks": later}), compaction)
    text = markdown_of(plan, [first.model_copy(update={"tests": apart}), *others])

    setting = "Longest start of a test, seconds"
    assert f"| {setting} | 2.2 |" in text
    assert setting not in markdown_of(planned(), measured(planned()))


def test_the_set_up_has_the_settings_times_and_note_of_the_run():
    plan = planned(note="does 9.8 ingest faster?")
    text = markdown_of(plan, measured(plan))

    for what, value in {
        "Suite": "RocksDB (rocksdb): ingest and compaction",
        "Repetitions": "3",
        "Parameter records": "200,000 records",
        "Task size": "2 vCPU, 8 GiB memory, 50 GiB disk",
        "Note": "does 9.8 ingest faster?",
        "Started \\[UTC\\]": "2026-11-20 12:44:55",
        "Measured until \\[UTC\\]": "2026-11-20 12:46:54",
        "Seed of the order": str(plan.seed),
        "Run": plan.run_id,
        "Execution": plan.execution_arn,
        "Suite digest": plan.suite_digest,
        "Tidemark": plan.tidemark_version,
    }.items():
        assert row(text, what) == [what, value]
    assert row(text, "9.8.4", "rocksdict==0.3.29") == [
        "9.8.4", "rocksdict==0.3.29", "ab12", "sha256:cd34",
    ]  # fmt: skip


def test_each_resume_of_a_run_is_shown_with_its_trigger_and_note():
    plan = planned()
    resumes = [
        Resume(execution_arn="arn:2", started_at=STARTED, trigger="cli", note="it was stopped"),
        Resume(execution_arn="arn:3", started_at=STARTED, trigger="console", note=""),
    ]

    assert row(markdown_of(plan, measured(plan), resumes=resumes), "Resumed \\[UTC\\]") == [
        "Resumed \\[UTC\\]",
        "2026-11-20 12:44:55 by cli: it was stopped; 2026-11-20 12:44:55 by console",
    ]
    assert "Resumed" not in markdown_of(plan, measured(plan))


def test_time_and_cost_are_those_that_fargate_and_logs_insights_bill():
    plan = planned()
    text = markdown_of(plan, measured(plan))

    # 18 tasks of 5 s, each billed for a minute: 1080 s at 0.12485 USD an hour; 36 MB scanned.
    for what, amount, usd, expected, expected_usd in [
        ("Duration \\[h:mm:ss\\]", "0:01:59", "", "0:13:56", ""),
        ("Task time", "90.0 s", "", "", ""),
        ("Task time that Fargate bills", "1,080 s", "0.0375", "1,080 s", "0.0375"),
        ("Log events scanned by queries", "36,000,000 bytes", "0.0002", "305,100 bytes",
         "\\< 0.0001"),
        ("Total cost", "", "0.0376", "", "0.0375"),
        ("Budget", "", "none", "", ""),
    ]:  # fmt: skip
        assert row(text, what) == [what, amount, usd, expected, expected_usd]
    assert "were estimated before the run from the durations of tests in the suite" in text
    assert "at the list prices of us-east-1 of 2026-06-17" in text
    assert "A run on one machine costs nothing: its figures are an estimate" in text


def test_a_spent_budget_is_named_until_the_run_has_every_trial():
    plan = planned(["9.8.4"], repetitions=2)
    limited = plan.request.model_copy(update={"budget_usd": 0.006})
    plan = plan.model_copy(update={"request": limited})
    trials = measured(plan)
    sentence = "are spent by 1 of 2 trials, and the next may cost 0.0042 USD; resume the run"

    assert row(markdown_of(plan, trials[:1]), "Budget")[2] == "0.0060"
    assert sentence in markdown_of(plan, trials[:1])
    assert "are spent by" not in markdown_of(plan, trials)


def test_each_trial_has_the_time_from_its_first_test_to_its_last():
    plan = planned(["9.8.4"], repetitions=1)

    text = markdown_of(plan, measured(plan)).partition("## Trials")[2]

    # Two tests of 5 s, the second 6 s after the first.
    assert row(text, "1", "9.8.4", "1", "ok")[-3:] == ["10.0", "11.0", "2026-11-20 12:45:07"]


def before_schema_2(plan, trials):
    """Return a run without the fields that are stored since schema 2."""
    gone = ("prices", "tidemark_version", "estimate")
    old = plan.model_copy(update=dict.fromkeys(gone))
    tests = [
        result.model_copy(
            update={
                "log_group": None,
                "insights_bytes": None,
                "tasks": tuple(
                    replace(task, image_digest=None, log_stream=None) for task in result.tasks
                ),
            }
        )
        for trial in trials
        for result in trial.tests
    ]
    pairs = zip(tests[::2], tests[1::2], strict=True)
    return old, [
        trial.model_copy(update={"tests": pair}) for trial, pair in zip(trials, pairs, strict=True)
    ]


def test_fields_that_an_old_run_lacks_are_shown_as_missing():
    plan = planned(["9.8.4"], repetitions=1)

    text = markdown_of(*before_schema_2(plan, measured(plan)))

    assert row(text, "Total cost")[-1] == "missing"
    assert row(text, "Log events scanned by queries")[1:] == ["missing"] * 4
    assert row(text, "Tidemark")[-1] == "missing"
    assert row(text, "9.8.4", "rocksdict==0.3.29")[-1] == "missing"
    assert row(text, "1", "9.8.4", "ingest", "0")[-2:] == ["missing", "missing"]
    assert "The run was planned without prices, so its cost is missing." in text
    assert "The run was planned without an estimate of its time and cost." in text


def test_each_task_has_its_log_stream():
    plan = planned(["9.8.4"], repetitions=1, tasks=2)

    text = markdown_of(plan, measured(plan))

    assert row(text, "1", "9.8.4", "compaction", "1")[-2:] == [
        "/Tidemark/rocksdb", "rocksdb/rocksdb/001compaction1",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "missing"), (0.0, "0.0"), (1234567.891, "1,234,567.9"), (12.3456, "12.35"),
        (0.012345, "0.01235"), (-2.5, "−2.500"),
    ],
)  # fmt: skip
def test_a_figure_has_four_significant_digits_or_more(value, text):
    assert figure(value) == text


def test_neighbouring_trials_are_named_as_a_range():
    assert ranges([3, 1, 2, 7, 2]) == "1–3, 7"


def hostile_run():
    plan = with_ingest(planned(["9.8.4"], repetitions=2, note=HOSTILE), unit=HOSTILE)
    first, second = measured(plan)
    ingest, compaction = first.tests
    samples = tuple(replace(s, value_text=HOSTILE) for s in ingest.samples)
    tests = (ingest.model_copy(update={"samples": samples}), compaction)
    first = first.model_copy(update={"tests": tests})
    first = on_machine(first, **{"cpu_model": HOSTILE, HOSTILE: HOSTILE})
    return report_of(plan, [first, failed(second, reason=HOSTILE)], left_out(1, HOSTILE))


class Elements(HTMLParser):
    """The elements of a page, what its scripts hold, and the text that is shown."""

    def __init__(self, text):
        super().__init__()
        self.started, self.scripts, self.shown = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.started.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data):
        if self.cdata_elem == "script":
            self.scripts[-1] += data
        else:
            self.shown.append(data)


def test_a_hostile_text_is_shown_in_the_page_without_effect():
    elements = Elements(page(hostile_run()))

    assert "".join(elements.shown).count(HOSTILE) >= 6
    assert {tag for tag, _ in elements.started} <= {
        "html", "head", "meta", "link", "title", "style", "body", "main", "header", "section",
        "h1", "h2", "p", "ul", "li", "div", "table", "caption", "thead", "tbody", "tr", "th", "td",
        "b", "s", "figure", "figcaption", "span", "script", "noscript", "details", "summary",
        "nav", "a", "pre", "code",
    }  # fmt: skip
    *specs, program = elements.scripts
    assert {json.loads(spec)["width"] for spec in specs} == {"container"}
    assert program.startswith(VEGA.read_text(encoding="utf-8"))


def test_a_report_shows_the_first_twenty_machines_and_counts_the_others():
    plan = planned(["9.8.4"], repetitions=25)
    trials = [on_machine(trial, kernel=f"6.{trial.trial:02}") for trial in measured(plan)]

    text = markdown_of(plan, trials)

    assert "Machines, as the tasks logged them, and 5 more" in text
    assert "Machine 20 |" in text
    assert "Machine 21" not in text
    assert "6.20 in trial 20, and 5 more." in text


def test_control_characters_and_characters_of_direction_have_no_effect():
    plan = planned(["9.8.4"], repetitions=1)
    (trial,) = measured(plan)

    contents = report_of(plan, [on_machine(trial, kernel="6 \x1b[2J \u202e7")])

    assert r"6 \\u001b\[2J \\u202e7" in markdown(contents)
    assert r"6 \u001b[2J \u202e7" in page(contents)


def test_a_hostile_text_is_shown_in_markdown_without_effect():
    text = re.sub("</?(details|summary|b)>", "", markdown(hostile_run()))

    assert not re.search(r"(?<!\\)[<`\[]", re.sub(r"```sh\n.*\n```", "", text))
    assert "\\<img src=" in text
    assert " @&#8203;all a/b#&#8203;12 GH-&#8203;3" in text
    assert not re.search(r"@all|#12|GH-3", text)
    widths = [re.sub(r"\\.", "", line).count("|") for line in text.splitlines() if line[:1] == "|"]
    assert min(widths) >= 3
    (note,) = [line for line in text.splitlines() if line.startswith("| Note |")]
    assert re.sub(r"\\.", "", note).count("|") == 3


def test_the_page_needs_no_network_and_runs_only_its_own_script():
    elements = Elements(page(report_of(planned(), measured(planned()))))
    (policy,) = [
        attributes["content"]
        for tag, attributes in elements.started
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]

    digest = base64.b64encode(hashlib.sha256(elements.scripts[-1].encode()).digest()).decode()
    assert policy.startswith(f"default-src 'none'; script-src 'sha256-{digest}';")
    links = [
        value
        for _, attributes in elements.started
        for name, value in attributes.items()
        if name in {"src", "href"}
    ]
    assert links == ["data:,", *(f"#section-{number}" for number in range(1, len(links)))]


def test_every_table_of_the_page_has_a_caption_and_names_its_rows_and_columns():
    contents = report_of(planned(), measured(planned()))
    started = Elements(page(contents)).started

    tags = [tag for tag, _ in started]
    assert tags.count("table") == tags.count("caption") == tags.count("thead")
    assert {attributes["scope"] for tag, attributes in started if tag == "th"} == {"row", "col"}
    charts = [attributes for _, attributes in started if attributes.get("role") == "img"]
    assert [attributes["aria-label"].split(":")[0].split(",")[0] for attributes in charts] == [
        "ingest_rate by version", "compaction_rate by version", "18 samples of ingest_rate",
        "45 samples of compaction_rate", "Progress of ingest", "Progress of compaction",
    ]  # fmt: skip
    blocks = [block for section in contents.sections for block in section.blocks]
    blocks += [each for block in blocks if isinstance(block, Details) for each in block.blocks]
    assert tags.count("table") == len(charts) + sum(isinstance(block, Table) for block in blocks)


def test_the_report_of_a_default_run_is_smaller_than_a_megabyte():
    text = page(report_of(planned(), measured(planned())))

    assert len(text.encode()) < 1_000_000


def test_the_script_that_draws_charts_is_the_bundle_of_vl_convert():
    script = VEGA.read_text(encoding="utf-8")

    assert script == vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    # These texts would end the script element.
    assert "</script" not in script
    assert "<!--" not in script


def test_publish_report_writes_the_same_files_again(world, plan):
    for trial in measured(plan):
        key = f"runs/{plan.run_id}/trials/{trial.trial:03d}.json"
        world.bucket.write(key, trial.model_dump_json().encode())

    keys = world.call(publish_report, {"run_id": plan.run_id})
    before = dict(world.bucket.objects)

    folder = f"reports/rocksdb/{plan.run_id}"
    assert keys == {
        name: f"{folder}/{name}"
        for name in ("report.md", "report.html", f"report.{BLOCKS}", "advice.json")
    }
    assert before[keys["report.md"]].startswith(b"# RocksDB: run ")
    assert before[keys["report.html"]].startswith(b"<!DOCTYPE html>")
    # The current name of the stack does not matter.
    assert world.call(publish_report, {"run_id": plan.run_id}) == keys
    assert world.bucket.objects == before


def test_usage_is_drawn_by_version_from_the_start_of_each_trial():
    plan = planned(["9.0.0", "9.8.4"], repetitions=1, tasks=2)
    trials = [
        using(trial, 1, 2, cpu=1.5, memory=400.0, disk_read=1e6, disk_written=2e6)
        for trial in measured(plan)
    ]

    cpu, memory, disk = charts_of(plan, trials, of="of the tasks of ingest")

    assert [
        (point["version"], point["second"], point["value"])
        for layer in cpu.spec["layer"]
        for point in layer["data"]["values"]
    ] == [("9.0.0", 1, 1.5), ("9.0.0", 2, 1.5), ("9.8.4", 1, 1.5), ("9.8.4", 2, 1.5)]
    assert memory.table.rows[0].cells == ("9.0.0", "2", "400.0", "400.0", "2")
    assert disk.table.rows[0].cells[2] == "3.000"
    text = markdown_of(plan, trials)
    assert "Network" not in text, "it was not logged"
    assert "There is no resource usage of the tasks of compaction to draw.\n" in text


def test_tasks_that_are_logged_at_different_moments_are_drawn_as_their_mean():
    (trial,) = measured(plan := planned(["9.0.0"], repetitions=1, tasks=2))
    idle = using(trial, 20, 80, 140.4, 200, cpu=0.2).tests[0].usages[:4]
    busy = using(trial, 31, 90.6, 151, 211, cpu=1.8).tests[0].usages[4:]
    usages = sorted((*idle, *busy), key=lambda usage: usage.logged_at)
    ingest = trial.tests[0].model_copy(update={"usages": tuple(usages)})

    (cpu,) = charts_of(plan, [trial.model_copy(update={"tests": (ingest,)})], of="CPU")

    drawn = [(p["second"], p["value"]) for p in cpu.spec["layer"][0]["data"]["values"]]
    assert drawn == [(25.5, 1.0), (85.3, 1.0), (145.7, 1.0), (205.5, 1.0)]


def test_a_version_without_logged_usage_is_named():
    plan = planned(["9.0.0", "9.8.4"], repetitions=1)
    trials = [using(t, 1, cpu=1.0) if t.version == "9.8.4" else t for t in measured(plan)]

    (cpu,) = charts_of(plan, trials, of="of the tasks of ingest")

    assert cpu.caption.endswith(" Without a line: 9.0.0.")


def test_the_reason_for_unknown_usage_is_shown():
    plan = planned(["9.0.0"], repetitions=3)
    trials = [
        trial.model_copy(
            update={
                "tests": tuple(
                    test.model_copy(update={"usages_unknown": "the query ended as Timeout"})
                    for test in trial.tests
                )
            }
        )
        for trial in measured(plan)
    ]

    text = markdown_of(plan, trials)

    why = "for 9.0.0, trials 1–3: the query ended as Timeout."
    assert f"The resource usage of the tasks of ingest is not known {why}\n" in text
    assert "There is no resource usage" not in text


def test_too_many_versions_for_a_chart_are_left_to_a_comparison():
    versions = ["7.4.4", "7.7.3", "8.0.0", "8.1.1", "8.5.3", "8.6.7", "8.8.1", "9.0.0", "9.8.4"]
    plan = planned(versions, repetitions=1)

    text = markdown_of(plan, measured(plan))

    assert "9 versions are too many for one chart of the progress of ingest; tidemark" in text


def test_a_report_lists_the_files_that_a_run_keeps_and_says_which_are_missing():
    plan = planned(repetitions=1)
    ingest, *rest = plan.suite.tests
    declared = ingest.model_copy(update={"artefacts": (Artefact(file="*.folded"),)})
    suite = plan.suite.model_copy(update={"tests": (declared, *rest)})
    first, *others = measured(plan)
    file = KeptFile(task=0, name="a_b.folded", size=4096, sha256="ab" * 32)
    note = f"task 1: {HOSTILE} is not kept"
    test = first.tests[0].model_copy(update={"artefacts": (file,), "artefact_notes": (note,)})
    trials = [first.model_copy(update={"tests": (test, *first.tests[1:])}), *others]

    text = markdown_of(plan.model_copy(update={"suite": suite}), trials)

    key = f"artefacts/{plan.run_id}/001/ingest/0/a_b.folded"
    assert (
        f"| 1 | {first.version} | ingest | 0 | a_b.folded | 4,096 | {'ab' * 32} | {key} |" in text
    )
    assert f"- trial 1 ({first.version}), ingest: task 1: " in text
    assert "<script>" not in text
    assert "Artefacts" not in markdown_of(plan, trials)
