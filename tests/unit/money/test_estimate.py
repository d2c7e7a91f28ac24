import math
import re

import pytest

from tests.plans import in_trials
from tidemark.model.checkout import ROOT
from tidemark.model.request import resolve_request
from tidemark.model.services import Service
from tidemark.model.steps import RunCommand, RunTasks, Step, WaitUntil
from tidemark.model.suite_files import read_suites
from tidemark.money.estimate import (
    SAVED_QUERIES,
    TABLES_READ,
    count_transitions,
    estimate,
    with_slices,
)
from tidemark.money.prices import FUNCTION_MEMORY, SERVICE_PRICES, list_prices
from tidemark.store.columns import TABLES

SUITES = {**read_suites(), "rocksdb": in_trials()}
SUITE = SUITES["rocksdb"]


def expected(suite=SUITE, **fields):
    request = resolve_request({"suite": "rocksdb", **fields}, SUITES)
    return estimate(request, suite, list_prices())


def without_times(suite):
    """Return a suite without declared times of its tests."""
    tests = [
        test.model_copy(update={"seconds": None, "timeout_seconds": 100}) for test in suite.tests
    ]
    return suite.model_copy(update={"tests": tuple(tests)})


def test_a_part_of_the_time_is_the_same_for_every_size():
    tests = [test.model_copy(update={"fixed_seconds": 7.0}) for test in SUITE.tests]
    starting = SUITE.model_copy(update={"tests": tuple(tests)})

    for records in (1000, 100_000):
        fields = {"suite": "rocksdb", "layout": "trials", "repetitions": 3, "records": records}
        request = resolve_request(fields, SUITES)
        longer, usual = (estimate(request, each, list_prices()) for each in (starting, SUITE))
        assert longer.seconds - usual.seconds == pytest.approx(3 * 2 * len(SUITE.tests) * 7.0)


def test_the_time_grows_with_trials_and_records():
    small, double = (expected(records=1000, repetitions=count).seconds for count in (12, 24))

    assert double == pytest.approx(2 * small)
    assert expected(repetitions=12).seconds > small


ROUNDS = read_suites()["rocksdb"]


def in_rounds(**fields):
    request = resolve_request({"suite": "rocksdb", **fields}, {"rocksdb": ROUNDS})
    return estimate(request, ROUNDS, list_prices())


def test_a_default_run_on_aws_is_expected_to_answer_in_ten_minutes_for_15_cents():
    whole = in_rounds()

    assert whole.seconds <= 600
    assert whole.usd <= 0.15


def test_rounds_that_run_at_once_take_the_time_of_one_and_the_cost_of_all():
    alone, batch = (in_rounds(repetitions=12, parallel=count) for count in (1, 12))
    odd = in_rounds(repetitions=13, parallel=12)

    assert alone.seconds == pytest.approx(12 * batch.seconds)
    assert alone.task_seconds == batch.task_seconds == 12 * 2 * 60
    assert odd.seconds == pytest.approx(2 * batch.seconds)  # the last round is a batch of its own


def test_a_round_on_aws_has_as_many_slices_as_its_billed_minute_holds():
    request = resolve_request({"suite": "rocksdb"}, {"rocksdb": ROUNDS})
    longer = with_slices(ROUNDS, request)
    large = request.model_copy(update={"parameters": {"records": 1_000_000, "tasks": 1}})

    assert [test.slices for test in longer.tests] == [30, 30]
    assert with_slices(longer, request) == longer
    # A slice of a million records takes 4.3 s of ingest, and the minute is over after six of them.
    assert [test.slices for test in with_slices(ROUNDS, large).tests] == [5, 10]
    assert with_slices(SUITE, request.model_copy(update={"layout": "trials"})) is SUITE


