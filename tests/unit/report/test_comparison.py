"""The comparison of two versions in both of its forms."""

import re
from cProfile import Profile
from dataclasses import replace
from datetime import timedelta

import pytest
import vl_convert

from lambdas import publish_comparison, publish_report
from tests.plans import RUN, STARTED, plan_of
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
from tidemark.model.plan import Import
from tidemark.model.refusal import Refused
from tidemark.model.results import NO_EXCLUSIONS, Exclusion
from tidemark.model.subject import Subject
from tidemark.report.comparison import publishing
from tidemark.report.comparison.contents import comparison
from tidemark.report.comparison.document import document
from tidemark.report.comparison.publishing import comment
from tidemark.report.comparison.sides import sides
from tidemark.report.markdown import markdown
from tidemark.report.page import page
from tidemark.report.run_report.measured import measured_run
from tidemark.report.run_report.publishing import report
from tidemark.run.run_outcome import planned_outcome
from tidemark.store.columns import timestamp
from tidemark.store.keys import run_of_version
from tidemark.store.stored_run import StoredRun

BOTH = ["9.0.0", "9.8.4"]
LATER = "20261127T124455Z-fedcba"
LATEST = "20261204T124455Z-0a1b2c"


def run_of(plan, trials, exclusions=NO_EXCLUSIONS):
    return StoredRun(plan, trials, exclusions, [])


def comparison_of(plan, trials, exclusions=NO_EXCLUSIONS):
    run = run_of(plan, trials, exclusions)
    return comparison(sides((run, "9.0.0"), (run, "9.8.4")))


def markdown_of(plan, trials, exclusions=NO_EXCLUSIONS):
    return markdown(comparison_of(plan, trials, exclusions))


def section(text, heading):
    without_folds = re.sub(r"<details>.*\n\n|\n\n</details>", "", text)
    return without_folds.partition(f"## {heading}\n")[2].partition("\n## ")[0]


def steady(base, new):
    """Return a plan and its trials with these rates of ``ingest``."""
    plan = planned(BOTH, repetitions=len(base))
    return plan, ingest_of(plan, {"9.0.0": base, "9.8.4": new})


def test_starts_of_tasks_that_differ_do_not_make_the_sides_unlike():
    plan = planned(BOTH, tasks=2, repetitions=2)
    first, *others = measured(plan)
    ingest, compaction = first.tests
    late = ingest.tasks[1].started_at + timedelta(seconds=2.25)
    later = (ingest.tasks[0], replace(ingest.tasks[1], started_at=late))
    apart = (ingest.model_copy(update={"tasks": later}), compaction)
    trials = [first.model_copy(update={"tests": apart}), *others]

    assert "measured alike" not in markdown_of(plan, trials)


def test_the_sections_are_those_that_a_performance_engineer_writes():
    headings = [
        found.heading for found in comparison_of(planned(BOTH), measured(planned(BOTH))).sections
    ]

    assert headings == [
        "Results", "Comments", "Setup", "Other settings",
        "Graphs: ingest", "Graphs: compaction",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("base", "new", "delta"),
    [
        (8552, 9994, "+16.86 %"),
        (8682, 10045, "+15.70 %"),
        (9230, 9219, "−0.12 %"),
        (11330, 11292, "−0.34 %"),
    ],
)
def test_a_delta_is_the_one_that_mattermost_published_and_one_figure_a_side_cannot_tell(
    base, new, delta
):
    text = markdown_of(*steady([base], [new]))

    cells = row(section(text, "Results"), "ingest")
    assert cells[2:7] == ["? cannot tell", delta, "none", f"{base:,.1f}", f"{new:,.1f}"]
    reason = f"ingest_rate: 1 of the 5 pairs that a verdict needs. Δ {delta}, 1 pair; means "
    assert f"- {reason}" in section(text, "Comments")


def test_a_certain_change_is_shown_with_its_evidence():
    text = markdown_of(*steady([1000, 1000, 1000, 1000, 1000], [880, 910, 890, 920, 900]))

    # By hand: ln(new / base) has the mean -0.10548 and the standard deviation 0.01757; 4 degrees of
    # freedom have t 2.776: 0.89989 times or by exp(2.776 * 0.01757 / sqrt(5)).
    assert (
        "- ingest_rate is 10.0 % slower with 9.8.4, 95 % interval −12.0 % to −8.0 %, 5 pairs; "
        "means 900 against 1,000 records/s.\n"
    ) in section(text, "Comments")
    assert "- Find out why ingest_rate is 10.0 % slower, or accept it" in text
    assert row(section(text, "Results"), "ingest")[2:] == [
        "▼ slower", "−10.01 %", "−11.95 % to −8.03 %", "1,000.0", "900.0", "0.0", "15.81",
        "5 of 5, 5 of 5",
    ]  # fmt: skip


def test_a_larger_figure_is_slower_if_lower_is_better():
    plan, trials = steady([1000, 1010, 1020, 1000, 1010], [900, 909, 918, 900, 909])

    text = markdown_of(with_ingest(plan, direction="lower"), trials)

    assert "ingest_rate is 10.00 % faster with 9.8.4" in text


