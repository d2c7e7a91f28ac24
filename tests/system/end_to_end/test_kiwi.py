"""The real Kiwi TCMS from PyPI on each database: the baseline, three users, a short search.

The figures are checked against the log lines, so that a busy machine changes none of them: limits
of time are far away.
"""

import json
import os
import re
import shutil
import statistics
import subprocess
import time

import psutil
import pytest
import yaml

from onebox.logs.store import LogStore
from tests.checks import kiwi
from tests.system.end_to_end.command_line import TIDEMARK, tidemark
from tidemark.model.checkout import ROOT

pytestmark = pytest.mark.systems
GROUP = "/Tidemark/kiwi"
VERSION = "11.7"
R, USERS, SECONDS, RECORDS = 2, 3, 10, 20
# The search has three levels of a few seconds: 4 users hold, and 8 are too many, twice.
MOST_USERS, FOUND = 5, 6.0
SHORT = {
    "limits": {"mean_ms": 30_000, "p99_ms": 60_000, "failures": 0.5, "crowd": MOST_USERS},
    "agent_limits": {"cpu": 2.0, "late_ms": 10_000},
    "settle_seconds": 1, "hold_seconds": 2,
    "plateaus": {"first": 4, "bracket": 0.5, "searches": 1},
}  # fmt: skip
CALLS, RESULTS, JOBS = 10 + 3 * R + 2 * R**2, R**2, 3
STARTS = "starting PostgreSQL"
SEQUENCE = rf"Sequence \d+: {CALLS} calls and {RESULTS} results in (\d+\.\d+) seconds$"


def copied(folder, change):
    """Copy the suite that ships and its programs, with a change to the suite; return the folder."""
    shutil.copytree(ROOT / "suites" / "kiwi", folder / "suites" / "kiwi")
    for name in ("kiwi_load", "kiwi_server"):
        shutil.copytree(ROOT / "workloads" / name, folder / "workloads" / name)
    file = folder / "suites" / "kiwi" / "suite.yaml"
    suite = yaml.safe_load(file.read_text())
    change(suite)
    file.write_text(yaml.safe_dump(suite, sort_keys=False))
    return folder


def replace(file, original, replacement):
    text = file.read_text()
    assert original in text
    file.write_text(text.replace(original, replacement))


def shorten(suite):
    (test,) = (each for each in suite["tests"] if each["name"] == "unbounded")
    test["steps"][0]["load"].update(SHORT)


def keep_the_baseline_alone(suite):
    suite["tests"] = [each for each in suite["tests"] if each["name"] == "api_baseline"]
    del suite["services"]["agent"]


def in_systems(folder):
    """Return the environment of a command that finds its suites in a folder."""
    return {"env": {**os.environ, "TIDEMARK_SYSTEMS": str(folder)}}


def command(state, databases, r=R):
    return [
        *("run", "kiwi", "--versions", VERSION, "--repetitions", "1", "--state", str(state)),
        *("--set", f"r={r}", "--set", f"users={USERS}", "--set", f"duration={SECONDS}"),
        *("--set", f"records={RECORDS}", "--axis", f"database={databases}"),
    ]


@pytest.fixture(scope="module", params=["sqlite", "postgresql", "mariadb"])
def database(request):
    return request.param


@pytest.fixture(scope="module")
def state(database, tmp_path_factory):
    systems = copied(tmp_path_factory.mktemp("systems"), shorten)
    column = "max(connected) as users"
    level = systems / "suites" / "kiwi" / "level.cwli"
    replace(level, column, f"{column}, max(connected) as crowd")
    limits = systems / "workloads" / "kiwi_load" / "limits.py"
    replace(limits, "MOST_MS = 20.0", "MOST_MS = 10_000.0")
    state = tmp_path_factory.mktemp("kiwi")
    done = tidemark(*command(state, database), **in_systems(systems))
    assert done.returncode == 0, done.stdout + done.stderr
    return state


@pytest.fixture(scope="module")
def messages(state):
    """Return the messages of each log stream of a container."""
    return lambda container: streams(state, container)


def streams(state, container):
    store = LogStore(state / "logs")
    names = [name for name in store.streams(GROUP) if name.startswith(f"kiwi/{container}/")]
    return [[event.message for event in store.read(GROUP, name)] for name in names]


@pytest.fixture(scope="module")
def load(messages):
    """Return the messages of the task that has a word in its log."""

    def load(word):
        (lines,) = (lines for lines in messages("kiwi") if word in " ".join(lines))
        return lines

    return load


@pytest.fixture(scope="module")
def figures(state):
    """Return the figures of a metric: its value by statistic and label."""

    def figures(metric):
        sql = f"SELECT statistic, labels, value FROM rates WHERE metric = '{metric}'"
        done = tidemark("sql", sql, "--format", "json", "--state", str(state))
        assert done.returncode == 0, done.stderr
        return {
            (row["statistic"], label_of(row["labels"])): float(row["value"])
            for row in json.loads(done.stdout)
        }

    return figures


def label_of(labels):
    """Return the label beside the database, None without one."""
    beside = (label for name, label in json.loads(labels).items() if name != "database")
    return next(beside, None)


def found(pattern, lines):
    return [match for line in lines if (match := re.search(pattern, line))]


def calls_of(lines):
    return sum(line.startswith("Access: POST /json-rpc/ 200 ") for line in lines)


def test_the_baseline_follows_from_the_lines_of_the_load_in_every_unit(figures, load):
    seconds = [float(match[1]) for match in found(SEQUENCE, load("Sequence"))]

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


