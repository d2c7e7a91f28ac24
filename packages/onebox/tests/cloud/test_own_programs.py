"""The programs of a cloud itself, apart from those of its tasks."""

import os
import subprocess
import sys

import pytest

from onebox.cloud.container_insights import own_programs, own_usage
from onebox.cloud.tasks import OwnCores

WORK = "import time\nwhile time.process_time() < 0.3: pass\nprint('worked', flush=True)\ninput()"


@pytest.fixture
def begin():
    """Return a function that begins a program, perhaps as a task; it has worked for 0.3 s."""
    begun = []

    def begin(*, task):
        child = subprocess.Popen(
            [sys.executable, "-c", WORK],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=task,
        )
        begun.append(child)
        assert child.stdout.readline() == b"worked\n"
        return child

    yield begin
    for child in begun:
        child.communicate(b"\n")


def test_the_programs_of_a_cloud_are_all_that_it_began_but_its_tasks(begin):
    task, function = begin(task=True), begin(task=False)

    found = {program.pid for program in own_programs({task.pid})}

    assert {os.getpid(), function.pid} <= found
    assert task.pid not in found


def test_the_usage_of_a_cloud_has_none_of_its_tasks(begin):
    task = begin(task=True)
    without, _ = own_usage({task.pid})
    with_task, _ = own_usage(())

    assert with_task - without >= 0.25


def test_a_cloud_takes_its_cores_back_after_the_last_of_several_services():
    before = sorted(os.sched_getaffinity(0))
    own = OwnCores()
    own.give_way(())
    own.give_way(())

    assert not own.take_back(())
    assert sorted(os.sched_getaffinity(0)) == (before[: len(before) // 2] or before)
    assert own.take_back(())
    assert sorted(os.sched_getaffinity(0)) == before