def test_the_answer_names_the_test_of_a_metric_that_two_tests_have():
    plan = with_ingest(planned(BOTH, repetitions=6), name="compaction_rate")

    text = markdown_of(plan, measured(plan))

    assert "- = same: compaction: compaction_rate, ingest: compaction_rate\n" in text
    assert "- ingest: compaction_rate is the same within ±5 %, " in text
    assert "- compaction: compaction_rate is the same within ±5 %, " in text
    assert "ingest: ingest: " not in text


def test_a_certainly_small_change_is_no_change():
    text = markdown_of(*steady([1000, 1001, 1002, 1000, 1000], [1000, 1001, 1003, 1000, 1001]))

    assert "The same:\n\n- ingest_rate is the same within ±5 %, 95 % interval " in text
    assert "Action items" not in text


def test_the_margins_of_a_metric_are_those_of_its_findings_and_of_the_rule():
    plan, trials = steady([1000, 1010, 1020, 1000, 1010], [1080, 1090, 1100, 1080, 1090])

    text = markdown_of(with_ingest(plan, margin=0.1, same_within=0.125), trials)

    assert "- ingest_rate is the same within ±12.5 %, 95 % interval " in text
    assert "a change of 10 % (ingest_rate), 3 % (compaction_rate) or more. " in text
    assert (
        " interval of the change stays within ±12.5 % (ingest_rate), ±5 % (compaction_rate). "
        in text
    )


def test_an_uncertain_change_has_an_advised_number_of_trials():
    text = markdown_of(*steady([1000, 1100, 900, 1000, 1000], [1060, 1000, 990, 1000, 1010]))

    assert "- ingest_rate: the pairs scatter too much. Δ +1.4 %, 95 % interval −" in text
    assert (
        "\nMeasure both again, with about 30 repetitions:\n\n```sh\ntidemark run rocksdb "
        "--versions 9.0.0,9.8.4 --baseline 9.0.0 --repetitions 30\n```\n\nIt takes about "
    ) in text
    assert " It decides in four cases of five if rates change and scatter as before.\n" in text
    assert "- The trials of 9.0.0 scatter by 7.07 % of their mean in ingest_rate: 900.0, " in text


def test_a_metric_below_zero_scatters_by_a_share_of_its_size():
    text = markdown_of(
        *steady([-1000, -1100, -900, -1000, -1000], [-1000, -1001, -999, -1000, -1000])
    )

    assert (
        "- The trials of 9.0.0 scatter by 7.07 % of their mean in ingest_rate: −1,100.0, " in text
    )


def test_a_build_is_measured_again_from_its_wheel():
    build, wheel = "0.4.0+00000000", "file:///my%20dist/x.whl#sha256=" + "0" * 64
    plan = planned(["9.0.0", build], repetitions=1, builds={build: wheel})
    run = run_of(plan, ingest_of(plan, {"9.0.0": [1000], build: [1200]}))

    text = markdown(comparison(sides((run, "9.0.0"), (run, build))))

    assert " --versions 9.0.0,'/my dist/x.whl' --baseline 9.0.0 --repetitions 5\n" in text


def test_a_version_with_one_trial_has_a_change_and_no_verdict():
    text = markdown_of(*steady([1000], [1200]))

    assert row(section(text, "Results"), "ingest")[2:] == [
        "? cannot tell", "+20.00 %", "none", "1,000.0", "1,200.0", "one trial", "one trial",
        "1 of 1, 1 of 1",
    ]  # fmt: skip
    assert "- ingest_rate: 1 of the 5 pairs that a verdict needs. Δ +20.00 %, 1 pair; " in text
    assert "- 9.8.4 has no spread of ingest_rate, compaction_rate: only one trial counts." in text
    assert "\nMeasure both again, with about 5 repetitions:\n\n```sh\ntidemark run" in text


def test_the_rule_says_how_often_chance_alone_makes_a_verdict():
    text = section(markdown_of(*steady([1000], [900])), "Results")

    assert "If nothing has changed, at most 1 % of runs until decided say slower or faster" in text
    assert "up to 8 % of those say so, if one version alone has slow outliers" in text


def test_a_base_of_zero_has_no_verdict():
    text = markdown_of(*steady([0.0, 0.0], [5.0, 6.0]))

    assert "- ingest_rate: a rate is zero or below.\n" in text
    assert "- Find out why there is no verdict on ingest_rate: a rate is zero or below.\n" in text
    assert "repetitions of such short tests" not in text
    assert row(section(text, "Results"), "ingest")[2:5] == ["? cannot tell", "none", "none"]


def test_a_version_without_rates_is_not_measured_and_no_loss_of_100_percent():
    plan, trials = steady([1000, 1010], [900, 909])
    trials = [failed(trial) if trial.version == "9.8.4" else trial for trial in trials]

    text = markdown_of(plan, trials)

    assert row(section(text, "Results"), "ingest")[2:7] == [
        "– not comparable", "none", "none", "1,005.0", "missing",
    ]  # fmt: skip
    assert ("- ingest_rate cannot be compared: both trials of 9.8.4 failed.\n") in section(
        text, "Comments"
    )
    assert "(9.8.4) failed: ingest: its container ended with exit code 1" in text
    assert "-100" not in text
    assert "Look into the logs of the failed trials of run" in text


