"""The queries of the suite kiwi, over lines of its load."""

import pytest

from cwli.insights import run
from onebox.logs.store import LogStore
from tidemark.model.suite_asset import query_text
from tidemark.model.suite_files import read_suites

LINES = (
    "[main] kiwi_load.Baseline INFO  - Sequence 0: 240 calls and 100 results in 3.600000 seconds",
    "[main] kiwi_load.Baseline INFO  - Operation TestRun.add_case: 100 calls at 12.000 ms",
    "[main] kiwi_load.Baseline INFO  - Operation TestRun.create: 10 calls at 30.000 ms",
    "[main] kiwi_load.Baseline INFO  - Sequence 1: 240 calls and 100 results in 4.800000 seconds",
    "[main] kiwi_load.Baseline INFO  - Operation TestRun.add_case: 100 calls at 16.000 ms",
    "[main] kiwi_load.Baseline INFO  - Operation TestRun.create: 10 calls at 30.500 ms",
    "[main] kiwi_load.Layers INFO  - Layer orm 4.000000 ms per call, 20.000000 %",
    "[main] kiwi_load.Layers INFO  - Layer orm 6.000000 ms per call, 30.000000 %",
    "[main] kiwi_load.Layers INFO  - Layer rest 10.000000 ms per call, 50.000000 %",
    "[main] kiwi_load.Read INFO  - Search 0 TestCase.filter in 900.500000 ms of 5000000 bytes",
    "[main] kiwi_load.Read INFO  - Search 1 TestCase.filter in 648.000000 ms of 5000000 bytes",
    "[main] kiwi_load.Unbounded INFO  - Supported users 51.5",
    "[main] kiwi_load.Unbounded INFO  - Supported users 54",
    "[main] kiwi_load.Agent INFO  - Level 3 users 32 average 35.100 ms p99 110.500 ms "
    "failures 0.0100 cpu 0.0810 machine 1.2500 stolen 0.0000 late 1.250 ms",
    "[main] kiwi_load.Bounded INFO  - The load used 0.0810 cores of 1.2500, and 0.0000 were stolen",
    "[main] kiwi_load.Bounded INFO  - Histogram TestCase.filter count 3 average 10.000000 ms "
    "buckets 5.0:2 20:1",
    "[main] kiwi_load.Bounded INFO  - Histogram TestRun.create count 1 average 30.000000 ms "
    "buckets 30:1",
    "[main] kiwi_load.Bounded INFO  - Failures TestRun.create 2 of 3 requests",
    "[main] kiwi_load.Bounded INFO  - Database TestRun.create requests 2 time 4.000000 ms "
    "statements 10.000000",
    "[main] kiwi_load.Bounded INFO  - Database TestRun.create requests 6 time 8.000000 ms "
    "statements 12.000000",
    "Access: POST /json-rpc/ 200 14000 db;dur=4.125;desc=11",
    "Access: POST /json-rpc/ 500 16000 db;dur=5.125;desc=13",
    "[main] kiwi_load.Bounded INFO  - The load sent requests 1.250 ms late",
    "[main] kiwi_load.Bounded INFO  - Left out 12 requests of the ramp-up",
    # Lines that resemble the others, but must not count.
    "[main] x.Echo INFO  - It said: Supported users 99",
    "[main] kiwi_load.Agent INFO  - Level 4 users 64 average 35.100 ms p99 110.500 ms",
    "[main] kiwi_load.Check ERROR  - Sequence 2 had 239 answers: 240 were expected.",
    "[main] x.Echo INFO  - It said: Sequence 3: 240 calls and 100 results in 9.000000 seconds",
    "[main] x.Echo INFO  - Operation TestRun.create: 10 calls at 30.5 ms or so",
    "[main] x.Echo INFO  - It said: Failures TestRun.create 2 of 3 requests",
    "[main] x.Echo INFO  - It said: Database TestRun.create requests 6 time 8.0 ms statements 9.0",
    "Access: GET /accounts/login/ 200 90000 db;dur=90.000;desc=99",
    "Access: POST /tidemark/orm 200 90000 -",
)


def asking(folder, lines):
    """Return the function that asks a query of the suite over lines."""
    store = LogStore(folder)
    for number, line in enumerate(lines):
        store.append("/kiwi", "load", [(number, line)], number)

    suite = read_suites()["kiwi"]

    def answer(query):
        result = run(query_text(suite, query), store.events(["/kiwi"]), 0, 10)
        assert result.warnings == ()
        return [{cell["field"]: cell["value"] for cell in row} for row in result.rows]

    return answer


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    return asking(tmp_path_factory.mktemp("kiwi"), LINES)


@pytest.mark.parametrize(
    ("metric", "values"),
    [
        ("time_per_request", [15, 20]),
        ("requests_per_second", [240 / 3.6, 50]),
        ("calls_per_hour", [240_000, 180_000]),
        ("results_per_hour", [100_000, 75_000]),
    ],
)
def test_each_figure_of_a_sequence_is_by_its_definition(ask, metric, values):
    (row,) = ask(metric)
    samples = ask(f"{metric}_samples")

    assert (float(row["value"]), row["n"]) == (pytest.approx(sum(values) / 2), "2")
    assert [float(sample["value"]) for sample in samples] == pytest.approx(values)
    assert [sample["job"] for sample in samples] == ["0", "1"]


