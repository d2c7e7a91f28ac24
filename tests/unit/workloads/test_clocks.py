"""The clocks of a measurement."""

import subprocess
import sys

import pytest
from harness import clocks, log


class Machine:
    """A fake clock, and the CPU time of a process that works for some seconds."""

    def __init__(self, busy_seconds):
        self.now, self._busy = 0.0, busy_seconds

    def time(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds

    def used(self):
        return min(self.now, self._busy)


@pytest.mark.parametrize("busy", [0.0, 0.1, 1.5])
def test_a_clock_waits_until_the_cpu_time_stands_still(busy, capsys):
    machine = Machine(busy)
    clocks.wait_until_idle(machine.used, machine.time, machine.sleep)

    assert busy <= machine.now <= busy + 0.05
    assert capsys.readouterr().out == ""


def test_the_log_says_that_a_process_is_never_idle(capsys, monkeypatch):
    monkeypatch.setattr(log, "_SYSTEM", "fake")
    machine = Machine(1e9)
    clocks.wait_until_idle(machine.used, machine.time, machine.sleep)

    assert machine.now == pytest.approx(2.0, abs=0.05)
    assert capsys.readouterr().out == (
        "[main] fake.Clock INFO  - The process was not idle within 2 seconds.\n"
    )


def test_the_cpu_time_has_that_of_children_that_run_and_of_those_that_have_ended():
    busy = "import time\nwhile time.process_time() < 0.3: pass\nprint(flush=True)\ninput()"
    before = clocks.cpu_seconds()
    child = subprocess.Popen(
        [sys.executable, "-c", busy], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    child.stdout.readline()
    running = clocks.cpu_seconds() - before
    child.communicate(b"\n")
    ended = clocks.cpu_seconds() - before

    assert 0.3 <= running <= ended


def test_the_time_of_work_is_that_of_this_process_too():
    took = clocks.timed(lambda: sum(range(10**6)))

    assert 0 < took.cpu_seconds <= took.seconds + 0.01
    assert clocks.Took(2.0, 0.5).cpu_per(1_000_000) == "0.5000 CPU microseconds per record"


@pytest.mark.parametrize(("loss", "seconds", "cpu"), [(0.0, 3.0, 3.0), (0.5, 6.0, 6.0)])
def test_a_version_that_is_slowed_loses_a_share_of_its_rate(monkeypatch, loss, seconds, cpu):
    machine = Machine(busy_seconds=4.0)
    monkeypatch.setattr(clocks.time, "perf_counter", machine.time)
    monkeypatch.setattr(clocks.time, "sleep", machine.sleep)
    monkeypatch.setattr(clocks, "cpu_seconds", machine.used)
    # The engine worked on in the background for a second, which no clock has.
    monkeypatch.setattr(clocks, "wait_until_idle", lambda: machine.sleep(1.0))

    assert clocks.timed(lambda: machine.sleep(3.0), loss) == (seconds, cpu)
