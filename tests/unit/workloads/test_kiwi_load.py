"""The load on Kiwi TCMS, over a server that answers as its JSON-RPC does."""

import json
import threading
from collections import Counter
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO

import pytest
from harness.task import CheckFailedError

ADMIN = "tidemark"


class Kiwi:
    """A server that gives everything new the next id, and remembers every call."""

    def __init__(self):
        self.calls = []
        self.refused = None
        self.status = 200
        self.body = None  # in place of the answer; b"" for none
        self.timing = "db;dur=3.125;desc=12"
        self.records = 0

    def work(self, path):
        """Do what a request beside Kiwi TCMS's own asks for."""
        name, _, number = path.partition("?")
        if name == "/tidemark/records":
            self.records += int(number)
            return int(number)
        assert name == "/tidemark/orm"
        return int(number) ** 2

    def answer(self, call, cookie):
        method, arguments = call["method"], call["params"]
        if method == "Auth.login":
            assert arguments == [ADMIN, ADMIN]
            return {"result": "key"}
        assert cookie == "sessionid=key"
        if method == self.refused:
            return {"error": {"code": -32603, "message": "Internal error: no such table"}}
        self.calls.append((method, *arguments))
        if {"summary__startswith": "Record "} in arguments:
            return {"result": [{"id": number} for number in range(self.records)]}
        found = {"id": len(self.calls)}
        lists = method.endswith(".filter") or method == "TestRun.add_case"
        return {"result": [{"id": 10**6}, found][not lists :: -1] if lists else found}

    @property
    def operations(self):
        return Counter(operation for operation, *_ in self.calls)


@pytest.fixture
def kiwi():
    kiwi = Kiwi()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # An answer's body would else wait 40 ms for the receipt of its headers.
        disable_nagle_algorithm = True

        def do_POST(self):
            content = self.rfile.read(int(self.headers["Content-Length"]))
            if self.path == "/json-rpc/":
                answer = kiwi.answer(json.loads(content), self.headers["Cookie"])
            else:
                answer = kiwi.work(self.path)
            body = json.dumps(answer).encode()
            body = body if kiwi.body is None else kiwi.body
            if not body:
                self.close_connection = True
                return
            self.send_response(kiwi.status)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Server-Timing", kiwi.timing)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    kiwi.port = server.server_port
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
    yield kiwi
    server.shutdown()
    server.server_close()


@pytest.fixture
def session(kiwi_load, kiwi):
    session = kiwi_load("json_rpc").Session("127.0.0.1", kiwi.port)
    yield session
    session.close()


def test_a_slow_network_lets_an_answer_arrive_in_pieces_as_fast_as_it_is(kiwi_load, kiwi):
    rpc = kiwi_load("json_rpc")
    answer, pauses = BytesIO(bytes(150_000)), []

    body = rpc.NETWORKS["far"].read(answer.read, pauses.append)

    assert len(body) == 150_000
    assert [round(1e6 * pause) for pause in pauses] == [26_214, 26_214, 7_571]


def test_a_call_over_a_slow_network_takes_a_round_trip_and_the_time_of_its_answer(
    kiwi_load, kiwi, monkeypatch
):
    rpc, pauses = kiwi_load("json_rpc"), []
    monkeypatch.setattr(rpc, "perf_counter", lambda: sum(pauses))
    far = rpc.Network(round_trip=8.0, bytes_per_second=1.0)
    with closing(rpc.Session("127.0.0.1", kiwi.port, far, pauses.append)) as session:
        assert session.call("Product.create", {}) == {"id": 1}
        answered = session.answered[-1]
        assert answered.seconds == 8 + answered.bytes


