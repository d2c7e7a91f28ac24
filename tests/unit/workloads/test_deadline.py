"""The deadline of a task, whatever its program does."""

import os
import signal
import subprocess
import sys

import pytest
from harness import deadline

from tidemark.model.task import HARNESS

RUN = """
import os, sys
from harness import deadline
deadline._GRACE_SECONDS = 0.2
left = float(sys.argv[1]) if sys.argv[1] else None
sys.exit(deadline.run(sys.argv[2:], os.environ, left, "5.5"))
"""
REASON = ".Deadline ERROR  - The task was ended because it took more than 5.5 seconds."


def start(left, *words):
    return subprocess.Popen(
        [sys.executable, "-c", RUN, left, *words],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(HARNESS)},
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def run(left, *words):
    with start(left, *words) as process:
        output, _ = process.communicate()
    return process.returncode, output


@pytest.mark.parametrize("left", ["", "60"])
@pytest.mark.parametrize(("script", "code"), [("exit 7", 7), ("kill -KILL $$", 137)])
def test_a_program_that_ends_before_its_deadline_has_its_own_exit_code(left, script, code):
    assert run(left, "sh", "-c", script) == (code, "")


@pytest.mark.parametrize("left", ["0", "0.3"])
def test_a_program_that_hangs_is_ended_at_its_deadline_with_a_code_and_a_reason_of_its_own(left):
    code, output = run(left, "sleep", "60")

    assert code == 124
    assert output.rstrip().endswith(REASON)


def test_a_program_that_ignores_its_end_is_killed_with_its_children():
    script = "trap '' TERM; sleep 60 & echo $! $$; while true; do sleep 60; done"
    code, output = run("0.3", "sh", "-c", script)

    assert code == 124
    for process in output.split()[:2]:
        with pytest.raises(ProcessLookupError):
            os.kill(int(process), 0)


def test_a_program_hears_that_its_task_is_stopped():
    with start(
        "60", "sh", "-c", "trap 'exit 9' TERM; echo begun; while :; do sleep 0.1; done"
    ) as task:
        task.stdout.readline()
        task.send_signal(signal.SIGTERM)

    assert task.returncode == 9


def test_a_program_that_cannot_begin_leaves_no_signal_blocked():
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())

    with pytest.raises(FileNotFoundError):
        deadline.run(["/nowhere/program"], {}, None, "5.5")
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == blocked