def test_a_round_on_one_machine_has_16_slices_or_as_many_as_take_ten_seconds():
    request = resolve_request({"suite": "rocksdb"}, {"rocksdb": ROUNDS})
    large = request.model_copy(update={"parameters": {"records": 200_000, "tasks": 1}})

    here = with_slices(ROUNDS, request, one_machine=True)
    fewer = with_slices(ROUNDS, large, one_machine=True)

    assert [test.slices for test in here.tests] == [15, 16]
    # Two versions have a slice of ingest in 1.92 s and one of compaction in 0.68 s.
    assert [test.slices for test in fewer.tests] == [5, 14]


def test_a_run_of_more_slices_than_it_may_keep_has_the_slices_of_its_suite():
    wide = resolve_request(
        {"suite": "rocksdb", "tasks": 200, "repetitions": 16, "layout": "rounds"},
        {"rocksdb": ROUNDS},
    )

    assert with_slices(ROUNDS, wide) is ROUNDS


def test_a_short_task_is_billed_for_a_minute_and_a_long_one_from_the_pull_of_its_image():
    short = expected(versions=["9.8.4"], repetitions=1, tasks=3, records=1000)
    long = expected(versions=["9.8.4"], repetitions=1, tasks=3, records=10_000_000)

    # Ingest: 2 jobs of 43 s, compaction: 5 of 12 s; 1.5 s beside the work and 30 s of pulling.
    assert short.task_seconds == 3 * 2 * 60
    assert long.task_seconds == 3 * (math.ceil(86 + 31.5) + math.ceil(60 + 31.5))
    assert long.tasks_usd == list_prices().of_tasks(SUITE.task, long.task_seconds)


def test_a_suite_without_declared_times_is_estimated_by_its_time_limits():
    bounded = expected(without_times(SUITE), versions=["9.8.4"], repetitions=1)

    assert (expected().basis, bounded.basis) == ("declared times", "time limits")
    assert bounded.task_seconds == 2 * 130


def test_transitions_grow_with_the_readings_and_tasks_of_a_run():
    request = resolve_request({"suite": "rocksdb", "versions": ["9.8.4"], "repetitions": 1}, SUITES)
    wide = request.model_copy(update={"parameters": {**request.parameters, "tasks": 41}})

    # Ten states of the run, four for choosing the trial, four of the trial; for each test two, two
    # of its step, two of a group, a task, and CollectRates with EveryTaskReported.
    assert count_transitions(request, SUITE, readings=1) == 10 + 4 + 4 + 2 * (2 + 2 + 2 + 1 + 2)
    # WaitForLogs comes between two readings.
    assert count_transitions(request, SUITE, readings=2) == 36 + 2 * 3
    # 41 tasks are three groups.
    assert count_transitions(wide, SUITE, readings=1) == 36 + 2 * (40 + 2 * 2)


def test_each_step_counts_with_its_own_tasks_and_time():
    steps = (
        Step(name="load", run_tasks=RunTasks(count=3)),
        Step(name="check", run_command=RunCommand(command=("check",)), seconds=100),
        Step(name="clean", run_command=RunCommand(command=("clean",), timeout_seconds=200)),
    )
    ingest = SUITE.test("ingest").model_copy(update={"steps": steps})
    suite = SUITE.model_copy(update={"tests": (ingest,)})
    request = resolve_request({"suite": "rocksdb", "versions": ["9.8.4"], "repetitions": 1}, SUITES)

    whole = estimate(request, suite, list_prices())

    # Two jobs of 0.86 s, 100 s, and a time limit; 1.5 s beside declared work, 30 s of pulling.
    assert whole.task_seconds == 3 * 60 + 132 + 230
    assert whole.basis == "time limits"
    # Three pulls, four functions, and three readings of the logs with 6 s between them.
    assert whole.seconds == pytest.approx(3.22 + 101.5 + 200 + 3 * 30 + 4 * 1.5 + 3 * 1.5 + 6)
    # For each step two states, two of its group, and its tasks.
    assert count_transitions(request, suite, readings=1) == 10 + 4 + 4 + 2 + 2 + 3 * 4 + 5


