"""Reading commands over the files of a state folder, where no cloud is up."""

import json
import signal
import subprocess
import sys
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from endless import CROSS_JOIN

from onebox.store.object_files import ObjectFiles
from tests.checks.bench.commands import BUCKET, READING, RUNS, store_runs
from tests.plans import plan_of
from tidemark.cli.this_machine import stored_on_this_machine
from tidemark.client.tables import ask_saved
from tidemark.model.checkout import ROOT
from tidemark.one_machine.stored import FileBucket
from tidemark.store import claims, keys
from tidemark.store.claims import Claim

# Pydantic takes as long to import as half of a reading command, each of the others longer.
SLOW = ("aws_cdk", "boto3", "moto", "pydantic", "sqlglot")
MOMENT = datetime(2026, 11, 21, 12, tzinfo=UTC)
INTERRUPTED = "20261121T120000Z-0a1b2c"
PLANNED = "20261121T110000Z-0a1b2c"
ENDED = "20261120T120000Z-000000"


@pytest.fixture(scope="module")
def state(tmp_path_factory):
    """A state folder with three complete runs, one whose cloud was killed, and a bare plan."""
    state = tmp_path_factory.mktemp("state")
    store_runs(state)
    files = ObjectFiles(state / "objects")
    bucket = FileBucket(files, BUCKET)
    fields = {"versions": ["9.0.0", "9.8.4"], "repetitions": 2}
    plan = plan_of(fields, name=INTERRUPTED, execution_arn="arn:x", started_at=MOMENT)
    bucket.write(keys.plan(plan.run_id), plan.model_dump_json().encode())
    planned = plan_of(fields, name=PLANNED, execution_arn="arn:y", started_at=MOMENT)
    bucket.write(keys.plan(planned.run_id), planned.model_dump_json().encode())
    claim = Claim(run_id=plan.run_id, execution_arn="arn:x", claimed_at=MOMENT)
    claims.take(bucket, "rocksdb", claim)
    files.close()
    return state


def tidemark(state, *words):
    """Run a command in a process of its own; it prints the slow packages that it imported."""
    code = (
        "import sys; from tidemark.cli import main\n"
        "try:\n    main()\n"
        f"finally:\n    print('imported', {SLOW} & sys.modules.keys(), file=sys.stderr)"
    ).replace(str(SLOW), f"set({SLOW})")
    return subprocess.run(
        [sys.executable, "-c", code, *words, "--state", str(state)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("name", READING)
def test_a_reading_command_imports_nothing_slow_once_its_statement_is_translated(state, name):
    tidemark(state, *READING[name])
    done = tidemark(state, *READING[name])

    assert done.returncode == 0, done.stderr
    # These two read plans, which are models; the others read tables alone.
    needed = {"pydantic"} if name in {"runs", "show"} else set()
    assert done.stderr.splitlines()[-1] == f"imported {needed}"
    assert not (state / "cloud.json").exists()


def test_runs_lists_an_interrupted_run_before_the_ended_ones(state):
    done = tidemark(state, "runs", "--format", "json")

    listed = [(row["run_id"], row["status"]) for row in json.loads(done.stdout)]
    assert listed[0] == (INTERRUPTED, "interrupted")
    assert [status for _, status in listed[1:]] == ["complete"] * RUNS


def test_runs_lists_those_of_another_folder_of_suites(state, tmp_path, monkeypatch):
    monkeypatch.setenv("TIDEMARK_SYSTEMS", str(tmp_path))

    done = tidemark(state, "runs", "--format", "json")

    assert len(json.loads(done.stdout)) == 1 + RUNS
    assert {row["suite"] for row in json.loads(done.stdout)} == {"rocksdb"}


def test_show_says_how_far_an_interrupted_run_is_and_how_to_resume_it(state):
    done = tidemark(state, "show", INTERRUPTED)

    first = done.stdout.splitlines()[0]
    assert first.startswith(f"Run {INTERRUPTED} was interrupted, 0 of 4 trials recorded; ")
    assert f"`tidemark run --resume {INTERRUPTED} --state {state}`" in first


def test_show_says_how_to_resume_a_run_that_has_a_plan_alone(state):
    done = tidemark(state, "show", PLANNED)

    first = done.stdout.splitlines()[0]
    begin = f"Run {PLANNED} was planned and ended without an outcome, 0 of 4 trials kept; "
    assert first.startswith(f"{begin}resume it with `tidemark run --resume {PLANNED} "), first


def test_an_interrupted_run_has_no_report_yet(state):
    done = tidemark(state, "report", INTERRUPTED)

    assert (done.returncode, done.stdout) == (1, "")
    assert f"run {INTERRUPTED} was interrupted" in done.stderr


def test_an_exclusion_changes_the_figures_without_a_cloud(state):
    def trials():
        with stored_on_this_machine(state) as stored:
            rows = ask_saved(stored.tables, "rates_by_version").records()
        return {row["version"]: int(row["trials"]) for row in rows if row["test"] == "ingest"}

    before = trials()
    assert tidemark(state, "exclude", ENDED, "--reason", "noisy").returncode == 0
    assert trials() == {version: count - 3 for version, count in before.items()}
    assert tidemark(state, "include", ENDED).returncode == 0
    assert trials() == before


def test_a_report_that_is_written_again_comes_with_its_rows_of_the_tables(state):
    key = keys.table("version_rates", "rocksdb", ENDED)
    with closing(ObjectFiles(state / "objects")) as files:
        before = FileBucket(files, BUCKET).read(key)
        FileBucket(files, BUCKET).discard(key)

    assert tidemark(state, "report", ENDED).returncode == 0

    with closing(ObjectFiles(state / "objects")) as files:
        assert FileBucket(files, BUCKET).read(key) == before


def test_a_refused_statement_has_the_words_of_athena(state):
    done = tidemark(state, "sql", "SELECT nothing FROM rates")

    assert done.returncode == 2
    assert done.stderr.startswith("tidemark: COLUMN_NOT_FOUND: line 1:8: ")


def test_a_command_waits_for_a_folder_that_another_process_has_open(state, monkeypatch):
    files = ObjectFiles(state / "objects")
    monkeypatch.setattr("tidemark.cli.this_machine.time.sleep", lambda _: files.close())

    with stored_on_this_machine(state) as stored:
        assert len(ask_saved(stored.tables, "run_health").rows) == RUNS


def await_query(process):
    """Wait until a command has its second and third thread, which run and watch a query."""
    deadline = time.monotonic() + 60
    while len(list(Path(f"/proc/{process.pid}/task").iterdir())) < 3:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_signal_ends_a_statement_with_one_sentence(tmp_path):
    (tmp_path / "objects").mkdir()
    program = Path(sys.executable).with_name("tidemark")
    process = subprocess.Popen(
        [program, "sql", CROSS_JOIN, "--state", tmp_path], stderr=subprocess.PIPE, text=True
    )
    await_query(process)
    process.send_signal(signal.SIGTERM)

    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "\ntidemark: interrupted\n")
