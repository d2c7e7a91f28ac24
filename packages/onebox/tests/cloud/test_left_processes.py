"""The search for processes that a task leaves behind."""

import os
import subprocess

import psutil
import pytest

from onebox.cloud.confinement import confined, covers
from onebox.cloud.processes import kill_left


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