def test_trials_that_are_left_out_are_named_with_their_reason_and_count_nowhere():
    plan, trials = steady([1000, 1010], [900, 1])
    noisy = next(trial.trial for trial in trials if trial.tests[0].rates[0].value == 1)

    text = markdown_of(plan, trials, left_out(noisy, "a neighbour was noisy"))

    assert f"trial {noisy} (9.8.4) is left out of every figure: a neighbour was noisy" in text
    assert row(section(text, "Results"), "ingest")[6] == "900.0"
    assert "9.8.4 has no spread of ingest_rate" in text


def test_a_version_that_is_left_out_as_a_whole_is_named():
    plan, trials = steady([1000], [900])
    new = next(trial.trial for trial in trials if trial.version == "9.8.4")

    assert "every trial of 9.8.4 is left out on request" in markdown_of(
        plan, trials, left_out(new, "x")
    )


def another_run(plan, trials):
    """Return the comparison of this run of 9.8.4 with another run of 9.0.0."""
    base = planned(["9.0.0"], repetitions=2, name=LATER, records=2_000_000)
    base_run = run_of(base, ingest_of(base, {"9.0.0": [1000, 1010]}))
    return comparison(sides((base_run, "9.0.0"), (run_of(plan, trials), "9.8.4")))


@pytest.mark.parametrize(("first", "steadiness"), [(835, None), (1100, "less steady")])
def test_the_metrics_of_two_runs_share_the_changes_of_spread_by_chance(first, steadiness):
    rates = {
        "9.0.0": [1002, 1002, 1003, 1001, 1016, 997, 1006, 1009, 1002, 1011],
        "9.8.4": [first, 945, 991, 1077, 941, 988, 997, 1048, 1059, 1015],
    }
    plans = {each: planned([each], repetitions=10, name=name)
             for each, name in zip(BOTH, (LATER, RUN), strict=True)}  # fmt: skip
    base, new = (
        (run_of(plans[each], ingest_of(plans[each], {each: rates[each]})), each) for each in BOTH
    )

    ingest, _ = sides(base, new).pairs

    # By the test of Fligner and Killeen: p = 0.0087 and 0.0036, of 0.01 for both metrics.
    found = ingest.verdict.spread
    assert (found.word if found else None) == steadiness


def test_two_runs_are_suspicious_and_their_differences_are_marked():
    plan = planned(["9.8.4"], repetitions=2)
    trials = [
        on_machine(trial, cpu_model="Intel Xeon")
        for trial in ingest_of(plan, {"9.8.4": [1000, 1010]})
    ]

    text = markdown(another_run(plan, trials))

    comments, setup = section(text, "Comments"), section(text, "Setup")
    assert (
        f"The two sides were measured in different runs, {LATER} and {RUN}, not in turns"
        in comments
    )
    assert (
        "The two sides were not measured alike: Parameter records is 2,000,000 records for 9.0.0 "
        in text
    )
    assert row(setup, "Machine: cpu\\_model" if "cpu\\_" in setup else "Machine: cpu_model") == [
        "Machine: cpu_model", "AMD EPYC 7R13", "Intel Xeon",
    ]  # fmt: skip
    assert "| Task size |" not in setup
    assert "| Task size |" in section(text, "Other settings")
    assert "- Measure both on machines of one kind.\n" in text
    assert "\nMeasure both alike, in one run, with about 5 repetitions:\n" in text
    assert "--versions 9.0.0,9.8.4 --baseline 9.0.0 " in text
    assert "--set records=2000000\n" in text


def test_the_first_action_for_unlike_sizes_is_to_measure_alike():
    runs = []
    for name, records, rates in ((RUN, 1_000_000, [900, 909]), (LATER, 100_000, [300, 303])):
        plan = planned(["9.8.4"], repetitions=2, name=name, records=records)
        runs.append((run_of(plan, ingest_of(plan, {"9.8.4": rates})), "9.8.4"))

    text = markdown(comparison(sides(*runs)))

    assert (
        "? 2 cannot tell. The two sides were not measured alike: Parameter records is 1,000,000 "
        "records for" in text
    )
    assert "- ? cannot tell: ingest_rate, compaction_rate (different runs measured the " in text
    assert "ingest_rate: different runs measured the versions. Δ −66.7 %, 95 % " in text
    assert f"\nMeasure 9.8.4 again, as run {RUN} did, with about 5 repetitions:\n" in text
    command = text.partition("```sh\n")[2].partition("\n")[0]
    assert command.startswith("tidemark run rocksdb --versions 9.8.4 --repetitions")
    assert command.endswith("--set records=1000000")


def test_two_instances_are_unlike_and_no_run_is_advised_that_no_instance_allows():
    places = {"objects": ["s3://kiwi/{instance}/x"], "version": "kiwi.version"}
    subject = Subject(instance=places, form=r"\d\.\d\.\d")
    suite = planned().suite.model_copy(update={"subject": subject})
    runs = []
    for name, instance, version in ((RUN, "old", "9.0.0"), (LATER, "new", "9.8.4")):
        fields = {"versions": [version], "repetitions": 2, "instance": instance}
        plan = plan_of(fields, suite=suite, name=name)
        runs.append((run_of(plan, ingest_of(plan, {version: [1000, 1010]})), version))

    text = markdown(comparison(sides(*runs)))

    assert "Parameter instance is old for 9.0.0 and new for 9.8.4" in section(text, "Comments")
    assert row(section(text, "Setup"), "Parameter instance")[1:] == ["old", "new"]
    assert row(section(text, "Other settings"), "Package")[1:] == [
        "missing",
        "missing",
    ]
    assert "\nJudge the change by its interval: a verdict needs pairs of trials in one run" in text
    assert "tidemark run" not in text


