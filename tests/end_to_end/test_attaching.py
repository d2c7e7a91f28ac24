"""Several terminals in one state folder, and runs that are ended early."""

import re
import signal
import subprocess
import sys
import time

import pytest

from suites.files import ROOT
from tests.end_to_end.command_line import TIDEMARK

# A shell lets its background processes ignore SIGINT, and so the tests that it may have started.
INTERRUPTIBLE = [
    sys.executable,
    "-c",
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from local.commands import main; main()",
]
SMALL = ["--versions", "9.0.0", "--repetitions", "1", "--records", "2000"]
SEVERAL = ["--versions", "9.0.0", "--repetitions", "3", "--records", "200000"]
LONG = ["--versions", "9.0.0", "--repetitions", "3", "--records", "1000000"]


def begin(*arguments, program=(TIDEMARK,)):
    return subprocess.Popen(
        [*program, *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def end(begun):
    out, err = begun.communicate()
    assert "Traceback" not in err
    return begun.returncode, out, err


def tidemark(*arguments):
    return end(begin(*arguments))


def line_of(begun, start):
    """Return the first line of a process's output that starts so."""
    return next(line for line in begun.stdout if line.startswith(start)).rstrip()


def running(begun, folder):
    """Return the id of the run that a process has begun, once one of its tasks is at work."""
    run_id = line_of(begun, "Run ").split()[1]
    while begun.poll() is None and not list(folder.glob("tasks/*")):
        time.sleep(0.05)
    return run_id


@pytest.fixture(scope="module")
def folder(new_state):
    return new_state()


@pytest.fixture(scope="module")
def up(folder):
    with begin("up", "--state", folder) as up:
        line_of(up, "Ctrl-C takes")
        yield up
        up.kill()


def test_a_run_of_a_second_terminal_goes_on_in_the_cloud_of_the_first(up, folder):
    code, out, err = tidemark("run", *SMALL, "--state", folder)

    assert code == 0, err
    assert f", of process {up.pid}.\n" in out
    assert "\n 9.0.0    ingest_rate " in out


def test_a_second_cloud_on_the_same_folder_is_refused_with_where_the_first_is(up, folder):
    code, _, err = tidemark("up", "--state", folder)

    assert code == 1
    assert f"process {up.pid} has the cloud of {folder} up already, at http://localhost:" in err


def test_a_running_run_can_be_watched_and_stopped_from_another_terminal(up, folder):
    run = begin("run", *LONG, "--state", folder)
    run_id = running(run, folder)

    code, out, _ = tidemark("runs", "rocksdb", "--limit", "1", "--format", "csv", "--state", folder)
    assert (code, out.splitlines()[1].split(",")[2:4]) == (0, [run_id, "running"])
    code, out, _ = tidemark("show", "--state", folder)
    stop = f"`tidemark stop {run_id} --state {folder}` ends it"
    going_on = rf"goes on, \d of 3 trials recorded; {stop}"
    assert (code, bool(re.match(rf"Run {run_id} {going_on}\n", out))) == (0, True)
    code, out, err = tidemark("report", run_id, "--state", folder)
    assert (code, out) == (1, "")
    assert re.fullmatch(
        rf"tidemark: run {run_id} {going_on}; it has its report when it ends\n", err
    )
    code, _, err = tidemark("run", *SMALL, "--state", folder)
    assert (code, f"rocksdb is being measured by run {run_id}" in err) == (2, True)
    code, _, err = tidemark("run", "--resume", run_id, "--state", folder)
    assert (code, err) == (2, f"tidemark: --resume: {run_id} goes on; {stop}\n")
    code, out, _ = tidemark("stop", run_id, "--reason", "seen enough", "--state", folder)

    assert code == 0
    assert f"Run {run_id} is aborted, " in out
    resume = f"resume it with `tidemark run --resume {run_id} --state {folder}`"
    assert out.endswith(f"of 3 trials kept; {resume}\n")
    code, out, _ = end(run)
    assert code == 1
    assert "The run did not complete: " in out
    assert "stopped: seen enough" in out
    assert resume in out


@pytest.mark.parametrize("command", [["stop"], ["show"], ["report"], ["run", "--resume"]])
def test_a_run_that_is_not_stored_is_refused(up, folder, command):
    code, _, err = tidemark(*command, "20261120T124455Z-0a1b2c", "--state", folder)

    assert code == 2
    assert re.fullmatch(r"tidemark: .* 20261120T124455Z-0a1b2c is not stored.*\n", err)


@pytest.mark.parametrize("command", [["stop"], ["show"], ["report"], ["run", "--resume"]])
def test_a_run_that_no_run_can_have_been_is_refused_before_anything_is_started(command):
    code, out, err = tidemark(*command, "../runs")

    assert (code, out) == (2, "")
    assert err.endswith(": '../runs' names no run; expected the form of 20261120T124455Z-0a1b2c\n")


def test_what_a_resumed_run_measures_cannot_be_asked_again():
    code, _, err = tidemark("run", "--resume", "20261120T124455Z-0a1b2c", "--records", "5")

    assert code == 2
    assert err == "tidemark: --resume: records is settled by the run that is resumed\n"


def test_a_run_whose_cloud_is_killed_says_so_and_the_next_command_works(up, folder):
    run = begin("run", *LONG, "--state", folder)
    running(run, folder)
    up.kill()
    code, _, err = end(run)

    assert code == 1
    assert re.search(
        r"^tidemark: the cloud at http://localhost:\d+ is gone: process \d+, which had it, has "
        rf"ended\. What was measured is kept; `tidemark runs --state {folder}` shows how each run "
        r"ended\.$",
        err,
        re.MULTILINE,
    )
    assert tidemark("runs", "--state", folder)[0] == 0


def test_of_two_commands_that_start_at_once_each_has_its_answer(new_state):
    own = new_state()
    (own / "objects").mkdir()  # as the cloud of a run leaves it
    both = [begin("sql", "SELECT 1 AS one", "--state", own) for _ in range(2)]

    for code, out, err in map(end, both):
        assert (code, "1 row," in err) == (0, True), out + err
    assert not (own / "cloud.json").exists()


def test_one_interrupt_ends_a_run_and_keeps_what_it_measured(new_state):
    own = new_state()
    run = begin("run", *LONG, "--state", own, program=INTERRUPTIBLE)
    run_id = running(run, own)
    run.send_signal(signal.SIGINT)
    code, out, _ = end(run)

    assert code == 1
    assert "Stopping the run; Ctrl-C again ends everything at once.\n" in out
    assert "The run did not complete: stopped: interrupted on the command line\n" in out
    assert f"is kept; resume it with `tidemark run --resume {run_id} --state {own}`.\n" in out


def test_a_second_interrupt_ends_everything_at_once(new_state):
    own = new_state()
    run = begin("run", *LONG, "--state", own, program=INTERRUPTIBLE)
    run_id = running(run, own)
    run.send_signal(signal.SIGINT)
    line_of(run, "Stopping the run")
    run.send_signal(signal.SIGTERM)
    code, _, err = end(run)

    assert code in {1, 130}
    left = f"Run {run_id} was not waited for. It is ended by the next command at the latest, "
    assert (left in err) == (code == 130)
    assert tidemark("runs", "--state", own)[0] == 0
    assert not (own / "cloud.json").exists()


def test_a_run_whose_process_is_killed_is_ended_at_the_next_start_and_can_be_resumed(new_state):
    own = new_state()
    run = begin("run", *SEVERAL, "--state", own)
    run_id = line_of(run, "Run ").split()[1]
    line_of(run, "trial 1 of 3")
    run.kill()
    run.communicate()

    code, out, err = tidemark("show", run_id, "--state", own)
    found = re.search(rf"^Run {run_id} was found unfinished: aborted, (\d) of 3 trials kept; ", err)
    assert found
    assert f"resume it with `tidemark run --resume {run_id} --state {own}`\n" in err
    assert (code, f"Run {run_id} is aborted: its execution is gone; " in out) == (0, True)

    code, out, _ = tidemark("run", "--resume", run_id, "--state", own)
    missing = 3 - int(found[1])
    assert code == 0
    assert f"Missing: {missing} of 3 trials; on AWS about " in out
    assert len(re.findall(r"^trial \d of 3 ", out, re.MULTILINE)) == missing

    code, _, err = tidemark("run", "--resume", run_id, "--state", own)
    assert code == 2
    assert err == (f"tidemark: --resume: of {run_id} nothing is missing; every trial is recorded\n")
