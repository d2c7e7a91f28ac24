"""The estimate of a run before it starts: time, and cost at AWS's list prices.

Short rounds get more slices than their suite asks for, as many as there is room for.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from tidemark.model.parameters import MOST_TASKS, combinations, count
from tidemark.model.plan import Basis, Estimate, Prices
from tidemark.model.refusal import Refused
from tidemark.model.run_size import check_size
from tidemark.model.run_spec import RunSpec
from tidemark.model.services import Service, questions_within
from tidemark.model.steps import Step
from tidemark.model.suite import ROUNDS, TASKS_OF_GROUP, Suite, Test
from tidemark.model.task import LEAST_BILLED_SECONDS
from tidemark.money.prices import (
    FUNCTION_MEMORY,
    HOURS_OF_MONTH,
    REPORT_MEMORY,
    SERVICE_PRICES,
    TRIALS_MEMORY,
)

# The time of a test beside its work [s]: environment, making and checking records, transfer.
_OVERHEAD_SECONDS = 1.5

# The time for all slices of a round on one machine [s], and the most of them: then another round
# tells more.
_SLICES_SECONDS = 10
_MOST_SLICES = 16

# The following values are assumptions about AWS; no account has confirmed them.
_PULL_SECONDS = 30
# The most slices of a round there.
_MOST_SLICES_OF_MINUTE = 30
# The wait of a version until it is idle before a slice.
_IDLE_SECONDS = 0.1
# The number of times that a test's logs are read: lines arrive some seconds after they are written.
LOG_READINGS = 3
_FUNCTION_SECONDS = 1.5
# ChooseTrial, PrepareTrial, CleanUpTrial and RecordTrial.
_TRIAL_FUNCTIONS = 4
# The readings of a test's logs, with 2 and 4 s between them.
_READING_SECONDS = LOG_READINGS * _FUNCTION_SECONDS + 6
# As measured on one machine: the size of a task's line, and its lines beside the rates.
_LINE_BYTES = 150
_OTHER_LINES = 4
# While tasks run, Container Insights sends an event of each task per minute, and metrics of the
# cluster and of its task definitions.
_USAGE_EVENT_BYTES = 1_200
_USAGE_METRICS = 20
# The log lines of one invocation of a function, and of the events of one state without data.
_INVOCATION_BYTES = 400
_TRANSITION_BYTES = 2_000
# Amazon Athena pricing: the least that a query is billed for.
_LEAST_READ_BYTES = 10 * 10**6
# The number of queries in ``queries/sql``; a look at a run uses some of them.
SAVED_QUERIES = 14
# The tables that these queries read, each counted once for each query. A query lists the objects of
# each suite, and reads each object.
TABLES_READ = 20
# Assumed for the tables: the suites of a stack, and the runs of all of them together.
_SUITES = 8
_STORED_RUNS = 200

# States of the state machines, by the part of a run that enters them.
_RUN_STATES = 10
_CHOOSING_STATES = 4
_TRIAL_STATES = 4
_TEST_STATES = 2
_STEP_STATES = 2
_GROUP_STATES = 2
# ChooseStep and StartService; each question enters a function, a choice and a wait.
_SERVICE_STATES = 2
_STOP_SECONDS = 30
# Each reading enters CollectRates and EveryTaskReported, and WaitForLogs before the next reading.
_READING_STATES = 3


def with_slices(suite: Suite, request: RunSpec, *, one_machine: bool = False) -> Suite:
    """Return a suite whose rounds have more slices than it asks for, if they are short.

    A neighbour on the machine slows some slices, and the median of many slices hardly moves. On AWS
    they cost nothing until the minute that a task is billed for is over. A suite whose run would
    be too large keeps its own number of slices.
    """
    if request.layout != ROUNDS:
        return suite
    if one_machine:
        room, most = float(_SLICES_SECONDS), _MOST_SLICES
    else:
        room = LEAST_BILLED_SECONDS - _PULL_SECONDS - _OVERHEAD_SECONDS
        most = _MOST_SLICES_OF_MINUTE
    tests = [
        test.model_copy(update={"slices": _slices(test, request, room, most)})
        for test in suite.tests
    ]
    longer = suite.model_copy(update={"tests": tuple(tests)})
    try:
        check_size(request.measured(longer), request)
    except Refused:
        return suite
    return longer


def _slices(test: Test, request: RunSpec, room: float, most: int) -> int:
    """Return the number of slices of each version, at most ``most``, that fill ``room`` seconds."""
    least = test.slices or test.jobs
    one = test.model_copy(update={"jobs": 1})
    block = sum(_step_seconds(one, step, request) - _OVERHEAD_SECONDS for step in one.every_step)
    block = len(request.measured_versions) * (block + _IDLE_SECONDS)
    return max(least, min(most, int(room / block)))


def estimate(request: RunSpec, suite: Suite, prices: Prices) -> Estimate:
    """Return the estimate of a run on AWS, where all tasks of a test run side by side.

    So do the rounds of a batch.
    """
    suite = request.measured(with_slices(suite, request))
    trials = count_trials(request, suite)
    shared = _sharing(request)
    billed = math.ceil(
        trials
        / shared
        * sum(
            tasks * _billed_seconds(shared * seconds)
            for tasks, seconds in _every_step(suite, request)
        )
    )
    scanned = trials * _scanned_bytes(request, suite)
    transitions = count_transitions(request, suite, LOG_READINGS)
    services = list(_every_service(suite, request))
    seconds = math.ceil(trials / shared / request.at_once) * _round_seconds(request, suite)
    of_services = trials * sum(seconds for _, seconds in services)
    athena = SAVED_QUERIES * _LEAST_READ_BYTES
    return Estimate(
        basis=_basis(request, suite),
        seconds=seconds,
        task_seconds=billed + of_services,
        tasks_usd=prices.of_tasks(suite.task, billed)
        + trials * sum(_service_usd(each, seconds, request, prices) for each, seconds in services),
        insights_bytes=scanned,
        queries_usd=prices.of_queries(scanned),
        transitions=transitions,
        services_usd=_services(request, suite, transitions, seconds),
        athena_bytes=athena,
        athena_usd=SERVICE_PRICES.of_athena(athena)
        + TABLES_READ * (_SUITES * SERVICE_PRICES.listing + _STORED_RUNS * SERVICE_PRICES.reading),
    )


def _round_seconds(request: RunSpec, suite: Suite) -> float:
    """Return the time of a round, or of a trial alone, on AWS [s].

    It has the pulls of its images, its functions and the readings of its logs.
    """
    work = sum(declared_seconds(test, request, MOST_TASKS) for test in suite.tests)
    pulls = sum(1 for tasks, _ in _every_step(suite, request) if tasks)
    pulls += sum(len(test.services) for test in suite.tests)
    beside = _TRIAL_FUNCTIONS * _FUNCTION_SECONDS + len(suite.tests) * _READING_SECONDS
    return _sharing(request) * work + pulls * _PULL_SECONDS + beside


def _sharing(request: RunSpec) -> int:
    """Return the number of versions that share the tasks and the execution of a round."""
    return len(request.measured_versions) if request.layout == ROUNDS else 1


def count_trials(request: RunSpec, suite: Suite) -> int:
    """Return the most trials of a run on AWS."""
    return request.trials_in_batches(_round_seconds(request, suite))


def declared_seconds(test: Test, request: RunSpec, at_once: int) -> float:
    """Return the declared time of a test [s] if ``at_once`` tasks run side by side."""
    return sum(
        _step_seconds(test, step, request) * max(1.0, step.own_tasks(request.tasks) / at_once)
        for step in test.every_step
    )


def count_transitions(request: RunSpec, suite: Suite, readings: int) -> int:
    """Return how many states a run enters if each test's logs are read ``readings`` times."""
    # No WaitForLogs follows the last reading.
    test = _TEST_STATES + readings * _READING_STATES - 1
    steps = sum(_step_states(one, step, request) for one in suite.tests for step in one.every_step)
    services = sum(map(_services_states, suite.tests))
    trial = _CHOOSING_STATES + _TRIAL_STATES + len(suite.tests) * test + steps + services
    return _RUN_STATES + math.ceil(count_trials(request, suite) / _sharing(request)) * trial


