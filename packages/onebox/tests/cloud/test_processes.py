"""The programs of a cloud, which end with it, and the search for those that a task leaves."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from onebox.cloud.confinement import confined, covers
from onebox.cloud.processes import Guard, Process, begin, kill_left

# A process that starts a program with a child, as a task starts its measurement. Both ignore the
# signals that ask a program to end.
PARENT = """
import sys
from pathlib import Path
from onebox.cloud.processes import Guard
from onebox.cloud.processes import Process, begin

SCRIPT = "trap '' TERM HUP INT; sleep 3600 & echo $!; wait"
with Guard() as guard:
    ids = []
    process = Process(begin(["sh", "-c", SCRIPT], Path("/"), {}, guard), ids.extend)
    while not ids:
        pass
    print(process.group, *ids, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def parent():
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    yield parent
    parent.kill()
    parent.communicate()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_program_and_its_child_end_with_a_killed_parent(parent, has_ended, number):
    program, child = parent.stdout.readline().split()
    parent.send_signal(number)

    assert has_ended(program)
    assert has_ended(child)


def test_a_program_ends_with_its_parent_if_every_process_beside_it_is_killed_first(
    parent, has_ended
):
    program, child = parent.stdout.readline().split()
    beside = psutil.Process(parent.pid).children(recursive=True)
    for process in beside:
        if os.getpgid(process.pid) != int(program):
            process.kill()
    parent.kill()

    assert has_ended(program)
    assert has_ended(child)


def run(script, guard):
    lines = []
    process = Process(begin(["sh", "-c", script], Path("/"), {}, guard), lines.extend)
    return process, lines


def test_a_program_waits_for_no_child_but_its_own():
    with Guard() as guard:
        program, lines = run("wait; echo waited", guard)
        assert program.done.result(10) == 0
    assert lines == ["waited"]


def test_a_program_that_stops_itself_by_a_signal_ends_by_this_signal():
    with Guard() as guard:
        program, _ = run("kill -TERM $$", guard)
        assert program.done.result(10) == -signal.SIGTERM


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_its_parent_ignores_ends_a_program(number):
    before = signal.signal(number, signal.SIG_IGN)  # as nohup does
    with Guard() as guard:
        program, lines = run("echo begun; exec sleep 3600", guard)
        signal.signal(number, before)
        while not lines:
            pass
        program.send(number)
        assert program.done.result(10) == -number


def test_a_program_has_an_empty_standard_input():
    with Guard() as guard:
        program, lines = run("cat; echo end", guard)
        assert program.done.result(10) == 0
    assert lines == ["end"]


def test_a_running_program_is_killed_when_the_guard_ends():
    with Guard() as guard:
        program, _ = run("sleep 3600", guard)
    assert program.done.result(10) == -signal.SIGKILL


def test_a_program_that_is_not_found_is_an_error():
    with Guard() as guard, pytest.raises(FileNotFoundError, match="'/no/program'"):
        begin(["/no/program"], Path("/"), {}, guard)


@pytest.fixture
def sleep(tmp_path):
    """Return a started process with the scratch folder, the leader of its own group."""
    command, environment = ["/bin/sleep", "600"], {"TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, env=environment, start_new_session=True) as process:
        yield process
        process.kill()


def test_a_process_of_the_ended_group_is_not_left(sleep, tmp_path):
    assert kill_left(tmp_path, group=sleep.pid) == []
    assert sleep.poll() is None


def test_a_process_of_another_group_is_killed(sleep, tmp_path):
    assert kill_left(tmp_path, group=os.getpgrp()) == ["/bin/sleep 600"]
    with pytest.raises(ProcessLookupError):
        os.kill(sleep.pid, 0)


@pytest.mark.skipif(not covers(), reason="this kernel allows no namespace")
def test_a_process_without_environment_and_in_a_session_of_its_own_is_killed(tmp_path):
    scratch = tmp_path / "my tasks" / "1"
    scratch.mkdir(parents=True)
    program = ["setsid", "env", "-i", "/bin/sleep", "600"]
    with subprocess.Popen(confined(program, str(tmp_path), str(scratch)), env={}) as process:
        while process.poll() is None and "sleep" not in psutil.Process(process.pid).name():
            pass
        assert kill_left(scratch, group=os.getpgrp() + 1) == ["/bin/sleep 600"]


def test_a_process_of_another_task_goes_on(sleep, tmp_path):
    assert kill_left(tmp_path / "another", group=os.getpgrp()) == []
    assert sleep.poll() is None