def test_a_wait_counts_with_the_questions_of_its_time():
    request = resolve_request({"suite": "rocksdb", "versions": ["9.8.4"], "repetitions": 1}, SUITES)

    def waiting(**fields):
        wait = WaitUntil(query="failures", within_seconds=60)
        steps = (Step(name="load", run_tasks=RunTasks()), Step(name="b", wait_until=wait, **fields))
        ingest = SUITE.test("ingest").model_copy(update={"steps": steps})
        return SUITE.model_copy(update={"tests": (ingest,)})

    whole, soon = (
        estimate(request, suite, list_prices()) for suite in (waiting(), waiting(seconds=3))
    )

    # Every 5 s: 13 questions in 60 s, 2 in 3 s and the 1.5 s beside declared work.
    assert whole.transitions - soon.transitions == 3 * (13 - 2)
    assert whole.seconds - soon.seconds == pytest.approx(60 - 4.5)
    assert whole.insights_bytes > soon.insights_bytes
    assert whole.task_seconds == soon.task_seconds
    assert (whole.basis, soon.basis) == ("time limits", "declared times")


def test_the_cost_of_a_run_is_the_sum_of_its_parts():
    whole = expected()
    parts = (whole.tasks_usd, whole.queries_usd, whole.services_usd, whole.athena_usd)

    assert min(parts) > 0
    assert whole.usd == pytest.approx(sum(parts))
    assert whole.measuring_usd == whole.tasks_usd + whole.queries_usd


def test_athena_bytes_are_those_of_each_saved_query_once():
    assert len(list((ROOT / "queries" / "sql").glob("*.sql"))) == SAVED_QUERIES
    assert expected().athena_bytes == SAVED_QUERIES * 10_000_000


def test_each_saved_query_lists_each_suite_once_for_each_of_its_tables():
    named = re.compile(rf"\b(?:FROM|JOIN) ({'|'.join(TABLES)})\b")
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "queries" / "sql").glob("*.sql")]

    assert sum(len({*named.findall(text)}) for text in texts) == TABLES_READ
    # 14 queries of 10 MB cost 0.0007 USD.
    assert 0.0007 < expected().athena_usd < 0.004


def test_a_service_costs_its_own_task_for_the_whole_time_of_its_test():
    suite = without_times(SUITE)
    task = {"workload": "rocksdb", "entry_point": ["x"], "cpu": 512, "memory": 1024, "storage": 21}
    server = Service.model_validate({"task": task, "ready": {"port": 8080}})
    first, *others = suite.tests
    served = suite.model_copy(
        update={
            "services": {"server": server},
            "tests": (first.model_copy(update={"services": ("server",)}), *others),
        }
    )
    request = resolve_request({"suite": "rocksdb", "versions": ["9.8.4"], "repetitions": 1}, SUITES)

    without, whole = (estimate(request, each, list_prices()) for each in (suite, served))

    # The time limit of the step, and twice 30 s for the pull of an image.
    assert whole.task_seconds - without.task_seconds == 100 + 60
    assert whole.tasks_usd - without.tasks_usd == pytest.approx(
        list_prices().of_tasks(server.task, 160)
    )
    assert whole.seconds - without.seconds == 30
    # StartService and ChooseStep, 19 questions until it is ready and 19 until it has stopped.
    assert whole.transitions - without.transitions == 2 + 2 * 19 * 3
    # Each of the 19 until it is ready scans the 19 lines of a trial; ECS logs its usage for 3 min.
    usage_bytes = 3 * 1200
    assert whole.insights_bytes - without.insights_bytes == 19 * 26 * 150 + usage_bytes
    # Each question calls a function, too, and calls and states log lines.
    logged = usage_bytes + 38 * 400 + (2 + 38 * 3) * 2000
    assert whole.services_usd - without.services_usd == pytest.approx(
        (2 + 38 * 3) * SERVICE_PRICES.transition
        + SERVICE_PRICES.of_functions(38, 1.5, FUNCTION_MEMORY)
        + SERVICE_PRICES.of_logs(logged)
    )
