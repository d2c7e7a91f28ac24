"""The real Kiwi TCMS from PyPI: the baseline of its API, and three users."""

import json
import re
import statistics

import pytest

from local.logs.store import LogStore
from tests.system.end_to_end.command_line import tidemark

pytestmark = pytest.mark.systems
GROUP = "/Tidemark/kiwi"
VERSION = "11.7"
R, USERS = 3, 3
CALLS, RESULTS, JOBS = 10 + 3 * R + 2 * R**2, R**2, 3
SEQUENCE = rf"Sequence \d+: {CALLS} calls and {RESULTS} results in (\d+\.\d+) seconds$"
# A user logs in and makes a plan, five cases in it, a build, a run and five open results.
SET_UP = 1 + 5 + 3 + 2 * 5 + 1 + 1 + 1 + 5


@pytest.fixture(scope="module")
def state(tmp_path_factory):
    state = tmp_path_factory.mktemp("kiwi")
    done = tidemark(
        *("run", "kiwi", "--versions", VERSION, "--repetitions", "1", "--state", str(state)),
        *("--set", f"r={R}", "--set", f"users={USERS}", "--set", "duration=10"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return state


@pytest.fixture(scope="module")
def messages(state):
    """Return the messages of each log stream by its test, those of the loads or of the servers."""
    store = LogStore(state / "logs")

    def messages(container):
        names = sorted(
            name for name in store.streams(GROUP) if name.startswith(f"kiwi/{container}/")
        )
        streams = [[event.message for event in store.read(GROUP, name)] for name in names]
        return sorted(streams, key=lambda lines: "Sequence" not in " ".join(lines))

    return messages


@pytest.fixture(scope="module")
def figures(state):
    """Return the figures of a metric: its value by statistic and operation."""

    def figures(metric):
        sql = f"SELECT statistic, labels, value FROM rates WHERE metric = '{metric}'"
        done = tidemark("sql", sql, "--format", "json", "--state", str(state))
        assert done.returncode == 0, done.stderr
        return {
            (row["statistic"], json.loads(row["labels"] or "{}").get("operation")): float(
                row["value"]
            )
            for row in json.loads(done.stdout)
        }

    return figures


def found(pattern, lines):
    return [match for line in lines if (match := re.search(pattern, line))]


def calls_of(lines):
    return sum(line.startswith("Access: POST /json-rpc/ 200 ") for line in lines)


def test_the_baseline_follows_from_the_lines_of_the_load_in_every_unit(figures, messages):
    baseline, _ = messages("kiwi")
    seconds = [float(match[1]) for match in found(SEQUENCE, baseline)]

    assert len(seconds) == JOBS
    per_call = [1000 * each / CALLS for each in seconds]
    for metric, values in {
        "time_per_request": per_call,
        "requests_per_second": [1000 / each for each in per_call],
        "calls_per_hour": [3_600_000 / each for each in per_call],
        "results_per_hour": [3_600 * RESULTS / each for each in seconds],
    }.items():
        assert figures(metric) == {
            ("mean", None): pytest.approx(statistics.mean(values), rel=1e-9),
            ("p50", None): pytest.approx(statistics.median(values), rel=1e-9),
        }


def test_the_figures_of_the_users_are_those_of_locusts_own_statistics(figures, messages):
    _, bounded = messages("kiwi")
    own = found(r"Locust INFO  - (\S+): (\d+) requests, (\d+) failures, average (\S+) ms", bounded)
    latency, failures = figures("latency"), figures("failures")

    assert {operation for _, operation in latency} == {match[1] for match in own}
    for _, operation, _, failed, average in ((match[0], *match.groups()) for match in own):
        assert latency["mean", operation] == pytest.approx(float(average), rel=1e-6)
        assert failures["total", operation] == float(failed)
    requests = sum(int(match[2]) for match in own)
    assert figures("throughput") == {("mean", None): requests / 10}


def test_the_access_log_of_each_server_has_every_call_and_no_other(messages):
    _, bounded = messages("kiwi")
    requests, left_out = (
        int(found(pattern, bounded)[0][1])
        for pattern in (r"Made (\d+) requests", r"Left out (\d+) requests")
    )

    expected = {1 + 15 + JOBS * CALLS, USERS * SET_UP + left_out + requests}
    assert {calls_of(lines) for lines in messages("server")} == expected


def test_both_tests_start_with_the_same_data_set_of_the_version(messages):
    logged = [
        json.loads(line.partition("Environment: ")[2])
        for lines in messages("server")
        for line in lines
        if "Environment: " in line
    ]

    assert [each["engine_version"] for each in logged] == [VERSION, VERSION]
    assert len({each["data_set_sqlite"] for each in logged}) == 1