def _services_states(test: Test) -> int:
    """Return how many states the start and the end of a test's services enter."""
    return len(test.services) * _SERVICE_STATES + _service_questions(test) * _READING_STATES


def _ready_questions(test: Test) -> int:
    """Return how often a test asks a log query whether its services are ready."""
    return len(test.services) * questions_within(_PULL_SECONDS)


def _service_questions(test: Test) -> int:
    """Return how often a test asks whether its services are ready, and then have stopped."""
    return _ready_questions(test) + questions_within(_STOP_SECONDS) if test.services else 0


def _step_states(test: Test, step: Step, request: RunSpec) -> int:
    """Return how many states a step enters; each question of a wait is like a reading of logs."""
    if step.wait_until or step.load:
        return _questions(test, step, request) * _READING_STATES
    tasks = step.tasks(request.tasks)
    return _STEP_STATES + math.ceil(tasks / TASKS_OF_GROUP) * _GROUP_STATES + tasks


def _questions(test: Test, step: Step, request: RunSpec) -> int:
    """Return how often a step asks its query if it takes its approximate time."""
    seconds = _step_seconds(test, step, request)
    if step.load:  # most levels are logged at the second question
        return 2 * math.ceil(seconds / step.load.level_seconds)
    return step.wait_until.questions(seconds) if step.wait_until else 0


def _all_questions(suite: Suite, request: RunSpec) -> int:
    """Return how often the steps of a trial ask their queries."""
    return sum(_questions(test, step, request) for test in suite.tests for step in test.every_step)