def test_a_metric_that_decides_nothing_asks_for_no_longer_tests():
    plan, trials = steady([1000, 1900, 100, 1000, 900], [1900, 1000, 1100, 110, 900])
    ingest, compaction = plan.suite.tests
    apart = [each.model_copy(update={"decides": False}) for each in ingest.metrics]
    tests = (ingest.model_copy(update={"metrics": tuple(apart)}), compaction)
    suite = plan.suite.model_copy(update={"tests": tests})

    text = markdown_of(plan.model_copy(update={"suite": suite}), trials)

    assert "ingest_rate (the pairs scatter too much)" in text
    assert "such short tests" not in text


def test_one_command_has_more_trials_and_longer_tests():
    text = markdown_of(*steady([1000, 1900, 100, 1000, 900], [1900, 1000, 1100, 110, 900]))

    assert text.count("\nMeasure ") == text.count("tidemark run") == 1
    command = text.partition("```sh\n")[2].partition("\n")[0]
    assert " and records 2,000,000, because 100 repetitions of such short tests would give" in text
    assert command.endswith("--set records=2000000")


def test_a_field_of_a_version_makes_no_machines_unlike():
    plan, trials = steady([1000, 1010, 1020] * 2, [500, 509, 518] * 2)
    told = [on_machine(trial, duckdb_module=f"m{trial.version}") for trial in trials]

    text = markdown_of(plan, told)

    assert "▼ slower" in text
    assert "unlike machines" not in text
    assert "not measured alike" not in text
    assert row(text, "Logged: duckdb_module") == ["Logged: duckdb_module", "m9.0.0", "m9.8.4"]


def test_a_version_that_is_less_steady_is_a_finding_of_its_own():
    plan, trials = steady(
        [1000, 1015, 990, 1005, 988, 1010, 1002, 996, 1009, 994],
        [1040, 900, 1110, 970, 850, 1180, 1010, 930, 1080, 990],
    )
    sentence = (
        "ingest_rate is less steady with 9.8.4: its trials scatter by 11.08 % around their "
        "median, and trials of 9.0.0 by 1.11 % (Fligner-Killeen test, p = 0.0014)."
    )
    run = run_of(plan, trials)

    assert f"Steadiness:\n\n- {sentence}\n" in section(markdown_of(plan, trials), "Comments")
    assert f"- {sentence}" in section(markdown(report(measured_run(run))), "Steadiness")
    told = document(sides((run, "9.0.0"), (run, "9.8.4"))).metrics
    assert [metric.steadiness for metric in told] == ["less steady", None]
    assert "Steadiness" not in markdown_of(*steady([1000] * 10, [900] * 10))
    other = [on_machine(each, cpu_model=f"cpu {each.version}") for each in trials]
    assert "is less steady with 9.8.4 on unlike machines: its trials" in markdown_of(plan, other)


def test_the_machine_of_a_trial_that_is_left_out_does_not_count():
    plan, trials = steady([1000, 1010, 1020], [900, 909, 918])
    other = next(trial for trial in trials if trial.version == "9.8.4")
    moved = on_machine(other, cpu_model="Intel Xeon").model_copy(update={"status": "failed"})
    trials[other.trial - 1] = moved
    signs = [
        "9.8.4: cpu_model was not the same for all trials",
        "The two sides were not measured alike: Machine cpu_model is AMD EPYC 7R13 for 9.0.0 and",
        "Measure both on machines of one kind.",
        f"Look into the logs of the failed trials of run {RUN}: {other.trial}.",
    ]

    counted = markdown_of(plan, trials)
    without = markdown_of(plan, trials, left_out(other.trial, "another machine"))

    assert [sign for sign in signs if sign in counted] == signs
    assert [sign for sign in signs if sign in without] == []


def test_a_setting_that_is_not_recorded_is_no_difference():
    plan, trials = steady([1000, 1010], [900, 909])
    trials = [on_nothing(failed(trial)) if trial.version == "9.8.4" else trial for trial in trials]

    text = markdown_of(plan, trials)

    assert "not measured alike" not in text
    assert "machines of one kind" not in text
    assert row(section(text, "Other settings"), "Machine: cpu_model") == [
        "Machine: cpu_model", "AMD EPYC 7R13", "not recorded",
    ]  # fmt: skip


def on_nothing(trial):
    """Return a trial whose tasks ended before they logged their machine."""
    tests = tuple(test.model_copy(update={"environments": ()}) for test in trial.tests)
    return trial.model_copy(update={"tests": tests})


