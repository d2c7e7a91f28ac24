"""The guard, which ends what a cloud started, even if the cloud is killed."""

import signal
import subprocess
import sys

from local.cloud.guard import Guard

SLEEP = ["sleep", "3600"]
# A process that starts a program with a child, as a task starts its measurement.
PARENT = """
import sys
from pathlib import Path
from local.cloud.guard import Guard
from local.cloud.processes import Process

with Guard() as guard:
    ids = []
    process = Process(["sh", "-c", "sleep 3600 & echo $!; wait"], Path("/"), {}, ids.extend, guard)
    while not ids:
        pass
    print(process._popen.pid, *ids, flush=True)
    sys.stdin.read()
"""


def test_a_program_and_its_child_end_with_a_killed_parent(has_ended):
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    program, child = parent.stdout.readline().split()
    parent.send_signal(signal.SIGKILL)
    parent.communicate()

    assert has_ended(program)
    assert has_ended(child)


def test_a_forgotten_program_is_not_killed():
    with subprocess.Popen(SLEEP, start_new_session=True) as program:
        with Guard() as guard:
            guard.watch(program.pid)
            guard.forget(program.pid)
        assert program.poll() is None
        program.kill()


def test_a_watched_program_is_killed_when_the_guard_ends():
    with subprocess.Popen(SLEEP, start_new_session=True) as program:
        with Guard() as guard:
            guard.watch(program.pid)
        assert program.wait(10) == -signal.SIGKILL
