"""Several terminals on one state folder, and runs with an early end."""

import csv
import json
import re
import signal
import subprocess
import time

import pytest

from onebox.store.index import readable
from tests.system.end_to_end.command_line import TIDEMARK
from tidemark.model.checkout import ROOT

SMALL = ["--versions", "9.0.0", "--repetitions", "1", "--set", "records=2000", "--layout", "trials"]
SEVERAL = ["--versions", "9.0.0", "--repetitions", "3", "--set", "records=200000"]
LONG = ["--versions", "9.0.0", "--repetitions", "3", "--set", "records=1000000"]


def begin(*arguments):
    return subprocess.Popen(
        [TIDEMARK, *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def end(process):
    out, err = process.communicate()
    assert "Traceback" not in err
    return process.returncode, out, err


def tidemark(*arguments):
    return end(begin(*arguments))


def line_of(process, start):
    """Return the first line of a process's output with this start."""
    return next(line for line in process.stdout if line.startswith(start)).rstrip()


def running(process, folder):
    """Wait until a task of a process's run has started; return the id of the run."""
    run_id = line_of(process, "Run ").split()[1]
    while process.poll() is None and not list(folder.glob("tasks/*")):
        time.sleep(0.05)
    return run_id


@pytest.fixture(scope="module")
def folder(state_with_run):
    return state_with_run()


@pytest.fixture(scope="module")
def up(folder):
    with begin("up", "--state", folder) as up:
        line_of(up, "Ctrl-C takes")
        yield up
        up.kill()


def test_a_second_cloud_on_a_folder_is_refused_with_the_first_ones_address(up, folder):
    code, _, err = tidemark("up", "--state", folder)

    assert code == 1
    assert f"process {up.pid} runs the cloud of {folder} already, at http://127.0.0.1:" in err


def test_a_running_run_can_be_watched_and_stopped_from_another_terminal(up, folder):
    run = begin("run", *LONG, "--state", folder)
    run_id = running(run, folder)

    code, out, _ = tidemark("runs", "rocksdb", "--format", "csv", "--state", folder)
    row, *_ = csv.DictReader(out.splitlines())
    assert (code, row["run_id"], row["status"]) == (0, run_id, "running")
    code, out, _ = tidemark("show", "--state", folder)
    stop = f"`tidemark stop {run_id} --state {folder}` ends it"
    active = rf"is active, \d of 3 trials recorded; {stop}"
    assert (code, bool(re.match(rf"Run {run_id} {active}\n", out))) == (0, True)
    code, out, err = tidemark("report", run_id, "--state", folder)
    assert (code, out) == (1, "")
    assert re.fullmatch(
        rf"tidemark: run {run_id} {active}; its report is written when it ends\n", err
    )
    code, _, err = tidemark("run", *SMALL, "--state", folder)
    assert (code, f"rocksdb is being measured by run {run_id}" in err) == (2, True)
    code, _, err = tidemark("run", "--resume", run_id, "--state", folder)
    assert (code, err) == (2, f"tidemark: --resume: {run_id} is active; {stop}\n")
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


def file_of(folder, prefix):
    """Return the key with a prefix that was stored last, and the file of its object."""
    entries = readable(folder / "objects" / "index.sqlite")
    found = [entry for entry in entries if entry.key.startswith(prefix)]
    newest = max(found, key=lambda entry: json.loads(entry.attributes)["last_modified"])
    return newest.key, folder / "objects" / "bodies" / newest.body


def test_a_damaged_row_is_named_by_a_running_cloud_which_answers(up, folder):
    key, file = file_of(folder, "tables/runs/")
    content = file.read_bytes()
    file.write_bytes(bytes(len(content)))

    code, out, err = tidemark("runs", "--format", "csv", "--state", folder)
    file.write_bytes(content)

    assert code == 1
    assert f"/{key} is damaged: " in err
    assert "`tidemark doctor` says what can be rebuilt" in err
    assert out.startswith("suite,run_id,")


@pytest.mark.parametrize("command", [["stop"], ["show"], ["report"], ["run", "--resume"]])
def test_a_run_that_is_not_stored_is_refused(up, folder, command):
    code, _, err = tidemark(*command, "20261120T124455Z-0a1b2c", "--state", folder)

    assert code == 2
    assert re.fullmatch(r"tidemark: .* 20261120T124455Z-0a1b2c is not stored.*\n", err)


@pytest.mark.parametrize("command", [["stop"], ["show"], ["report"], ["run", "--resume"]])
def test_a_malformed_run_id_is_refused_before_anything_starts(command):
    code, out, err = tidemark(*command, "../runs")

    assert (code, out) == (2, "")
    assert err.endswith(": '../runs' names no run; expected the form of 20261120T124455Z-0a1b2c\n")


def test_a_resume_refuses_fields_of_a_new_run():
    code, _, err = tidemark("run", "--resume", "20261120T124455Z-0a1b2c", "--set", "records=5")

    assert code == 2
    assert err == "tidemark: --resume: parameters cannot change when a run is resumed\n"


def test_a_run_whose_cloud_is_killed_says_so_and_the_next_command_works(up, folder):
    run = begin("run", *LONG, "--state", folder)
    running(run, folder)
    up.kill()
    code, _, err = end(run)

    assert code == 1
    assert re.search(
        r"^tidemark: the cloud at http://127\.0\.0\.1:\d+ is gone: process \d+ has ended\. "
        rf"Finished trials are kept; `tidemark runs --state {folder}` shows how each run ended\.$",
        err,
        re.MULTILINE,
    )
    assert tidemark("runs", "--state", folder)[0] == 0


def test_two_commands_that_start_at_once_each_get_an_answer(new_state):
    folder = new_state()
    (folder / "objects").mkdir()  # as the cloud of a run leaves it
    both = [begin("sql", "SELECT 1 AS one", "--state", folder) for _ in range(2)]

    for code, out, err in map(end, both):
        assert (code, "1 row," in err) == (0, True), out + err
    assert not (folder / "cloud.json").exists()


@pytest.mark.systems
def test_one_interrupt_ends_a_run_and_keeps_what_it_measured(new_state):
    folder = new_state()
    run = begin("run", *LONG, "--state", folder)
    run_id = running(run, folder)
    run.send_signal(signal.SIGINT)
    code, out, _ = end(run)

    assert code == 1
    assert "Stopping the run; Ctrl-C again ends everything at once.\n" in out
    assert "The run did not complete: stopped: interrupted on the command line\n" in out
    resume = f"resume it with `tidemark run --resume {run_id} --state {folder}`.\n"
    assert f"Its finished trials are kept; {resume}" in out


@pytest.mark.systems
def test_a_second_interrupt_ends_everything_at_once(new_state):
    folder = new_state()
    run = begin("run", *LONG, "--state", folder)
    run_id = running(run, folder)
    run.send_signal(signal.SIGINT)
    line_of(run, "Stopping the run")
    run.send_signal(signal.SIGTERM)
    code, _, err = end(run)

    assert code in {1, 130}
    left = f"Run {run_id} may not have ended yet; the next run, stop or up ends it. "
    assert (left in err) == (code == 130)
    assert tidemark("runs", "--state", folder)[0] == 0


@pytest.mark.systems
def test_a_run_whose_process_is_killed_is_shown_as_interrupted_and_can_be_resumed(new_state):
    folder = new_state()
    run = begin("run", *SEVERAL, "--state", folder)
    run_id = line_of(run, "Run ").split()[1]
    line_of(run, "trial 1 of 3")
    run.kill()
    run.communicate()

    code, out, err = tidemark("show", run_id, "--state", folder)
    interrupted = re.match(rf"Run {run_id} was interrupted, (\d) of 3 trials recorded; ", out)
    assert interrupted
    assert (code, err) == (0, "")

    code, out, err = tidemark("run", "--resume", run_id, "--state", folder)
    missing = 3 - int(interrupted[1])
    assert code == 0
    assert f"Run {run_id} was found unfinished: aborted, {interrupted[1]} of 3 trials kept; " in err
    assert f"Missing: {missing} of 3 trials; on AWS about " in out
    assert len(re.findall(r"^trial \d of 3 ", out, re.MULTILINE)) == missing

    code, _, err = tidemark("run", "--resume", run_id, "--state", folder)
    assert code == 2
    assert err == (f"tidemark: --resume: {run_id} has no missing trial; every trial is recorded\n")
