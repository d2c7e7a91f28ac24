"""The process that functions are forked from, and what ends with it."""

import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from onebox.cloud.fork_server import ForkServer

# The runtime loads the handler's module first.
SLEEPING = "import os, time; print(os.getpid(), flush=True); time.sleep(900)"
PARENT = """
import sys
from pathlib import Path
from onebox.cloud.fork_server import ForkServer
from onebox.cloud.guard import Guard

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