def test_a_sequence_reports_each_case_once_in_each_run(kiwi_load, session, kiwi):
    kiwi_load("operations").report(session, 3, "Plum")

    assert len(kiwi.calls) == 10 + 3 * 3 + 2 * 3**2
    assert kiwi.operations["TestExecution.update"] == 9
    added = [arguments for operation, *arguments in kiwi.calls if operation == "TestRun.add_case"]
    assert len({tuple(pair) for pair in added}) == 9
    assert len({run for run, _ in added}) == len({case for _, case in added}) == 3


def test_a_sequence_names_its_product_and_finds_its_user(kiwi_load, session, kiwi):
    kiwi_load("operations").report(session, 1, "Plum")

    calls = {operation: arguments for operation, *arguments in kiwi.calls}
    assert calls["Product.create"][0]["name"] == "Plum"
    assert calls["User.filter"] == [{"username": ADMIN}]


def test_each_job_logs_its_calls_and_results_after_a_sequence_that_counts_nowhere(
    kiwi_load, session, kiwi, capsys
):
    kiwi_load("api_baseline").measure(session, 2, 2)

    lines = [line.partition("  - ")[2] for line in capsys.readouterr().out.splitlines()]
    sequences = [line.split(" in ")[0] for line in lines if line.startswith("Sequence")]
    assert sequences == [f"Sequence {n}: 24 calls and 4 results" for n in (0, 1)]
    made = kiwi.operations
    assert made.pop("system.methodSignature") == 2 * 24
    assert sum(made.values()) == 15 + 2 * 24
    counted = Counter()
    for _, operation, count, *_ in (line.split() for line in lines if line.startswith("Operation")):
        counted[operation.removesuffix(":")] += int(count)
    # The short sequence makes one call of each operation.
    assert counted == made - Counter(dict.fromkeys(made, 1))


def test_each_job_logs_the_statements_of_each_operation(kiwi_load, session, capsys):
    kiwi_load("api_baseline").measure(session, 2, 1)

    lines = [line.partition("  - ")[2] for line in capsys.readouterr().out.splitlines()]
    logged = [line for line in lines if line.startswith("Database")]
    assert "Database TestRun.add_case requests 4 time 3.125000 ms statements 12.000000" in logged
    assert len(logged) == sum(line.startswith("Operation") for line in lines)


def test_the_layers_of_a_sequence_add_up_to_its_time(kiwi_load, session, capsys):
    kiwi_load("api_baseline").log_layers(session, 2, 24.0)

    words = [line.partition("  - ")[2].split() for line in capsys.readouterr().out.splitlines()]
    assert [each[1] for each in words] == ["orm", "web", "rest"]
    assert sum(float(each[2]) for each in words) == pytest.approx(1000.0, abs=1e-5)
    assert sum(float(each[6]) for each in words) == pytest.approx(100.0, abs=1e-5)
    assert all(float(each[2]) > 0 for each in words)


def test_the_same_work_with_other_results_has_no_layers(kiwi_load, session, kiwi, capsys):
    kiwi.work = lambda _: 3

    with pytest.raises(CheckFailedError, match=r"^The models stored 3 results: 4 were expected\.$"):
        kiwi_load("api_baseline").log_layers(session, 2, 24.0)
    assert capsys.readouterr().out == ""


def test_each_search_is_logged_with_its_time_and_size_after_one_that_counts_nowhere(
    kiwi_load, session, kiwi, capsys
):
    kiwi_load("read_api").measure(session, 3)

    lines = [line.partition("  - ")[2] for line in capsys.readouterr().out.splitlines()]
    size = len(json.dumps({"result": [{"id": number} for number in range(3)]}))
    for operation, logged in (("TestCase.filter", lines[:5]), ("TestRun.filter", lines[5:])):
        assert kiwi.operations[operation] == 6
        assert [line.split(" in ")[0] for line in logged] == [
            f"Search {number} {operation}" for number in range(5)
        ]
        assert all(line.endswith(f" ms of {size} bytes") for line in logged)


