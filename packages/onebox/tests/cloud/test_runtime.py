"""AWS's runtime of a function: the process that functions are forked from, and the Runtime API."""

import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from pathlib import Path

import psutil
import pytest

from onebox.cloud.runtime import ForkServer, Invocation, RuntimeApi

# The runtime loads the handler's module first.
SLEEPING = "import os, time; print(os.getpid(), flush=True); time.sleep(900)"
PARENT = """
import sys
from pathlib import Path
from onebox.cloud.runtime import ForkServer
from onebox.cloud.processes import Guard

with Guard() as guard:
    function = ForkServer(guard).start("index.handler", Path(sys.argv[1]), ENVIRONMENT)
    print(function.stdout.readline().decode(), end="", flush=True)
    sys.stdin.read()
"""
ENVIRONMENT = {"AWS_LAMBDA_RUNTIME_API": "127.0.0.1:9"}


@pytest.fixture
def code(tmp_path):
    (tmp_path / "index.py").write_text(SLEEPING)
    return tmp_path


@pytest.fixture
def server(guard):
    server = ForkServer(guard)
    yield server
    server.close()


def process_of(server):
    (process,) = (
        child
        for child in psutil.Process().children()
        if "preloaded.py" in " ".join(child.cmdline())
    )
    return process


def test_functions_and_their_server_end_with_a_killed_cloud(code, has_ended):
    program = PARENT.replace("ENVIRONMENT", repr(ENVIRONMENT))
    with subprocess.Popen(
        [sys.executable, "-c", program, code],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as cloud:  # fmt: skip
        function = cloud.stdout.readline()
        server = psutil.Process(int(function)).ppid()
        cloud.kill()

    assert has_ended(function)
    assert has_ended(server)


@pytest.mark.parametrize("is_begun_again", [False, True])
def test_a_function_whose_server_was_killed_has_the_code_of_a_kill(server, code, is_begun_again):
    function = server.start("index.handler", code, ENVIRONMENT)
    process = process_of(server)
    process.kill()
    process.wait()
    if is_begun_again:
        server.start("index.handler", code, ENVIRONMENT).stdout.close()
    psutil.Process(function.pid).kill()

    assert function.wait() == -signal.SIGKILL
    function.stdout.close()


def test_the_path_of_a_function_has_its_code_first_and_nothing_of_the_checkout(server, tmp_path):
    (tmp_path / "index.py").write_text("import sys; print(sys.path); sys.stdout.flush(); exit(3)")
    function = server.start("index.handler", tmp_path, ENVIRONMENT)
    with function.stdout as output:
        path = output.readline().decode()

    assert path.startswith(f"['{tmp_path}', ")
    assert f"'{Path(__file__).parents[3]}'" not in path
    assert function.wait() == 3


ASK = """
import sys, urllib.error, urllib.request
try:
    print(urllib.request.urlopen(sys.argv[1]).status)
except urllib.error.HTTPError as error:
    print(error.code)
"""


@pytest.fixture
def api():
    api = RuntimeApi()
    api.submit(Invocation("1", "arn", 0, b"{}"))
    yield api
    api.close()


def next_of(api):
    return f"http://{api.address}/2018-06-01/runtime/invocation/next"


def test_the_runtime_of_the_function_gets_its_event(api):
    api.serve(os.getpid())

    with urllib.request.urlopen(next_of(api)) as answer:
        assert answer.read() == b"{}"


def test_another_process_gets_no_event_and_the_runtime_still_gets_it(api):
    api.serve(os.getpid())

    asked = subprocess.run(
        [sys.executable, "-c", ASK, next_of(api)], capture_output=True, text=True, check=True
    )
    assert asked.stdout == "403\n"
    with urllib.request.urlopen(next_of(api)) as answer:
        assert answer.read() == b"{}"


def test_a_stranger_cannot_fill_the_memory_with_a_body(api):
    api.serve(os.getpid())
    connection = HTTPConnection(api.address, timeout=60)
    connection.putrequest("POST", "/2018-06-01/runtime/init/error")
    connection.putheader("Content-Length", str(1 << 40))
    connection.endheaders()

    with closing(connection), connection.getresponse() as answer:
        assert answer.status == 413


@pytest.mark.parametrize("count", [3, 100])
def test_silent_connections_of_strangers_do_not_keep_the_runtime_from_its_event(api, count):
    api.serve(os.getpid())
    with ExitStack() as opened:
        for _ in range(count):
            opened.enter_context(socket.create_connection(api.address.split(":")))
        with urllib.request.urlopen(next_of(api), timeout=60) as answer:
            assert answer.read() == b"{}"


def test_an_api_with_silent_connections_closes(api):
    with socket.create_connection(api.address.split(":")):
        api.close()


def test_nobody_is_answered_for_a_runtime_that_has_ended(api):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    api.serve(ended.pid)

    with pytest.raises(urllib.error.HTTPError, match="403") as refusal:
        urllib.request.urlopen(next_of(api))
    refusal.value.close()


def test_a_request_for_a_runtime_that_is_never_started_does_not_keep_the_api_from_closing(api):
    with socket.create_connection(api.address.split(":")) as connection:
        connection.sendall(b"GET /2018-06-01/runtime/invocation/next HTTP/1.0\r\n\r\n")
        api.close()