def test_one_version_of_two_packages_is_suspicious():
    plan = planned(["9.0.0"], repetitions=2)
    repacked = [on_machine(trial, package_digest="ef56") for trial in measured(plan)]
    later = planned(["9.0.0"], repetitions=2, name=LATER)
    both = sides((run_of(plan, repacked), "9.0.0"), (run_of(later, measured(later)), "9.0.0"))

    text = markdown(comparison(both))

    assert (
        f"- The two sides were not measured alike: Package digest is ef56 for 9.0.0 of {RUN} and "
        f"ab12 for 9.0.0 of {LATER}.\n"
    ) in section(text, "Comments")


@pytest.mark.parametrize(
    ("changed", "unit", "reason"),
    [
        ({"unit": "rows/s"}, "rows/s", "its unit is records/s for 9.0.0 and rows/s for 9.8.4"),
        ({"direction": "lower"}, "records/s", "higher is better for 9.0.0, lower for 9.8.4"),
    ],
)
def test_a_metric_whose_unit_or_direction_changed_is_not_compared(changed, unit, reason):
    plan = with_ingest(planned(["9.8.4"], repetitions=2), **changed)

    text = markdown(another_run(plan, measured(plan)))

    assert f"ingest_rate cannot be compared: {reason}." in text
    assert row(section(text, "Results"), "ingest")[1:4:2] == [
        f"ingest_rate \\[{unit}\\]", "none",
    ]  # fmt: skip
    # Figures of one unit have a chart.
    assert (f"No chart of ingest_rate: {reason}." in text) == ("unit" in changed)


def test_a_metric_that_one_side_alone_has_is_shown_on_that_side():
    plan = with_ingest(planned(["9.8.4"], repetitions=2), name="write_rate")
    trials = [
        trial.model_copy(
            update={
                "tests": tuple(
                    result.model_copy(
                        update={
                            "rates": tuple(
                                rate.model_copy(update={"metric": "write_rate"})
                                for rate in result.rates
                            )
                        }
                    )
                    if result.test == "ingest"
                    else result
                    for result in trial.tests
                )
            }
        )
        for trial in ingest_of(plan, {"9.8.4": [1000, 1010]})
    ]

    text = markdown(another_run(plan, trials))

    results = section(text, "Results")
    assert row(results, "ingest", "write_rate \\[records/s\\]")[2:7] == [
        "– not comparable", "none", "none", "missing", "1,005.0",
    ]  # fmt: skip
    assert row(results, "ingest", "ingest_rate \\[records/s\\]")[6] == "missing"
    assert "write_rate cannot be compared: the suite that measured 9.0.0 has no write_rate" in text


def published(trials):
    """Return the run of a page that names the tests in the other order."""
    plan = planned(["9.0.0"])
    place = Import(file="page.md", line=1, source="", imported_on=STARTED.date())
    suite = plan.suite.model_copy(update={"tests": plan.suite.tests[::-1]})
    return run_of(plan.model_copy(update={"imported": place, "suite": suite}), trials)


def test_a_page_with_the_tests_in_another_order_was_not_measured_in_another_suite():
    new = run_of(planned(["9.8.4"]), measured(planned(["9.8.4"])))

    text = markdown(
        comparison(sides((published(measured(planned(["9.0.0"]))), "9.0.0"), (new, "9.8.4")))
    )

    assert "not measured alike: Suite is" not in text


def test_a_metric_that_no_page_publishes_is_nothing_to_find_the_reason_of():
    plan = with_ingest(planned(["9.8.4"]), name="write_rate")
    new = run_of(plan, measured(plan))

    text = markdown(
        comparison(sides((published(measured(planned(["9.0.0"]))), "9.0.0"), (new, "9.8.4")))
    )

    assert "write_rate cannot be compared: no write_rate of ingest of 9.0.0 is published" in text
    assert "Find out why write_rate" not in text


def test_a_drift_over_the_trials_of_both_versions_is_found():
    plan = planned(BOTH, repetitions=3)
    trials = [with_values(trial, "ingest", [1000.0 - 20 * trial.trial]) for trial in measured(plan)]

    assert "- ingest_rate falls from 104.92 % to 95.08 % of its mean" in markdown_of(
        plan, trials
    ), "each trial is some 2 % below the one before"
    assert "(r = −0.9" in markdown_of(plan, trials)


@pytest.mark.parametrize(
    "rates",
    [
        # r is 0.83: beyond chance with four degrees of freedom, but not with the three that six
        # trials have without the means of both versions.
        [1000, 1040, 1000, 1060, 1020, 1100],
        # r is 0.96, but the movement is half a percent.
        [1000, 1001, 1002, 1003, 1004, 1005],
    ],
)
def test_a_small_movement_or_one_by_chance_is_no_drift(rates):
    plan = planned(BOTH, repetitions=3)
    trials = [
        with_values(trial, "ingest", [rate])
        for trial, rate in zip(measured(plan), rates, strict=True)
    ]

    assert "in the order in which they ran" not in markdown_of(plan, trials)


def test_a_comparison_takes_work_in_proportion_to_its_samples():
    def work(tasks):
        plan = planned(BOTH, repetitions=1, tasks=tasks)
        trials = [using(trial, *range(10), cpu=1.0) for trial in measured(plan)]
        with Profile() as profile:
            comparison_of(plan, trials)
        return sum(function.callcount for function in profile.getstats())

    assert work(80) < 2.2 * work(40)