def test_the_time_of_an_operation_is_the_mean_over_all_sequences(ask):
    found = {row["operation"]: (row["value"], row["n"]) for row in ask("operation_time")}

    assert found == {"TestRun.add_case": ("14", "200"), "TestRun.create": ("30.25", "20")}


def test_a_layer_has_the_mean_of_its_times_and_shares(ask):
    assert {row["layer"]: row["value"] for row in ask("layer_time")} == {"orm": "5", "rest": "10"}
    assert {row["layer"]: (row["value"], row["n"]) for row in ask("layer_share")} == {
        "orm": ("25", "2"), "rest": ("50", "1")
    }  # fmt: skip


def test_a_search_has_its_times_and_the_size_of_its_answers(ask):
    (time,), (payload,) = ask("read_time"), ask("read_payload")

    assert (time["operation"], time["value"], time["n"]) == ("TestCase.filter", "648", "2")
    assert [each["value"] for each in ask("read_time_values")] == ["900.500000", "648.000000"]
    assert (payload["operation"], payload["value"], payload["n"]) == ("TestCase.filter", "5", "2")


def test_the_supported_users_are_the_mean_of_all_searches(ask):
    (row,) = ask("supported_users")

    assert (row["value"], row["n"]) == ("52.75", "2")
    assert [sample["value"] for sample in ask("supported_users_values")] == ["51.5", "54"]


def test_a_level_has_all_that_its_agent_measured(ask):
    (row,) = ask("level")

    assert {name: row[name] for name in row.keys() - {"@logStream"}} == {
        "level": "3", "users": "32", "mean_ms": "35.1", "p99_ms": "110.5", "failures": "0.01",
        "cpu": "0.081", "machine": "1.25", "stolen": "0", "late_ms": "1.25",
    }  # fmt: skip


def test_each_series_has_the_figures_of_ten_seconds(ask):
    (mean,), (requests,) = ask("mean_over_time"), ask("requests_over_time")
    (failed,) = ask("failures_over_time")
    (served,), (slow,) = ask("service_time_over_time"), ask("service_p99_over_time")
    (stored,), (late,) = ask("database_time_over_time"), ask("database_p99_over_time")

    assert (mean["value"], mean["n"], mean["at"]) == ("15", "4", "1970-01-01 00:00:00.000")
    assert [row["value"] for row in (requests, failed, served)] == ["0.4", "2", "15"]
    assert (served["n"], float(slow["value"])) == ("2", pytest.approx(15.98))
    assert (stored["value"], stored["n"]) == ("4.625", "2")
    assert float(late["value"]) == pytest.approx(5.115)
    assert {(row["at"], row["histogram"]) for row in ask("times_over_time")} == {
        (mean["at"], "5.0:2 20:1"), (mean["at"], "30:1")
    }  # fmt: skip


def test_the_latency_of_an_operation_is_the_mean_over_its_requests_and_not_over_its_lines(tmp_path):
    start = "[main] kiwi_load.Bounded INFO  - Histogram TestRun.create"
    lines = (
        f"{start} count {count} average {time} ms buckets {time}:{count}"
        for count, time in ((30, 10), (10, 50))
    )

    (row,) = asking(tmp_path, lines)("latency")

    assert (row["operation"], row["value"], row["n"]) == ("TestRun.create", "20", "40")


@pytest.mark.parametrize(
    ("query", "lines", "found"),
    [
        ("throughput", ["Made 300 requests in 60 seconds"], ("5", "1")),
        ("failed_requests", ["Failures A.b 2 of 3 requests", "Failures A.b 0 of 7 requests"],
         ("2", "10")),
        ("users_over_time", ["Users 6", "Users 7"], ("7", None)),
    ],
)  # fmt: skip
def test_a_bounded_test_has_its_throughput_failures_and_users(tmp_path, query, lines, found):
    (row,) = asking(tmp_path, [f"[main] kiwi_load.Bounded INFO  - {line}" for line in lines])(query)

    assert (row["value"], row.get("n")) == found


@pytest.mark.parametrize(("query", "value"), [("database_time", "7"), ("statements", "11.5")])
def test_the_statements_of_an_operation_are_means_over_its_requests(ask, query, value):
    (row,) = ask(query)

    assert (row["operation"], row["value"], row["n"]) == ("TestRun.create", value, "8")


@pytest.mark.parametrize(
    ("query", "value"),
    [("load_cpu", "0.081"), ("load_late", "1.25"), ("ramp_up_requests", "12")],
)
def test_what_a_load_tells_of_itself_is_that_of_its_line(ask, query, value):
    (row,) = ask(query)

    assert (row["value"], row["n"]) == (value, "1")


def test_the_metrics_of_one_measurement_decide_once():
    metrics = read_suites()["kiwi"].test("api_baseline").metrics

    assert [metric.name for metric in metrics if metric.decides] == ["time_per_request"]
