"""The size of a run, which the limits of AWS and the memory of the functions bound."""

from __future__ import annotations

import math
from collections.abc import Iterator

from tidemark.model.metric import MOST_POINTS, MOST_SAMPLES, Metric
from tidemark.model.parameters import MOST_TASKS, count
from tidemark.model.refusal import Refused
from tidemark.model.run_id import MOST_PROFILED, MOST_TRIALS
from tidemark.model.run_spec import CONFIRMATION, RunSpec
from tidemark.model.sentences import plural
from tidemark.model.services import LONGEST_STOP_SECONDS, questions_within
from tidemark.model.steps import Step
from tidemark.model.suite import Suite, Test
from tidemark.model.task import MOST_FILES

# The history of a trial's execution holds 25,000 events, too. At worst a task takes 45: 2 for
# its iteration, 19 for five failed starts and a task that ends, 20 for a classification with five
# retries, 2 for its state, and 2 for the state after it. A step has 10 groups of tasks with 8
# events each. A test waits for its logs at most 124 times, with 24 events each if every query uses
# all retries, and so does a step that waits until a query has a row, for each of its questions. A
# service is asked for before the test and after it, and takes 20 events for five failed starts.
MOST_TRIAL_EVENTS = 24_900
EVENTS_OF_TASK = 45
EVENTS_OF_STEP = 90
EVENTS_OF_TEST = 2_980
EVENTS_OF_QUESTION = 24
EVENTS_OF_SERVICE = 20
# Entries are what a run keeps: tasks, samples, minutes of usage, points of series, files. A
# function that reads a whole run holds up to 1.5 kB for each, and one that reads a trial has a
# quarter of its memory. `make bench` runs both at these limits.
MOST_RUN_ENTRIES = 1_000_000
MOST_TRIAL_ENTRIES = 100_000


def check_size(suite: Suite, spec: RunSpec) -> None:
    """Refuse a run that is too large for the services or the functions.

    Raises
    ------
    Refused
        If the run is too large; the message has the numbers and the limit.

    """
    _check_trials(suite, spec)
    _check_steps(suite, spec.tasks)
    _check_history(suite, spec.tasks)
    _check_answers(suite, spec.tasks)