def test_the_same_runs_give_the_same_bytes():
    first, again = (comparison_of(planned(BOTH), measured(planned(BOTH))) for _ in range(2))

    assert markdown(first) == markdown(again)
    assert page(first) == page(again)


def working(trial, seconds):
    """Return a trial whose ingest finished a piece of work after each of these seconds."""
    ingest, compaction = trial.tests
    begun = ingest.tasks[0].started_at
    samples = tuple(
        replace(ingest.samples[0], logged_at=timestamp(begun + timedelta(seconds=s)))
        for s in seconds
    )
    return trial.model_copy(
        update={"tests": (ingest.model_copy(update={"samples": samples}), compaction)}
    )


def progress_of(plan, trials):
    _, chart, *_ = charts(comparison_of(plan, trials))
    return chart


def test_progress_is_aligned_at_the_start_and_as_long_as_the_longer_side():
    plan = planned(BOTH, repetitions=1)
    took = {"9.0.0": [2, 4], "9.8.4": [3, 9.5]}
    chart = progress_of(plan, [working(trial, took[trial.version]) for trial in measured(plan)])

    base, new = (
        [(p["second"], p["value"]) for p in each["data"]["values"]] for each in chart.spec["layer"]
    )
    assert base == [(0, 0), (2, 1_000_000), (4, 2_000_000)]
    assert new == [(0, 0), (3, 1_000_000), (9.5, 2_000_000)]
    assert chart.spec["encoding"]["x"]["scale"]["domain"] == [0, 9.5]
    assert [mark.words for mark in chart.legend] == BOTH
    assert [row.cells[0] for row in chart.table.rows] == BOTH
    assert chart.table.rows[1].cells[2:] == ("3.0", "3.0", "9.5", "9.5", "2,000,000")


def test_progress_without_records_counts_pieces_of_work():
    plan = planned(BOTH, repetitions=1)
    trials = [working(trial, [1, 2]) for trial in measured(plan)]
    ingest, compaction = trials[0].tests
    unknown = tuple(replace(sample, records=None) for sample in ingest.samples)
    trials[0] = trials[0].model_copy(
        update={"tests": (ingest.model_copy(update={"samples": unknown}), compaction)}
    )

    chart = progress_of(plan, trials)

    assert chart.spec["encoding"]["y"]["title"] == "jobs finished"
    assert max(p["value"] for each in chart.spec["layer"] for p in each["data"]["values"]) == 2


def test_progress_of_a_long_test_is_thinned_to_what_a_chart_shows():
    plan = planned(BOTH, repetitions=1)
    trials = [working(trial, range(1, 1001)) for trial in measured(plan)]

    chart = progress_of(plan, trials)

    drawn = chart.spec["layer"][0]["data"]["values"]
    assert len(drawn) == 200
    assert (drawn[0]["second"], drawn[-1]["second"]) == (0, 1000)


def test_vega_lite_draws_every_chart_of_a_comparison():
    for chart in charts(comparison_of(planned(BOTH), measured(planned(BOTH)))):
        assert "<path" in vl_convert.vegalite_to_svg({**chart.spec, "width": 600})


def test_a_table_too_long_for_a_comment_is_left_to_the_page():
    report = comparison_of(planned(BOTH), measured(planned(BOTH)))

    text = markdown(report, most_rows=5)

    assert (
        "Every sample of ingest_rate in records/s, as it was logged: 6 rows, in the page.\n" in text
    )
    assert "| ingest |" in section(text, "Results")


def test_a_comparison_of_many_tests_fits_a_comment():
    plan = planned(BOTH, repetitions=20)
    report = comparison_of(plan, measured(plan))
    many = report._replace(sections=report.sections * 8)

    assert len(markdown(many, most_rows=40)) > 65_536
    assert len(comment(many)) <= 65_536
    assert comment(report) == markdown(report, most_rows=40)


def test_a_comparison_with_many_failures_fits_a_comment_and_keeps_its_results():
    plan = planned(BOTH, repetitions=50)
    few = {trial.trial for trial in plan.trials[-6:]}
    trials = [t if t.trial in few else failed(t, "x" * 1000) for t in measured(plan)]

    text = comment(comparison_of(plan, trials))

    assert len(text) <= 65_536
    assert "xxx…\n" in text
    assert f"- {RUN}: 42 more are in its report." in section(text, "Comments")
    assert "| ingest |" in section(text, "Results")


def test_the_longest_section_is_left_out_of_a_comment_that_is_still_too_long():
    report = comparison_of(plan := planned(BOTH, repetitions=1), measured(plan))
    results, *others = sorted(report.sections, key=lambda found: found.heading != "Results")
    long = results._replace(blocks=results.blocks * 300)

    text = comment(report._replace(sections=(long, *others)))

    assert "## Results\n" not in text
    assert "## Comments\n" in text
    assert "## Left out\n\nA comment holds 65,536 characters. The page has more: Results." in text


