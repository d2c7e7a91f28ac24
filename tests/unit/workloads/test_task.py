"""The process that supervises the measuring process, which is a shell script here."""

import os
import signal
import subprocess
import sys

import pytest
from harness import __main__ as task

from tidemark.model.checkout import ROOT
from tidemark.model.task import HARNESS

CODE = """import runpy, sys
sys.executable = sys.argv.pop(1)
runpy.run_module("harness", run_name="__main__", alter_sys=True)"""


@pytest.fixture
def start(tmp_path):
    """Return a function that starts the program with a script as its interpreter."""

    def start(script, arguments=("ingest",), **variables):
        python = tmp_path / "python"
        python.write_text(f"#!/bin/sh\n{script}\n")
        python.chmod(0o755)
        scratch = tmp_path / "scratch"
        scratch.mkdir()
        return subprocess.Popen(
            [sys.executable, "-c", CODE, str(python), "rocksdb_workload", *arguments],
            cwd=ROOT / "workloads" / "rocksdb",
            env={
                "PATH": os.environ["PATH"],
                "PYTHONPATH": str(HARNESS),
                "TMPDIR": str(scratch),
                "TIDEMARK_VERSION": "9.0.0",
                "TIDEMARK_PACKAGE": "rocksdict==0.3.23",
                "TIDEMARK_RECORDS": "1000",
                "TIDEMARK_JOBS": "1",
                "TIDEMARK_SEED": "1",
                "TIDEMARK_TASK": "0",
                "TIDEMARK_DATA": "s3://results/work",
                **variables,
            },
            stdout=subprocess.PIPE,
            text=True,
        )

    return start


@pytest.fixture
def run(start):
    def run(*arguments, **variables):
        with start(*arguments, **variables) as process:
            output, _ = process.communicate()
        return process.returncode, output.splitlines()

    return run


def test_the_measuring_process_gets_the_test_and_its_scratch_folder(run):
    code, (arguments,) = run('echo "$@"; touch "$5/file"')

    assert code == 0
    assert arguments.startswith("-m harness.measurement rocksdb_workload ingest ")


def test_the_exit_code_of_the_measuring_process_is_that_of_the_task(run):
    assert run("exit 1")[0] == 1


def test_a_measuring_process_that_crashes_fails_the_task(run):
    code, lines = run("kill -SEGV $$")

    assert code == 1
    assert lines[-1] == "[main] rocksdb.Task ERROR  - The ingest test was ended by SIGSEGV."


def test_a_task_that_leaves_processes_behind_fails_and_ends_them(run):
    named = 'until [ "$(cat /proc/$!/comm)" = sleep ]; do :; done; echo $!'
    code, lines = run(f"setsid sleep 60 > /dev/null & {named}")

    assert code == 1
    assert lines[-1] == (
        "[main] rocksdb.Task ERROR  - The ingest test left processes behind: sleep."
    )
    with pytest.raises(ProcessLookupError):
        os.kill(int(lines[0]), 0)


def test_a_stopped_task_ends_its_process_and_removes_its_files(start, tmp_path):
    # The process ignores the signal, like RocksDB in the middle of a call.
    with start("""trap '' TERM; touch "$5/file"; echo $$; exec sleep 60""") as process:
        measuring = int(process.stdout.readline())
        process.send_signal(signal.SIGTERM)

    assert process.returncode == 128 + signal.SIGTERM
    assert list((tmp_path / "scratch").iterdir()) == []
    with pytest.raises(ProcessLookupError):
        os.kill(measuring, 0)


def test_a_task_that_is_stopped_while_its_process_starts_leaves_no_process(monkeypatch):
    started = []

    class StoppedWhileItStarts(subprocess.Popen):
        def __init__(self, *arguments, **more):
            super().__init__(*arguments, **more)
            started.append(self.pid)
            signal.raise_signal(signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, task._stop)
    monkeypatch.setattr(task.subprocess, "Popen", StoppedWhileItStarts)
    try:
        with pytest.raises(SystemExit):
            task._measured(["sleep", "60"])
    finally:
        signal.signal(signal.SIGTERM, before)
    with pytest.raises(ProcessLookupError):
        os.kill(started[0], 0)


def test_the_measuring_process_is_not_deaf_to_a_stop():
    assert task._measured(["sh", "-c", "kill -TERM $$"]) == -signal.SIGTERM


@pytest.mark.parametrize("arguments", [(), ("query",), ("ingest", "compaction")])
def test_an_unknown_test_is_refused(run, arguments):
    code, (line,) = run("exit 0", arguments)

    assert code == 2
    assert line.endswith("ingest or compaction is accepted.")


def test_a_bad_variable_is_refused_before_anything_is_measured(run):
    code, lines = run("exit 0", TIDEMARK_RECORDS="many")

    assert code == 2
    assert lines == [
        "[main] rocksdb.Configuration ERROR  - TIDEMARK_RECORDS is 'many': "
        "a whole number from 1 to 10000000 is accepted."
    ]
