"""Sentences that something is missing, each against results in which that would be untrue."""

import pytest

from tests.unit.load_results import BASE, NEW, load_run
from tests.unit.measured_runs import failed, ingest_of, left_out, measured, planned
from tests.unit.report.test_labels import latency_plan, run_of, with_latencies
from tests.unit.report.test_series_charts import run_of as series_run
from tidemark.model.results import Exclusion, Exclusions
from tidemark.report.comparison.contents import comparison
from tidemark.report.comparison.sides import sides
from tidemark.report.markdown import markdown
from tidemark.report.run_report.measured import measured_run
from tidemark.report.run_report.publishing import report
from tidemark.store.stored_run import StoredRun

BOTH = ("9.0.0", "9.8.4")


def text_of(run):
    return markdown(report(measured_run(run))).replace("\\", "")


def compared(run, base=BOTH[0], new=BOTH[1]):
    return markdown(comparison(sides((run, base), (run, new)))).replace("\\", "")


def excluded(run, *numbers):
    """Return a run without these trials."""
    reasons = {f"{n:03d}": Exclusion(excluded=True, reason="noise", at=run.plan.started_at)
               for n in numbers}  # fmt: skip
    return run._replace(exclusions=Exclusions(reasons))


def under(run, database, version=NEW):
    return [trial.trial for trial in run.trials
            if (trial.axes["database"], trial.version) == (database, version)]  # fmt: skip


def second_failed(trial):
    """Return a trial whose second test failed, with the rates of its first."""
    first, second = trial.tests
    rates = tuple(rate.model_copy(update={"value": None}) for rate in second.rates)
    second = second.model_copy(update={"status": "failed", "reason": "exit code 1", "rates": rates})
    changes = {"status": "failed", "reason": "compaction: exit code 1", "tests": (first, second)}
    return trial.model_copy(update=changes)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ([second_failed], "None of 1 trial gave all rates, 1 failed with some rates."),
        ([failed], "None of 1 trial gave rates, 1 failed."),
        (
            [second_failed, failed, lambda trial: trial],
            "1 of 3 trials gave all rates, 1 failed, 1 failed with some rates.",
        ),
        ([failed, lambda trial: trial], "1 of 2 trials gave rates, 1 failed."),
    ],
)
def test_a_trial_with_the_rates_of_some_tests_is_counted_as_such(changes, sentence):
    plan = planned(["9.8.4"], repetitions=len(changes))
    trials = [change(trial) for change, trial in zip(changes, measured(plan), strict=True)]

    assert sentence in text_of(StoredRun(plan, trials, left_out(9, "x"), []))


def test_trials_that_failed_or_were_left_out_under_one_value_of_an_axis_are_named_with_it():
    whole = load_run(2)
    lost = load_run(2, lambda trial, result: result.model_copy(update={
        "status": "failed", "reason": "exit code 1",
        "rates": tuple(rate.model_copy(update={"value": None}) for rate in result.rates),
    }) if trial.axes["database"] == "mariadb" and trial.version == NEW else result)  # fmt: skip

    told = compared(excluded(whole, *under(whole, "mariadb")), BASE, NEW)
    assert f"every trial of {NEW} {{database: mariadb}} is left out on request" in told
    assert f"every trial of {NEW} is left out" not in told
    told = compared(lost, BASE, NEW)
    assert f"both trials of {NEW} {{database: mariadb}} failed" in told
    assert f"both trials of {NEW} failed" not in told


def test_a_metric_that_another_test_of_the_suite_has_is_missing_in_its_own_test_alone():
    plan = latency_plan(statistics=("mean",))
    new = run_of(plan)
    (ingest, compaction) = plan.suite.tests
    # The older suite has the metric in its second test.
    tests = (ingest.model_copy(update={"metrics": compaction.metrics}),
             compaction.model_copy(update={"metrics": ingest.metrics}))  # fmt: skip
    suite = plan.suite.model_copy(update={"tests": tests})
    older = plan.model_copy(update={"suite": suite, "run_id": "20261019T124455Z-abcdef"})
    base = StoredRun(older, [
        trial.model_copy(update={"tests": tuple(
            each.model_copy(update={"test": {"ingest": "compaction"}.get(each.test, "ingest")})
            for each in with_latencies(trial, ingest.metrics[0], ["create"]).tests
        )}) for trial in measured(plan)
    ], new.exclusions, [])  # fmt: skip

    told = markdown(comparison(sides((base, "9.0.0"), (new, "9.8.4")))).replace("\\", "")

    missing = "the suite that measured 9.0.0 has no latency {operation: create}"
    assert f"{missing} of ingest" in told
    assert f"{missing}." not in told


def test_what_is_left_out_was_measured_and_logged():
    run = series_run()
    numbers = [trial.trial for trial in run.trials if trial.version == "9.8.4"]
    without, lone = excluded(run, 1, 2), excluded(run, *numbers)

    for text in (text_of(without), text_of(lone), compared(without), compared(lone)):
        for words in ("not measured", "Not measured", "was not measured", "was logged for",
                      "No progress", "No value", "has no rate (", "has no rate |"):  # fmt: skip
            assert words not in text
    assert "There is no progress of ingest to draw." in text_of(without)
    assert "| missing |" in compared(lone)
    assert "Without a line: 9.8.4." in str(comparison(sides((lone, "9.0.0"), (lone, "9.8.4"))))


def test_a_figure_without_samples_that_is_left_out_is_no_figure_that_nobody_logged():
    run = load_run(1)

    told = text_of(excluded(run, *(trial.trial for trial in run.trials)))

    assert "No finite number" not in told
    assert "There is no chart of throughput" in told
    assert "no sample is a finite number, and no rate counts." in told


def test_a_series_that_could_not_be_read_may_have_values():
    told = text_of(series_run(points=0, unknown="the query ended as Timeout"))

    assert "No value" not in told
    assert "There is no value of users to draw." in told


def test_a_small_change_that_is_the_same_is_a_change():
    plan = planned(BOTH, repetitions=6)
    rates = {"9.0.0": [1000, 1001, 999, 1000, 1001, 999], "9.8.4": [1020, 1021, 1019] * 2}

    told = compared(StoredRun(plan, ingest_of(plan, rates), left_out(99, "x"), []))

    assert (
        "The same:\n\n- ingest_rate is the same within ±5 %, 95 % interval +2.00 % to +2." in told
    )
    assert "o change" not in told