def test_a_hostile_text_is_shown_without_effect():
    plan = with_ingest(planned(BOTH, repetitions=1, note=HOSTILE), unit=HOSTILE)
    first, *rest = [on_machine(trial, cpu_model=HOSTILE) for trial in measured(plan)]
    trials = [failed(first, HOSTILE), *rest]

    report = comparison_of(plan, trials)

    assert HOSTILE not in page(report)
    assert "\\<img" in markdown(report)


def stored(world, plan, trials):
    world.bucket.write(f"runs/{plan.run_id}/plan.json", plan.model_dump_json().encode())
    for trial in trials:
        key = f"runs/{plan.run_id}/trials/{trial.trial:03d}.json"
        world.bucket.write(key, trial.model_dump_json().encode())
    world.call(publish_report, {"run_id": plan.run_id})


def compare(bucket, suite, base, new):
    return publishing.publish_comparison(bucket, suite, base, new)


@pytest.fixture
def archive(world):
    """Two runs: an older one of three versions, and a newer one of two."""
    for name, versions in ((RUN, ["8.8.1", *BOTH]), (LATER, ["8.8.1", "9.0.0"])):
        plan = planned(versions, repetitions=1, name=name)
        trials = [trial.model_copy(update={"run_id": name}) for trial in measured(plan)]
        stored(world, plan, trials)
    return world


def test_two_versions_are_compared_in_the_newest_run_of_both(archive):
    def key_of(base, new):
        return compare(archive.bucket, "rocksdb", base, new)["md"].removeprefix("reports/rocksdb/")

    assert key_of("8.8.1", "9.0.0") == f"{LATER}/9.0.0-against-8.8.1.md"
    assert key_of("9.0.0", "9.8.4") == f"{RUN}/9.8.4-against-9.0.0.md"
    assert key_of("previous", "newest") == f"{RUN}/9.8.4-against-9.0.0.md"
    assert key_of("9.8.4", "9.0.0") == f"{RUN}/9.0.0-against-9.8.4.md"
    assert key_of("9.8.4", LATER + "/9.0.0") == f"{LATER}/9.0.0-against-{RUN}-9.8.4.md"
    assert key_of("9.0.0", "9.0.0") == f"{LATER}/9.0.0-against-{RUN}-9.0.0.md"
    assert key_of(f"{RUN}/9.0.0", f"{LATER}/9.0.0") == f"{LATER}/9.0.0-against-{RUN}-9.0.0.md"


def test_the_run_of_both_is_found_without_listing_all_runs_of_either(archive, monkeypatch):
    for days in range(1, 500):
        run = f"{STARTED - timedelta(days=days):%Y%m%dT%H%M%SZ}-abcdef"
        archive.bucket.write(run_of_version("rocksdb", "9.0.0", run), b"")
    listing, listed = archive.bucket.keys, []

    def keys(prefix, at_once=1_000):
        for key in listing(prefix, at_once):
            listed.append(key)
            yield key

    monkeypatch.setattr(archive.bucket, "keys", keys)

    compare(archive.bucket, "rocksdb", "9.0.0", "8.8.1")

    assert sum(key.startswith("versions/") for key in listed) < 10


def left_out_of(world, run_id, *, excluded):
    """Exclude a run, or include it again."""
    exclusion = Exclusion(excluded=excluded, reason="x", at=STARTED).model_dump_json()
    world.bucket.write(f"runs/{run_id}/exclusions/run.json", exclusion.encode())
    world.call(publish_report, {"run_id": run_id})


def test_an_excluded_run_is_compared_only_after_its_inclusion(archive):
    def taken():
        return compare(archive.bucket, "rocksdb", "8.8.1", "9.0.0")["md"].split("/")[2]

    left_out_of(archive, LATER, excluded=True)
    assert taken() == RUN
    left_out_of(archive, LATER, excluded=False)
    assert taken() == LATER


def test_an_aborted_run_is_compared_only_if_there_is_no_other(archive):
    def taken(base, new):
        return compare(archive.bucket, "rocksdb", base, new)["md"].split("/")[2]

    def end(run, status):
        plan = planned(BOTH, repetitions=1, name=run)
        outcome = planned_outcome(plan, [], set(), "arn:x", STARTED)
        aborted = outcome.model_copy(update={"status": status})
        archive.bucket.write(f"runs/{run}/outcome.json", aborted.model_dump_json().encode())

    end(LATER, "aborted")
    end(RUN, "complete")
    assert taken("8.8.1", "9.0.0") == RUN
    end(RUN, "aborted")
    assert taken("8.8.1", "9.0.0") == LATER


def test_a_version_that_failed_in_the_run_of_the_other_is_taken_from_another_run(archive):
    plan = planned(["9.7.3", "9.8.4"], repetitions=1, name=LATEST)
    trials = [failed(t) if t.version == "9.8.4" else t for t in measured(plan)]
    stored(archive, plan, trials)

    written = compare(archive.bucket, "rocksdb", "9.8.4", "9.7.3")

    assert written["md"] == f"reports/rocksdb/{LATEST}/9.7.3-against-{RUN}-9.8.4.md"


