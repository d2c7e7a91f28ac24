"""The harness of a service: it says when the program is ready, and ends with it."""

import os
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager

import pytest
from harness.service import answers

from tidemark.model.task import HARNESS

SERVER = """import os, sys
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/missing":
            print("Asked", flush=True)
        self.send_response(200 if self.path == "/health" else 404)
        self.end_headers()
        self.wfile.write(b"x")
        if "--die" in sys.argv:
            os._exit(3)

    def log_message(self, *_):
        pass

port = int(os.environ["TIDEMARK_READY"][1:].partition("/")[0])
HTTPServer((os.environ["TIDEMARK_ADDRESS"], port), Handler).serve_forever()
"""
ADDRESS = "127.0.0.1"


@pytest.fixture
def port():
    """Return a port that is free."""
    with socket.create_server((ADDRESS, 0)) as server:
        return server.getsockname()[1]


@contextmanager
def service(program, ready, *words, **more):
    """Start a program as a service; kill it in the end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "harness.service", sys.executable, "-c", program, *words],
        env={
            "PATH": os.environ["PATH"], "PYTHONPATH": str(HARNESS),
            "TIDEMARK_ADDRESS": ADDRESS, "TIDEMARK_READY": ready,
            **more,
        },
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("path", ["", "/health"])
def test_a_service_is_ready_when_it_answers_and_ends_when_it_is_stopped(port, path):
    ready = f":{port}{path}"
    with service(SERVER, ready) as process:
        line = process.stdout.readline()
        process.send_signal(signal.SIGTERM)

        assert f".Service INFO  - Ready: {ready} after " in line
        assert process.wait() == 128 + signal.SIGTERM


def test_a_service_that_answers_with_an_error_is_not_ready(port):
    with service(SERVER, f":{port}/missing") as process:
        asked = process.stdout.readline()
        process.send_signal(signal.SIGTERM)

        assert asked == "Asked\n"
        assert set(process.stdout.read().splitlines()) <= {"Asked"}
        assert process.wait() == 128 + signal.SIGTERM


def test_a_service_with_a_line_as_its_sign_is_ready_once_it_has_logged_the_line(port):
    program = f"import sys\nprint('Recovered', file=sys.stderr)\n{SERVER}"
    with service(program, f":{port}", TIDEMARK_READY_LOG="Recovered") as process:
        lines = [process.stdout.readline() for _ in range(2)]
        process.send_signal(signal.SIGTERM)

        assert process.wait() == 128 + signal.SIGTERM
    assert lines[0] == "Recovered\n"
    assert f".Service INFO  - Ready: :{port} after " in lines[1]


def test_a_service_that_takes_requests_without_its_line_is_not_ready(port):
    program = f"print('Not yet', flush=True)\n{SERVER}"
    with service(program, f":{port}", "--die", TIDEMARK_READY_LOG="Recovered") as process:
        while not answers(ADDRESS, port, "/health"):
            pass

        assert (process.stdout.read(), process.wait()) == ("Not yet\n", 3)


def test_a_service_ends_with_the_exit_code_of_its_program(port):
    with service(SERVER, f":{port}/health", "--die") as process:
        assert process.wait() == 3