def test_the_figures_of_the_users_are_those_of_locusts_own_statistics(figures, load):
    bounded = load("Locust INFO")
    own = found(r"Locust INFO  - (\S+): (\d+) requests, (\d+) failures, average (\S+) ms", bounded)
    latency, failures = figures("latency"), figures("failures")

    assert {operation for _, operation in latency} == {match[1] for match in own}
    for _, operation, _, failed, average in ((match[0], *match.groups()) for match in own):
        assert latency["mean", operation] == pytest.approx(float(average), rel=1e-6)
        assert failures["total", operation] == float(failed)
    requests = sum(int(match[2]) for match in own)
    assert figures("throughput") == {("total", None): pytest.approx(requests / SECONDS)}
    (left_out,) = found(r"Left out (\d+) requests", bounded)
    assert figures("ramp_up_requests") == {("total", None): float(left_out[1])}


def test_the_access_log_of_each_server_has_every_call_and_no_other(state, capsys):
    assert kiwi.main([str(state)]) == 0, capsys.readouterr().out
    assert "0 of 2 tests differ" in capsys.readouterr().out


def test_no_server_tries_to_send_mail(messages):
    served = messages("server")

    assert len(served) == 3
    assert [line for lines in served for line in lines if "smtplib" in line] == []


def test_every_operation_has_its_statements_within_its_time(figures):
    for duration, times_in_database, statements in (
        ("latency", "database_time", "statements"),
        ("operation_time", "operation_database_time", "operation_statements"),
    ):
        whole, part = figures(duration), figures(times_in_database)
        number = figures(statements)

        assert part.keys() == number.keys() == {key for key in whole if key[0] == "mean"}
        assert all(0 < value < whole[key] for key, value in part.items())
        assert all(value >= 1 for value in number.values())


def test_the_layers_of_a_sequence_are_shares_of_its_time(figures):
    shares, times = figures("layer_share"), figures("layer_time")
    per_request = figures("time_per_request")["mean", None]

    assert {layer for _, layer in shares} == {"orm", "web", "rest"}
    assert sum(shares.values()) == pytest.approx(100, abs=1e-3)
    assert sum(times.values()) == pytest.approx(per_request, rel=1e-3)


def test_a_search_finds_all_records_in_its_times(figures, load):
    for operation in ("TestCase.filter", "TestRun.filter"):
        logged = found(rf"Search \d {operation} in (\S+) ms of (\d+) bytes", load("Search "))
        times = [float(match[1]) for match in logged]
        of_operation = {
            statistic: value
            for (statistic, label), value in figures("read_time").items()
            if label == operation
        }
        assert len(times) == 5
        assert of_operation == pytest.approx(
            {"min": min(times), "p50": statistics.median(times), "max": max(times)}
        )
        (size,) = {int(match[2]) for match in logged}
        assert figures("read_payload")["mean", operation] == pytest.approx(size / 1e6)


def test_the_supported_users_lie_between_those_who_held_and_those_who_were_too_many(
    state, figures, load
):
    assert [float(match[1]) for match in found(r"Supported users (\S+)$", load("Supported"))] == [
        FOUND
    ]
    assert figures("supported_users") == {(name, None): FOUND for name in ("mean", "min", "max")}
    report = tidemark("show", "--all", "--state", str(state)).stdout
    for level, users, hit in ((1, 4, "none"), (2, 8, "crowd"), (3, 8, "crowd")):
        row = rf"\| 11\.7 \| 1 \| {level} \| {users} \| {users}\.000 \|.* {hit} \|"
        assert re.search(row, report), report
    assert "| CPU of server [vCPU] |" in report


def test_every_test_starts_with_the_same_data_set_of_the_version(database, messages):
    logged = [
        json.loads(line.partition("Environment: ")[2])
        for lines in messages("server")
        for line in lines
        if "Environment: " in line
    ]

    assert [each["engine_version"] for each in logged] == [VERSION] * 3
    assert len({each[f"data_set_{database}"] for each in logged}) == 1
    (title,) = {each["database"].lower() for each in logged}
    assert re.fullmatch(rf"{database} \d+\.\d+(\.\d+)?", title)


def programs_of(state):
    """Return the programs that run over files of a state folder, such as databases."""
    found = psutil.process_iter(["cmdline"])
    return [one for one in found if any(str(state) in word for word in one.info["cmdline"] or ())]


def test_a_database_that_dies_fails_its_test_by_name_and_the_others_go_on(tmp_path):
    state, options = tmp_path / "state", in_systems(copied(tmp_path, keep_the_baseline_alone))
    # The order of the databases is drawn.
    words = [TIDEMARK, *command(state, "postgresql,sqlite", r=6)]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True, **options) as run:
        while not any(
            calls_of(lines) for lines in streams(state, "server") if found(STARTS, lines)
        ):
            assert run.poll() is None, run.stdout.read()
            time.sleep(0.2)
        (server,) = [one for one in programs_of(state) if one.name() == "postgres"]
        server.kill()
        output = run.stdout.read()

    assert run.returncode == 1, output
    assert "PostgreSQL ended with exit code -9." in output
    assert programs_of(state) == []
    sql = "SELECT DISTINCT labels FROM rates WHERE metric = 'time_per_request' AND value > 0"
    rows = tidemark("sql", sql, "--format", "json", "--state", str(state)).stdout
    assert json.loads(rows) == [{"labels": '{"database": "sqlite"}'}]