@pytest.mark.parametrize(
    ("base", "new", "sentence"),
    [
        ("9.0.0", "7.4.4", "NEW: no run has a rate of rocksdb 7.4.4 that counts"),
        (
            "9.0.0",
            "9.8.5",
            "NEW: no run has a rate of rocksdb 9.8.5 that counts; did you mean '9.8.4'?",
        ),
        (
            "9.0.0",
            RUN,
            f"NEW: run {RUN} measured 8.8.1, 9.0.0, 9.8.4; name one of them, as {RUN}/8",
        ),
        ("9.0.0", f"{RUN}/7.4.4", f"NEW: run {RUN} measured 8.8.1, 9.0.0, 9.8.4, not 7.4.4"),
        (f"{RUN[:-1]}0", "9.0.0", f"BASE: run {RUN[:-1]}0 is not stored"),
        (
            "9.8.4",
            "9.8.4",
            f"BASE: {RUN} is the only run with a rate of rocksdb 9.8.4 that counts; name ",
        ),
        (
            f"{LATER}/9.0.0",
            "9.0.0",
            f"NEW: 9.0.0 of run {LATER} is BASE, too; name another",
        ),
        ("../x", "9.0.0", "BASE: '../x' names no version and no run; expected the form of 9.8.4, "),
    ],
)
def test_sides_that_cannot_be_compared_are_refused(archive, base, new, sentence):
    with pytest.raises(Refused) as refused:
        compare(archive.bucket, "rocksdb", base, new)

    assert str(refused.value).startswith(sentence)


@pytest.mark.parametrize("base", ["newest", "previous"])
def test_a_word_without_a_version_is_refused(archive, base):
    rated = "versions with a rate that counts: none"
    with pytest.raises(Refused, match=f"BASE: sleeper has no {base} version; {rated}"):
        compare(archive.bucket, "sleeper", base, "9.0.0")


def test_a_run_of_another_suite_is_refused(archive):
    with pytest.raises(Refused, match=f"NEW: run {RUN} is of the suite rocksdb, not sleeper"):
        compare(archive.bucket, "sleeper", "9.0.0", f"{RUN}/9.0.0")


def test_a_comparison_is_made_again_to_the_same_bytes(archive):
    fields = {"suite": "rocksdb", "base": "9.0.0", "new": "9.8.4"}
    keys = archive.call(publish_comparison, fields)
    before = dict(archive.bucket.objects)

    assert archive.call(publish_comparison, fields) == keys
    assert archive.bucket.objects == before
    assert archive.bucket.objects[keys["html"]].startswith(b"<!DOCTYPE html>")


def test_a_run_with_a_baseline_has_its_comparisons_beside_its_report(archive):
    plan = planned(["8.8.1", *BOTH], repetitions=1, baseline="9.0.0", name=LATER)

    stored(archive, plan, [t.model_copy(update={"run_id": LATER}) for t in measured(plan)])

    below = f"reports/rocksdb/{LATER}/"
    found = {key.removeprefix(below) for key in archive.bucket.keys(below)}
    assert found == {
        "report.md", "report.html", "report.blocks.json", "advice.json",
        "8.8.1-against-9.0.0.md", "8.8.1-against-9.0.0.html", "8.8.1-against-9.0.0.json",
        "8.8.1-against-9.0.0.blocks.json", "9.8.4-against-9.0.0.md", "9.8.4-against-9.0.0.html",
        "9.8.4-against-9.0.0.json", "9.8.4-against-9.0.0.blocks.json",
    }  # fmt: skip


def test_a_run_is_indexed_by_version_even_if_its_report_fails(archive, monkeypatch):
    def timed_out(*_):
        raise TimeoutError

    monkeypatch.setattr("tidemark.report.run_report.publishing.page", timed_out)
    plan = planned(["9.7.3"], repetitions=1, name=LATER)

    with pytest.raises(TimeoutError):
        stored(archive, plan, measured(plan))

    assert len(list(archive.bucket.keys("versions/rocksdb/9.7.3/"))) == 1


def with_cpu_time(plan, trials, seconds=lambda _: 1.5):
    """Return a plan and trials whose ingest has a CPU time beside its rate, by the trial."""
    test = plan.suite.test("ingest")
    cpu = test.metrics[0].model_copy(
        update={"name": "ingest_cpu", "unit": "CPU µs/record", "direction": "lower"}
    )
    both = test.model_copy(update={"metrics": (*test.metrics, cpu)})
    tests = tuple(both if each.name == "ingest" else each for each in plan.suite.tests)
    suite = plan.suite.model_copy(update={"tests": tests})

    def beside(trial, result):
        of_cpu = {"metric": "ingest_cpu", "unit": cpu.unit, "direction": "lower"}
        of_cpu["value"] = seconds(trial)
        rates = (*result.rates, result.rates[0].model_copy(update=of_cpu))
        return result.model_copy(update={"rates": rates}) if result.test == "ingest" else result

    return plan.model_copy(update={"suite": suite}), [
        trial.model_copy(update={"tests": tuple(beside(trial, each) for each in trial.tests)})
        for trial in trials
    ]


def test_a_comparison_says_first_that_a_rate_and_its_cpu_time_disagree():
    slower = steady([1000, 1010, 1020, 1000, 1010], [800, 808, 816, 800, 808])

    text = markdown_of(*with_cpu_time(*slower)).partition("## Results")[0]

    assert "- ingest_rate is slower, and its CPU time the same (ingest_cpu 0.00 %): " in text
