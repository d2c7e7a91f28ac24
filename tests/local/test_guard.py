"""What a cloud started ends with it, even if it is killed."""

import signal
import subprocess
import sys

from local.cloud.guard import Guard

SLEEP = ["sleep", "3600"]
# A process that starts a program, whose own child is the program's: as a task and its measurement.
PARENT = """
import sys
from pathlib import Path
from local.cloud.guard import Guard
from local.cloud.processes import Process

with Guard() as guard:
    said = []
    process = Process(["sh", "-c", "sleep 3600 & echo $!; wait"], Path("/"), {}, said.extend, guard)
    while not said:
        pass
    print(process._popen.pid, *said, flush=True)
    sys.stdin.read()
"""


def test_a_program_and_what_it_started_end_with_a_process_that_is_killed(has_ended):
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    program, child = parent.stdout.readline().split()
    parent.send_signal(signal.SIGKILL)
    parent.communicate()

    assert has_ended(program)
    assert has_ended(child)


def test_a_program_that_is_forgotten_is_left_alone():
    with subprocess.Popen(SLEEP, start_new_session=True) as program:
        with Guard() as guard:
            guard.watch(program.pid)
            guard.forget(program.pid)
        assert program.poll() is None
        program.kill()


def test_what_is_watched_is_killed_when_the_guard_ends():
    with subprocess.Popen(SLEEP, start_new_session=True) as program:
        with Guard() as guard:
            guard.watch(program.pid)
        assert program.wait(10) == -signal.SIGKILL
