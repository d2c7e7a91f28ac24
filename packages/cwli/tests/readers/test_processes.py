"""Processes share work, and none outlives it."""

import os
import signal

import pytest

from cwli.readers.searching import ProcessFailedError, in_processes


@pytest.fixture
def numbers(tmp_path):
    """Return the tasks that were done, each with its process."""

    def done():
        return {int(path.name): int(path.read_text()) for path in tmp_path.iterdir()}

    def work(number):
        (tmp_path / str(number)).write_text(str(os.getpid()))

    return work, done


@pytest.mark.parametrize("processes", [1, 2, 3, 9])
def test_each_task_is_done_once_and_this_process_takes_part(numbers, processes):
    work, done = numbers
    in_processes(work, range(5), processes)
    assert sorted(done()) == [0, 1, 2, 3, 4]
    assert len(set(done().values())) == min(processes, 5)
    assert done()[0] == os.getpid()


def test_no_task_needs_no_process(numbers):
    work, done = numbers
    in_processes(work, [], 3)
    assert done() == {}


@pytest.mark.parametrize("end", [lambda: 1 / 0, lambda: os.kill(os.getpid(), signal.SIGKILL)])
def test_a_failure_of_another_process_is_a_failure(end):
    def work(number):
        if number == 1:
            end()

    with pytest.raises(ProcessFailedError):
        in_processes(work, range(2), 2)


def test_an_interrupt_ends_the_other_processes():
    read, write = os.pipe()

    def work(number):
        if number == 0:
            raise KeyboardInterrupt
        os.close(read)
        signal.pause()

    with pytest.raises(KeyboardInterrupt):
        in_processes(work, range(3), 3)

    os.close(write)
    # The end of the pipe is there once no other process holds it.
    os.set_blocking(read, False)
    assert os.read(read, 1) == b""
    os.close(read)


def test_a_signal_during_a_fork_leaves_no_process(monkeypatch):
    fork, children = os.fork, []

    def interrupted():
        child = fork()
        if child:
            children.append(child)
            signal.raise_signal(signal.SIGINT)
        return child

    monkeypatch.setattr(os, "fork", interrupted)
    with pytest.raises(KeyboardInterrupt):
        in_processes(lambda _: signal.pause(), range(2), 2)
    with pytest.raises(ProcessLookupError):
        os.kill(*children, 0)


def test_a_signal_ends_another_process(tmp_path):
    def work(number):
        if number == 1:
            os.kill(os.getpid(), signal.SIGTERM)
            (tmp_path / "survived").touch()

    before = signal.signal(signal.SIGTERM, signal.default_int_handler)  # as commands have it
    try:
        with pytest.raises(ProcessFailedError):
            in_processes(work, range(2), 2)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert not list(tmp_path.iterdir())