def most_trials(suite: Suite, tasks: int) -> int:
    """Return the most trials of a run with this number of tasks."""
    return min(MOST_TRIALS, MOST_RUN_ENTRIES // entries(suite, tasks))


def entries(suite: Suite, tasks: int) -> int:
    """Return the most entries that a trial may keep."""
    return sum(_entries(test, tasks) for test in suite.tests)


def most_values(metric: Metric, test: Test, tasks: int) -> int:
    """Return the most values of a metric that a test keeps; a task may log more, and fail.

    A metric without samples keeps what its query answers: one value of each task and its labels.
    """
    if metric.samples is None:
        return min(MOST_SAMPLES, tasks * (metric.most_labels or 1))
    if metric.began:
        return MOST_SAMPLES
    if metric.values == "any":
        return min(MOST_SAMPLES, tasks * metric.values_at_most)
    return min(MOST_SAMPLES, tasks * metric.values_of(test.jobs) * (metric.most_labels or 1))


def _check_trials(suite: Suite, spec: RunSpec) -> None:
    tasks, trials, of_trial = spec.tasks, spec.most_trials, entries(suite, spec.tasks)
    if trials > MOST_TRIALS:
        raise Refused(
            f"repetitions: {_extent(spec)} are {trials} trials; one run has at most {MOST_TRIALS}"
        )
    if of_trial > MOST_TRIAL_ENTRIES:
        raise Refused(
            f"tasks: {_work(suite, tasks)} may keep {of_trial:,} values, "
            f"files and minutes of usage; one trial has at most {MOST_TRIAL_ENTRIES:,}"
        )
    if spec.profiled_trials > MOST_PROFILED:
        raise Refused(
            f"profile.trials: {plural(len(spec.versions), 'version')} have {spec.profiled_trials} "
            f"profiled trials; one run has at most {MOST_PROFILED}"
        )
    trials = spec.all_trials
    if trials * of_trial > MOST_RUN_ENTRIES:
        raise Refused(
            f"repetitions: {plural(trials, 'trial')} of {plural(tasks, 'task')} may keep "
            f"{trials * of_trial:,} values, files and minutes of usage; one run has at most "
            f"{MOST_RUN_ENTRIES:,}, enough for {plural(MOST_RUN_ENTRIES // of_trial, 'such trial')}"
            f"{_less(suite, tasks)}"
        )


def _less(suite: Suite, tasks: int) -> str:
    """Return how trials keep less, as the end of a sentence; '' if their values are counted."""
    any_number = {
        metric.name: most_values(metric, test, tasks)
        for test in suite.tests
        for metric in test.metrics
        if metric.values == "any" and metric.samples
    }
    if not any_number:
        return ""
    name = max(any_number, key=lambda each: any_number[each])
    return f"; a lower values_at_most of {name} makes room for more"


def _work(suite: Suite, tasks: int) -> str:
    return f"{plural(tasks, 'task')} of {plural(len(suite.tests), 'test')}"


def _extent(spec: RunSpec) -> str:
    """Return the repetitions of a run, for people."""
    confirmation = f", and {CONFIRMATION} to confirm," if spec.until else ""
    under = f" under {count(spec.axes)} combinations of axes" if spec.axes else ""
    versions = plural(len(spec.measured_versions), "version")
    return f"{spec.repetitions}{confirmation} of {versions}{under}"


def _check_steps(suite: Suite, tasks: int) -> None:
    for test in suite.tests:
        # CollectRates takes the results of all tasks of a test in one event of 256 KiB.
        if (of_test := test.task_count(tasks)) > MOST_TASKS:
            raise Refused(
                f"tasks: the steps of {test.name} run {of_test} tasks together; "
                f"a test has at most {MOST_TASKS}"
            )


def _check_history(suite: Suite, tasks: int) -> None:
    events = sum(
        EVENTS_OF_TEST
        + sum(map(_step_events, test.every_step))
        + _services_events(suite, test)
        + test.task_count(tasks) * EVENTS_OF_TASK
        for test in suite.tests
    )
    if events > MOST_TRIAL_EVENTS:
        raise Refused(
            f"tasks: {_work(suite, tasks)} may take {events} events; the "
            f"history of a trial holds {MOST_TRIAL_EVENTS}"
        )


def _services_events(suite: Suite, test: Test) -> int:
    """Return the most events of the start and the end of a test's services."""
    if not test.services:
        return 0
    starts = sum(suite.services[name].questions for name in test.services)
    questions = starts + questions_within(LONGEST_STOP_SECONDS)
    return len(test.services) * EVENTS_OF_SERVICE + questions * EVENTS_OF_QUESTION


def _step_events(step: Step) -> int:
    """Return the most events of a step beside the events of its tasks."""
    wait = step.wait_until
    questions = wait.questions(wait.within_seconds) if wait else 0
    questions += step.load.questions if step.load else 0
    return EVENTS_OF_STEP + questions * EVENTS_OF_QUESTION


def _check_answers(suite: Suite, of_run: int) -> None:
    for test in suite.tests:
        tasks = test.task_count(of_run)
        if tasks * test.jobs > MOST_SAMPLES:
            raise Refused(
                f"tasks: {tasks} tasks of {test.jobs} jobs log more than the {MOST_SAMPLES} "
                "rates that one query returns"
            )
        for metric in test.metrics:
            rows = tasks * (metric.most_labels or 1)
            if rows > MOST_SAMPLES:
                raise Refused(
                    f"tasks: {plural(tasks, 'task')} with {metric.most_labels} combinations of "
                    f"labels of {metric.name} give {rows} rows; one query returns {MOST_SAMPLES}"
                )


def _entries(test: Test, of_run: int) -> int:
    tasks = test.task_count(of_run) + len(test.services)
    minutes = sum(_task_minutes(test, of_run))
    # The answer of a query that would have more is not kept.
    usage = min(minutes, MOST_SAMPLES)
    files = MOST_FILES if test.artefacts else 0
    return tasks + usage + files + sum(_figures(test, tasks)) + MOST_POINTS * len(test.series)


def _task_minutes(test: Test, of_run: int) -> Iterator[int]:
    """Yield the most minutes that the tasks of each step run."""
    for step in test.every_step:
        tasks = step.tasks(of_run) + len(test.services)
        yield tasks * math.ceil(test.limit_seconds(step) / 60)


def _figures(test: Test, tasks: int) -> Iterator[int]:
    """Yield the values of each metric, once for each figure that is made of them."""
    for metric in test.metrics:
        yield len(metric.statistics) * most_values(metric, test, tasks)