def test_a_search_that_finds_another_number_of_records_is_named(kiwi_load, session, kiwi):
    kiwi.records = 1

    with pytest.raises(
        CheckFailedError, match=r"^TestCase\.filter found 4 records: 3 were expected\.$"
    ):
        kiwi_load("read_api").measure(session, 3)


def test_a_half_finished_sequence_has_no_figures(kiwi_load, session, monkeypatch, capsys):
    baseline = kiwi_load("api_baseline")
    monkeypatch.setattr(baseline, "report", lambda session, *_: session.call("User.filter", {}))

    with pytest.raises(
        CheckFailedError,
        match=r"^Sequence 0 had 1 answers, 0 of them for results: 24 and 4 were expected\.$",
    ):
        baseline.measure(session, 2, 1)
    assert capsys.readouterr().out == ""


def test_a_refused_call_is_named_with_the_reason(kiwi_load, session, kiwi):
    kiwi.refused = "TestRun.create"

    with pytest.raises(kiwi_load("json_rpc").Refusal) as refusal:
        kiwi_load("operations").report(session, 2, "Plum")

    assert str(refusal.value) == "TestRun.create was refused: Internal error: no such table"
    assert "TestRun.add_case" not in kiwi.operations


def test_a_status_other_than_200_is_a_refusal(kiwi_load, session, kiwi):
    kiwi.status = 500

    with pytest.raises(
        kiwi_load("json_rpc").Refusal, match=r"^A\.b was answered with the status 5"
    ):
        session.call("A.b")


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"<html>", "the answer to A.b is not JSON"),
        (b'{"id": 1}', "A.b was answered without a result"),
    ],
)
def test_an_answer_without_a_result_is_a_refusal(kiwi_load, session, kiwi, body, sentence):
    kiwi.body = body

    with pytest.raises(kiwi_load("json_rpc").Refusal) as refusal:
        session.call("A.b")

    assert str(refusal.value) == sentence


@pytest.mark.parametrize("timing", ["", "db;dur=fast;desc=1", "db;dur=1.0"])
def test_an_answer_without_its_statements_is_a_refusal(kiwi_load, session, kiwi, timing):
    kiwi.timing = timing

    with pytest.raises(kiwi_load("json_rpc").Refusal) as refusal:
        session.call("A.b")

    assert str(refusal.value) == f"A.b was answered with {timing!r} as Server-Timing"


def test_a_call_without_an_answer_leaves_the_session_usable(session, kiwi):
    kiwi.body = b""
    with pytest.raises(ConnectionError):
        session.call("A.b")

    kiwi.body = None
    assert session.call("A.b") == {"id": 2}


def test_a_load_names_the_end_of_a_connection_to_the_server(load, kiwi, capsys):
    kiwi.body = b""

    assert load.main("api_baseline") == 1
    assert "ERROR  - The server failed: Remote end closed connection" in capsys.readouterr().out


@pytest.fixture
def load(kiwi_load, kiwi, monkeypatch):
    load = kiwi_load("load")
    monkeypatch.setattr(load, "PORT", kiwi.port)
    monkeypatch.setattr(load, "keep_apart", lambda *_, **__: None)
    monkeypatch.setenv("TIDEMARK_SERVER", "127.0.0.1")
    monkeypatch.setenv("TIDEMARK_R", "1")
    monkeypatch.setenv("TIDEMARK_JOBS", "1")
    return load


def test_a_load_logs_its_machine_and_not_a_version(load, capsys):
    assert load.main("api_baseline") == 0

    environment = json.loads(capsys.readouterr().out.splitlines()[0].partition("Environment: ")[2])
    assert "cpu_model" in environment
    assert not {"engine_version", "package_digest"} & environment.keys()


def test_a_load_ends_with_the_reason_for_which_the_server_failed(load, kiwi, capsys):
    kiwi.refused = "Build.create"

    assert load.main("api_baseline") == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.endswith(
        "ERROR  - The server failed: Build.create was refused: Internal error: no such table."
    )