def _basis(request: RunSpec, suite: Suite) -> Basis:
    times = (_declared(test, step) for test in suite.tests for step in test.every_step)
    if any(seconds is None for seconds in times):
        return "time limits"
    return "most repetitions" if request.until and not request.within_seconds else "declared times"


def _every_step(suite: Suite, request: RunSpec) -> Iterator[tuple[int, float]]:
    """Yield the suite's tasks of each step of a trial, and their approximate duration [s]."""
    for test in suite.tests:
        for step in test.every_step:
            yield step.own_tasks(request.tasks), _step_seconds(test, step, request)


def _every_service(suite: Suite, request: RunSpec) -> Iterator[tuple[Service, int]]:
    """Yield each service of each test of a trial, and the time that Fargate bills for it [s]."""
    for test in suite.tests:
        steps = (_step_seconds(test, step, request) for step in test.every_step)
        # Each step waits for the pull of its own image while the service runs.
        seconds = sum(_PULL_SECONDS + each for each in steps)
        for name in test.services:
            yield suite.services[name], _billed_seconds(seconds)


def _service_usd(service: Service, seconds: int, request: RunSpec, prices: Prices) -> float:
    """Return the cost of a service in a trial, the mean of its sizes, which are measured alike."""
    under = combinations(request.axes)
    return sum(prices.of_tasks(service.task_under(axes), seconds) for axes in under) / len(under)


def _declared(test: Test, step: Step) -> float | None:
    """Return the declared duration of a step, or of one job of its tasks [s]; None without it."""
    return step.seconds or (test.seconds if step.run_tasks else None)


def _step_seconds(test: Test, step: Step, request: RunSpec) -> float:
    limit, seconds = test.limit_seconds(step), _declared(test, step)
    if seconds is None:
        return limit
    if not step.seconds:
        amounts = (float(request.parameters[name]) / amount for name, amount in test.per.items())
        seconds = test.fixed_seconds + seconds * test.jobs * math.prod(amounts)
    # The task ends at its time limit, whatever its size.
    return min(_OVERHEAD_SECONDS + seconds, limit)


def _billed_seconds(seconds: float) -> int:
    return max(LEAST_BILLED_SECONDS, math.ceil(_PULL_SECONDS + seconds))


def _logged_bytes(request: RunSpec, suite: Suite) -> int:
    """Return how much the tasks of a trial log [B]."""
    lines = sum(
        test.task_count(request.tasks) * (len(test.metrics) * test.jobs + _OTHER_LINES)
        for test in suite.tests
    )
    return lines * _LINE_BYTES


def _scanned_bytes(request: RunSpec, suite: Suite) -> int:
    """Return how much a trial's log queries scan [B]: each scans all lines of the trial."""
    # Two queries for each metric in every reading; in the last one for each series, too, and that
    # of the environment.
    queries = sum(
        LOG_READINGS * 2 * len(test.metrics) + len(test.series) + 1 for test in suite.tests
    )
    queries += _all_questions(suite, request) + sum(map(_ready_questions, suite.tests))
    return queries * _logged_bytes(request, suite) + _usage_bytes(request, suite)


def _usage_bytes(request: RunSpec, suite: Suite) -> int:
    """Return how much Container Insights logs of a trial's tasks [B]; each test reads it once."""
    minutes = sum(
        tasks * math.ceil(_billed_seconds(seconds) / 60)
        for tasks, seconds in _every_step(suite, request)
    )
    minutes += sum(math.ceil(seconds / 60) for _, seconds in _every_service(suite, request))
    return minutes * _USAGE_EVENT_BYTES


def _services(request: RunSpec, suite: Suite, transitions: int, seconds: float) -> float:
    trials = count_trials(request, suite)
    # Once: PlanRun and the last ChooseTrial.
    questions = _all_questions(suite, request) + sum(map(_service_questions, suite.tests))
    others = 2 + trials * (_TRIAL_FUNCTIONS + len(suite.tests) * LOG_READINGS + questions)
    # Once: RecordRates and RecordOutcome; PublishReport.
    invocations = others + 3
    series = len(request.measured_versions) * count(request.axes)
    metrics = series * sum(len(test.metrics) for test in suite.tests)
    metrics += _USAGE_METRICS
    hours = math.ceil(seconds / 3600)
    logged = (
        trials * (_logged_bytes(request, suite) + _usage_bytes(request, suite))
        + invocations * _INVOCATION_BYTES
        + transitions * _TRANSITION_BYTES
    )
    return (
        transitions * SERVICE_PRICES.transition
        + SERVICE_PRICES.of_functions(2, _FUNCTION_SECONDS, TRIALS_MEMORY)
        + SERVICE_PRICES.of_functions(1, _FUNCTION_SECONDS, REPORT_MEMORY)
        + SERVICE_PRICES.of_functions(others, _FUNCTION_SECONDS, FUNCTION_MEMORY)
        + SERVICE_PRICES.of_logs(logged)
        + metrics * hours * SERVICE_PRICES.metric / HOURS_OF_MONTH
    )
