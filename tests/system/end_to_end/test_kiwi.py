"""The real Kiwi TCMS from PyPI: two versions under the baseline of its API."""

import json
import re
import statistics

import pytest

from local.logs.store import LogStore
from tests.system.end_to_end.command_line import tidemark

pytestmark = pytest.mark.systems
GROUP = "/Tidemark/kiwi"
VERSIONS = ("10.0", "11.7")
R = 3
CALLS, RESULTS, JOBS = 10 + 3 * R + 2 * R**2, R**2, 3
SEQUENCE = rf"Sequence \d+: {CALLS} calls and {RESULTS} results in (\d+\.\d+) seconds$"


@pytest.fixture(scope="module")
def state(tmp_path_factory):
    state = tmp_path_factory.mktemp("kiwi")
    done = tidemark(
        *("run", "kiwi", "--versions", ",".join(VERSIONS), "--repetitions", "2"),
        *("--set", f"r={R}", "--state", str(state)),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return state


@pytest.fixture(scope="module")
def streams(state):
    """Return the messages of each log stream of the loads, or of the servers."""
    store = LogStore(state / "logs")

    def streams(container):
        own = sorted(name for name in store.streams(GROUP) if name.startswith(f"kiwi/{container}/"))
        return {name: [each.message for each in store.read(GROUP, name)] for name in own}

    return streams


@pytest.fixture(scope="module")
def rows(state):
    def rows(sql):
        done = tidemark("sql", sql, "--format", "json", "--state", str(state))
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return rows


def test_the_figures_of_each_version_follow_from_the_lines_of_its_load(rows, streams):
    per_call = {}
    for stream, lines in streams("kiwi").items():
        seconds = [float(found[1]) for line in lines if (found := re.search(SEQUENCE, line))]
        assert len(seconds) == JOBS
        per_call[stream] = [1000 * each / CALLS for each in seconds]

    found = rows("SELECT * FROM rates WHERE metric = 'time_per_request'")
    samples = rows("SELECT DISTINCT trial, log_stream FROM task_rates")
    stream_of = {row["trial"]: row["log_stream"] for row in samples}
    assert {row["version"] for row in found} == set(VERSIONS)
    assert len(found) == 2 * len(per_call) == 8
    for row in found:
        figure = {"mean": statistics.mean, "p50": statistics.median}[row["statistic"]]
        expected = figure(per_call[stream_of[row["trial"]]])
        assert float(row["value"]) == pytest.approx(expected, rel=1e-9)


def test_the_units_of_the_measurement_hold_together(rows):
    found = rows("SELECT trial, metric, value FROM rates WHERE statistic = 'mean' AND labels = ''")
    by_trial = {}
    for row in found:
        by_trial.setdefault(row["trial"], {})[row["metric"]] = float(row["value"])

    for figures in by_trial.values():
        per_second = figures["requests_per_second"]
        assert figures["calls_per_hour"] == pytest.approx(3600 * per_second)
        assert figures["results_per_hour"] == pytest.approx(3600 * per_second * RESULTS / CALLS)


def test_the_access_log_of_each_server_has_every_call_and_no_other(streams):
    servers = streams("server").values()

    assert len(servers) == 2 * len(VERSIONS)
    for lines in servers:
        calls = [line for line in lines if line.startswith("Access: POST /json-rpc/ 200 ")]
        assert len(calls) == 1 + 15 + JOBS * CALLS


def test_every_trial_of_a_version_starts_with_the_same_data_set(streams):
    logged = [
        json.loads(line.partition("Environment: ")[2])
        for lines in streams("server").values()
        for line in lines
        if "Environment: " in line
    ]

    assert [each["engine_version"] for each in logged].count("11.7") == 2
    assert len({(each["version"], each["data_set_sqlite"]) for each in logged}) == len(VERSIONS)
