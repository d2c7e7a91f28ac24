"""Tasks at two levels in reports and comparisons."""

from dataclasses import replace

from tests.unit.measured_runs import ingest_of, left_out, measured, planned, row, with_ingest
from tidemark.model.results import NO_EXCLUSIONS
from tidemark.model.steps import RunTasks, Step
from tidemark.report.comparison.contents import comparison
from tidemark.report.comparison.sides import sides
from tidemark.report.markdown import markdown
from tidemark.report.run_report.measured import measured_run
from tidemark.report.run_report.publishing import report
from tidemark.store.stored_run import StoredRun

FAST, SLOW = "Intel Xeon", "AMD EPYC"


def with_processors(trial):
    """Return a trial of 9.8.4 whose last four of ten tasks ingest slowly, on other processors."""
    ingest, *others = trial.tests
    processors = [FAST] * 6 + [SLOW] * 4
    tasks = tuple(
        replace(task, cpu_model=processor, host=f"ip-{task.index}")
        for task, processor in zip(ingest.tasks, processors, strict=True)
    )
    slow = {task.task_id for task in tasks if task.cpu_model == SLOW}
    samples = tuple(
        replace(sample, value=(180e3 if sample.task_id in slow else 300e3) + number)
        for number, sample in enumerate(ingest.samples)
    )
    changed = ingest.model_copy(update={"tasks": tasks, "samples": samples})
    return trial.model_copy(update={"tests": (changed, *others)})


def run():
    plan = planned(["9.0.0", "9.8.4"], repetitions=1, tasks=10)
    trials = [
        with_processors(trial) if trial.version == "9.8.4" else trial for trial in measured(plan)
    ]
    return StoredRun(plan, trials, NO_EXCLUSIONS, [])


SENTENCE = (
    "- The tasks of 9.8.4 have two levels in ingest_rate, so that their mean describes neither: "
    "4 at about 180,015.5 records/s (AMD EPYC) and 6 at about 300,005.5 records/s (Intel Xeon). "
    "Unlike hosts, other programs or the version itself make such levels.\n"
)


def test_a_report_has_both_levels_and_the_samples_by_task():
    stored = run()
    text = markdown(report(measured_run(stored)))

    (trial,) = [each.trial for each in stored.trials if each.version == "9.8.4"]
    assert SENTENCE in text
    assert row(text, str(trial), "0", "ip-0")[3:] == [FAST, "2", "300,000.5", "high"]
    assert row(text, str(trial), "9", "ip-9")[3:] == [SLOW, "2", "180,018.5", "low"]
    assert text.count("Samples of ingest") == 1


def test_the_tasks_of_a_trial_that_is_left_out_have_no_levels():
    stored = run()
    (trial,) = [each.trial for each in stored.trials if each.version == "9.8.4"]
    without = stored._replace(exclusions=left_out(trial, "a neighbour"))

    assert "two levels" not in markdown(report(measured_run(without)))


def test_a_comparison_has_a_sentence_on_both_levels():
    stored = run()

    assert SENTENCE in markdown(comparison(sides((stored, "9.0.0"), (stored, "9.8.4"))))


def test_tasks_have_no_levels_in_a_rate_that_decides_nothing():
    stored = run()
    ingest, *others = stored.plan.suite.tests
    metric = ingest.metrics[0].model_copy(update={"decides": False})
    tests = (ingest.model_copy(update={"metrics": (metric,)}), *others)
    suite = stored.plan.suite.model_copy(update={"tests": tests})
    plan = stored.plan.model_copy(update={"suite": suite})

    assert "two levels" not in markdown(
        report(measured_run(StoredRun(plan, stored.trials, NO_EXCLUSIONS, [])))
    )


def test_jobs_that_are_too_little_work_are_told_in_a_report_and_in_a_comparison():
    plan = with_ingest(
        planned(["9.0.0", "9.8.4"], repetitions=2), name="ingest_work", unit="share", work_from=0.8
    )
    trials = ingest_of(plan, {"9.0.0": [0.9, 0.7], "9.8.4": [0.5, 0.75]})
    stored = StoredRun(plan, trials, NO_EXCLUSIONS, [])

    told = "- Only 62.50 % of the time of the jobs of ingest is work in 9.8.4 (ingest_work), and "
    for text in (
        report(measured_run(stored)),
        comparison(sides((stored, "9.0.0"), (stored, "9.8.4"))),
    ):
        assert told in markdown(text)
        assert "is work in 9.0.0" not in markdown(text)


def test_the_samples_of_a_metric_are_those_of_the_tasks_of_its_step():
    plan = planned(["9.0.0"], repetitions=1, tasks=2)
    ingest, *others = plan.suite.tests
    steps = tuple(Step(name=name, run_tasks=RunTasks(count=1)) for name in ("load", "read"))
    metrics = (ingest.metrics[0].model_copy(update={"step": "read"}),)
    ingest = ingest.model_copy(update={"steps": steps, "metrics": metrics})
    suite = plan.suite.model_copy(update={"tests": (ingest, *others)})
    plan = plan.model_copy(update={"suite": suite})
    (trial,) = measured(plan)
    result, *rest = trial.tests
    tasks = tuple(ingest.with_steps(1, result.tasks))
    trial = trial.model_copy(update={"tests": (result.model_copy(update={"tasks": tasks}), *rest)})

    text = markdown(report(measured_run(StoredRun(plan, [trial], NO_EXCLUSIONS, []))))

    samples = text.partition("**Every sample of ingest_rate")[2].partition("</details>")[0]
    assert [line.split("|")[3].strip() for line in samples.splitlines() if "9.0.0" in line] == ["1"]


def test_tasks_at_one_level_are_not_mentioned():
    plan = planned(["9.0.0", "9.8.4"], repetitions=5, tasks=4)

    assert "two levels" not in markdown(
        report(measured_run(StoredRun(plan, measured(plan), NO_EXCLUSIONS, [])))
    )
