"""Mattermost's load: an agent of the developers' tool, over a stand-in of its ltapi."""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import ModuleType, SimpleNamespace
from typing import ClassVar

import pytest
from harness.task import CheckFailedError

from tidemark.model.checkout import ROOT
from tidemark.model.suite_files import read_suites

METRICS = """
# HELP loadtest_http_request_time The time taken to execute client requests.
# TYPE loadtest_http_request_time histogram
loadtest_http_request_time_bucket{le="0.1"} 90
loadtest_http_request_time_bucket{le="0.5"} 98
loadtest_http_request_time_bucket{le="1"} 100
loadtest_http_request_time_bucket{le="+Inf"} 100
loadtest_http_request_time_sum 12.5
loadtest_http_request_time_count 100
loadtest_http_errors_total{path="/api/v4/posts",method="POST",status_code="500"} 2
loadtest_http_timeouts_total{path="/api/v4/posts",method="POST"} 1
"""
VARIABLES = {
    "TIDEMARK_SERVER": "10.0.0.9", "TIDEMARK_TEAMS": "2", "TIDEMARK_CHANNELS": "100",
    "TIDEMARK_POSTS": "20000",
}  # fmt: skip


class Api(ThreadingHTTPServer):
    """The API of ltapi with one agent."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.users, self.asked, self.error, self.status = 0, [], "", 200


class Handler(BaseHTTPRequestHandler):
    """Answers of ltapi, as its documentation has them."""

    def do_GET(self):
        if self.path == "/metrics":
            self._answer(METRICS)
        else:
            self._answer(json.dumps({"status": {"NumUsers": self.server.users}}))

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.append((self.path, json.loads(body)))
        verb, _, amount = self.path.rpartition("/")[2].partition("?amount=")
        if amount:
            self.server.users += int(amount) if verb == "addusers" else -int(amount)
        self._answer(json.dumps({"error": self.server.error} if self.server.error else {}))

    def _answer(self, text):
        self.send_response(self.server.status)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        """Log nothing."""


@pytest.fixture
def api():
    with Api() as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def tool(mattermost, api):
    return mattermost("tool").Tool(1, api.server_port)


def test_requests_are_read_from_the_metrics_of_the_tool(mattermost):
    found = mattermost("tool").measurements(METRICS)

    assert (found.requests, found.mean_ms, found.failed, found.failures) == (100, 125.0, 3, 0.03)
    # The 99th of 100 is the first of two between half a second and a second.
    assert found.p99_ms == pytest.approx(750.0)


def test_an_interval_has_the_requests_since_the_one_before(mattermost):
    measurements = mattermost("tool").measurements
    later = METRICS.replace("_sum 12.5", "_sum 13.5").replace(" 100\n", " 102\n")

    found = measurements(later).since(measurements(METRICS))

    assert (found.requests, found.seconds, found.failed) == (2, 1.0, 0)
    assert found.below[0.5] == 0


def test_a_page_without_requests_has_no_times(mattermost):
    found = mattermost("tool").measurements("")

    assert (found.requests, found.mean_ms, found.p99_ms, found.failures) == (0, 0.0, 0.0, 0.0)


def test_users_are_added_and_removed_until_there_are_as_many(tool, api):
    for users in (8, 20, 5, 5):
        tool.have(users)

    assert api.users == 5
    assert [path for path, _ in api.asked] == [
        "/loadagent/lt1/addusers?amount=8", "/loadagent/lt1/addusers?amount=12",
        "/loadagent/lt1/removeusers?amount=15",
    ]  # fmt: skip


def test_an_agent_is_made_for_the_server_of_the_trial(mattermost, tool, api, monkeypatch):
    started = []
    monkeypatch.setattr(mattermost("tool").subprocess, "Popen", started.append)

    tool.start(VARIABLES)

    (create, body), (run, _) = api.asked
    assert (create, run) == ("/loadagent/create?id=lt1", "/loadagent/lt1/run")
    connection = body["LoadTestConfig"]["ConnectionConfiguration"]
    assert connection["ServerURL"] == "http://10.0.0.9:8065"
    assert body["LoadTestConfig"]["InstanceConfiguration"]["NumPosts"] == 20000
    assert started == [["ltapi"]]


def test_a_refusal_of_the_tool_is_named(tool, api):
    api.error = "not enough users"
    with pytest.raises(CheckFailedError, match=r"^ltapi refused /.*: not enough users\.$"):
        tool.have(8)

    api.status = 404
    with pytest.raises(CheckFailedError, match="refused /metrics with 404"):
        tool.measured()


def test_a_level_is_logged_as_its_query_reads_it(mattermost, tool, capsys):
    course = {"level": 3, "users": {"agent_1": 12}, "settle_seconds": 0, "hold_seconds": 0}

    mattermost("load")._hold(tool, 12, 0, course)

    lines = capsys.readouterr().out.splitlines()
    assert [line.partition("INFO  - ")[2] for line in lines] == [
        "Users 12",
        "Interval 0 average 0.000000 ms p99 0.000 ms failed 0 in 0.000 s",
        "Level 3 users 12 average 0.000 ms p99 0.000 ms failures 0.000000",
    ]


@pytest.mark.parametrize(
    ("version", "answered", "reported"),
    [("10.6.0", "10.6.0", "10.6.0"), ("10.6.0-rc3", "10.6.0", "10.6.0-rc3"),
     ("10.6.0-rc3", "10.5.0", "10.5.0")],
)  # fmt: skip
def test_a_candidate_reports_the_version_of_its_release(serve, version, answered, reported):
    assert serve.reported(version, answered) == reported


@pytest.fixture
def serve(mattermost, monkeypatch):
    """Return the program beside the server, over drivers that answer what a test gives them."""
    for name, error in (("psycopg2", "Error"), ("pymysql", "MySQLError")):
        driver = ModuleType(name)
        setattr(driver, error, type(error, (Exception,), {}))
        driver.connect = lambda *_, **__: SimpleNamespace(cursor=Cursor)
        monkeypatch.setitem(sys.modules, name, driver)
    return mattermost("serve")


class Cursor:
    """A cursor whose statements are answered by the first word that they have."""

    answers: ClassVar = {}

    def execute(self, statement, values=()):
        self._asked = statement % values if values else statement

    def fetchone(self):
        word = next(word for word in self.answers if word in self._asked)
        return self.answers[word].pop(0)

    def fetchall(self):
        return self.fetchone()


def test_a_new_log_of_postgresql_is_read_from_its_first_byte(serve, monkeypatch):
    line = b'"duration: 2.5 ms  execute <unnamed>: SELECT 1"\n'
    monkeypatch.setattr(Cursor, "answers", {
        "sum(calls)": [(10, 50.0), (12, 55.0)], "pg_stat_file": [("old", 107), ("new", 60)],
        "pg_read_binary_file(new, 0, 60)": [(2 * line,)],
    })  # fmt: skip

    assert serve.DATABASES["postgres"]().statements().p99_ms == 2.5


def test_the_log_of_postgresql_is_one_file_at_midnight_too():
    database = read_suites(ROOT / "images")["mattermost"].services["server"].task.beside["postgres"]

    assert {"log_rotation_size=0", "log_rotation_age=0"} <= {*database.command}


def test_the_statements_of_postgresql_have_the_p99_of_the_sample_in_its_log(serve, monkeypatch):
    lines = "".join(
        f'2026-11-28,"mmuser",LOG,00000,"duration: {ms}.5 ms  execute <unnamed>: SELECT 1"\n'
        f'2026-11-28,"mmuser",LOG,00000,"duration: 9000.5 ms  parse <unnamed>: SELECT 1"\n'
        for ms in range(101)
    )
    monkeypatch.setattr(Cursor, "answers", {
        "sum(calls)": [(10, 50.0), (14, 58.0)], "pg_stat_file": [("log", 7), ("log", 107)],
        "pg_read_binary_file(log, 7, 100)": [(lines.encode(),)],
    })  # fmt: skip

    statements = serve.DATABASES["postgres"]().statements()

    assert statements.words == "Statements 4 average 2.000000 ms p99 99.500000 ms"


def test_the_statements_of_mysql_have_the_p99_of_its_histogram(serve, monkeypatch):
    monkeypatch.setattr(Cursor, "answers", {
        "COUNT_STAR": [(100, 1.0), (200, 1.5)],
        "BUCKET": [[(0.1, 100), (0.2, 100)], [(0.1, 198), (0.2, 200)]],
    })  # fmt: skip

    statements = serve.DATABASES["mysql"]().statements()

    # The 99th of 100 is the first of two between 0.1 and 0.2 s.
    assert statements.words == "Statements 100 average 5.000000 ms p99 150.000000 ms"


def test_the_goroutines_heap_and_stacks_are_those_of_gos_own_pages(serve):
    index = "<tr><td>321</td><td><a href='goroutine?debug=1'>goroutine</a></td></tr>"
    heap = "heap profile: 1: 2 [3: 4]\n# HeapInuse = 2097152\n# Stack = 1048576 / 9\n"

    assert serve.runtime(index, heap) == "Runtime goroutines 321 heap 2.000 MiB stack 1.000 MiB"
    with pytest.raises(CheckFailedError, match="has no goroutines"):
        serve.runtime("", heap)
