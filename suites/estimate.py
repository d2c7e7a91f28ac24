"""What a run is expected to take, told before it starts: time, and money at AWS's list prices."""

from __future__ import annotations

import math
from typing import Literal

from suites.model import MOST_ITERATIONS, MOST_TASKS, Frozen, Suite, Test
from suites.prices import HOURS_OF_MONTH, LEAST_BILLED_SECONDS, SERVICE_PRICES, Prices
from suites.request import Settled

# What a test costs beside its work: environment, generation and checking of records, transfer [s].
_OVERHEAD_SECONDS = 1.5

# What follows is assumed of AWS; no account has confirmed it.
_PULL_SECONDS = 30
# How often a test's logs are read: lines arrive some seconds after they were written.
LOG_READINGS = 3
_FUNCTION_SECONDS = 1.5
# As measured on one machine: a line of a task, and those beside its rates.
_LINE_BYTES = 150
_OTHER_LINES = 4
# What Container Insights sends of a cluster while tasks run: an event of each task in a minute, and
# metrics of the cluster and of its task definitions.
_USAGE_EVENT_BYTES = 1_200
_USAGE_METRICS = 20
# A function's lines of one invocation; the events of one state, logged without their data.
_INVOCATION_BYTES = 400
_TRANSITION_BYTES = 2_000
# Amazon Athena pricing: what a query is billed for at least.
_LEAST_READ_BYTES = 10 * 10**6
# As many as ``queries/sql`` has: whoever looks at a run asks some of them.
SAVED_QUERIES = 11

# States of the state machines, by what makes them be entered.
_RUN_STATES = 10
_CHOOSING_STATES = 3
_TRIAL_STATES = 4
_TEST_STATES = 2
# Of each reading: CollectRates and EveryTaskReported, with WaitForLogs between two.
_READING_STATES = 3

Basis = Literal["declared times", "time limits"]


class Estimate(Frozen):
    """What a run is expected to take on AWS, whole and at the prices of its plan."""

    basis: Basis
    """Whether the suite declares how long its tests take, or their time limits stand for it: then
    the times that follow, and what they cost, are an upper bound."""
    seconds: float
    """How long the tests take, one after the other [s]."""
    task_seconds: int
    """What Fargate bills for the tasks together [s]."""
    tasks_usd: float
    insights_bytes: int
    """What the log queries scan [B]."""
    queries_usd: float
    transitions: int
    """Of both state machines, without retries."""
    services_usd: float
    """State transitions, functions, log lines taken in and custom metrics [USD]."""
    athena_bytes: int
    """Billed for each saved query asked once [B]: a run itself asks none."""
    athena_usd: float

    @property
    def measuring_usd(self) -> float:
        """What its tasks and log queries cost [USD]: what is recorded of a run afterwards."""
        return self.tasks_usd + self.queries_usd

    @property
    def usd(self) -> float:
        """What the run costs [USD], and one look at its tables."""
        return self.measuring_usd + self.services_usd + self.athena_usd


def estimate(request: Settled, suite: Suite, prices: Prices) -> Estimate:
    """Return what a run is expected to take on AWS, where all tasks of a test run side by side."""
    trials = _trials(request)
    billed = trials * sum(
        request.tasks * _billed_seconds(test, request.records) for test in suite.tests
    )
    scanned = trials * _scanned_bytes(request, suite)
    transitions = count_transitions(request, suite, LOG_READINGS)
    seconds = estimate_seconds(request, suite) + trials * len(suite.tests) * _PULL_SECONDS
    athena = SAVED_QUERIES * _LEAST_READ_BYTES
    return Estimate(
        basis=_basis(suite),
        seconds=seconds,
        task_seconds=billed,
        tasks_usd=prices.of_tasks(suite.task, billed),
        insights_bytes=scanned,
        queries_usd=prices.of_queries(scanned),
        transitions=transitions,
        services_usd=_services(request, suite, transitions, seconds),
        athena_bytes=athena,
        athena_usd=SERVICE_PRICES.of_athena(athena),
    )


def estimate_seconds(request: Settled, suite: Suite, at_once: int = MOST_TASKS) -> float:
    """Return about how long the tests of a run take [s], if ``at_once`` tasks run side by side."""
    trial = sum(_test_seconds(test, request.records) for test in suite.tests)
    rounds = max(1.0, request.tasks / at_once)
    return trial * rounds * _trials(request)


def count_transitions(request: Settled, suite: Suite, readings: int) -> int:
    """Return how many states a run enters, all told, if each test's logs are read so often."""
    groups = math.ceil(request.tasks / MOST_ITERATIONS)
    # The last reading is followed by no WaitForLogs.
    test = _TEST_STATES + groups + request.tasks + readings * _READING_STATES - 1
    trial = _CHOOSING_STATES + _TRIAL_STATES + len(suite.tests) * test
    return _RUN_STATES + _trials(request) * trial


def _trials(request: Settled) -> int:
    return len(request.versions) * request.repetitions


def _basis(suite: Suite) -> Basis:
    known = all(test.seconds_per_million_records is not None for test in suite.tests)
    return "declared times" if known else "time limits"


def _test_seconds(test: Test, records: int) -> float:
    if test.seconds_per_million_records is None:
        return test.timeout_seconds
    return _OVERHEAD_SECONDS + test.jobs * records / 1e6 * test.seconds_per_million_records


def _billed_seconds(test: Test, records: int) -> int:
    seconds = math.ceil(_PULL_SECONDS + _test_seconds(test, records))
    return max(LEAST_BILLED_SECONDS, seconds)


def _logged_bytes(request: Settled, suite: Suite) -> int:
    """Return what the tasks of a trial log [B]."""
    lines = sum(len(test.metrics) * test.jobs + _OTHER_LINES for test in suite.tests)
    return request.tasks * lines * _LINE_BYTES


def _scanned_bytes(request: Settled, suite: Suite) -> int:
    """Return what the queries over a trial's logs scan [B]: each, the lines of a whole trial."""
    # Two for each metric in every reading, and that of the environment in the last.
    queries = sum(LOG_READINGS * 2 * len(test.metrics) + 1 for test in suite.tests)
    return queries * _logged_bytes(request, suite) + _usage_bytes(request, suite)


def _usage_bytes(request: Settled, suite: Suite) -> int:
    """Return what Container Insights logs of the tasks of a trial [B], read once for each test."""
    minutes = sum(math.ceil(_billed_seconds(test, request.records) / 60) for test in suite.tests)
    return request.tasks * minutes * _USAGE_EVENT_BYTES


def _services(request: Settled, suite: Suite, transitions: int, seconds: float) -> float:
    trials = _trials(request)
    # PlanRun, RecordRates, PublishReport, RecordOutcome and the last ChooseTrial; ChooseTrial,
    # PrepareTrial, RestoreSystem and RecordTrial of each trial.
    invocations = 5 + trials * (4 + len(suite.tests) * LOG_READINGS)
    metrics = len(request.versions) * sum(len(test.metrics) for test in suite.tests)
    metrics += _USAGE_METRICS
    hours = math.ceil(seconds / 3600)
    logged = (
        trials * (_logged_bytes(request, suite) + _usage_bytes(request, suite))
        + invocations * _INVOCATION_BYTES
        + transitions * _TRANSITION_BYTES
    )
    return (
        transitions * SERVICE_PRICES.transition
        + SERVICE_PRICES.of_functions(invocations, _FUNCTION_SECONDS)
        + SERVICE_PRICES.of_logs(logged)
        + metrics * hours * SERVICE_PRICES.metric / HOURS_OF_MONTH
    )
