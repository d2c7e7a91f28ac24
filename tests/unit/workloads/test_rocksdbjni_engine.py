"""The engine of the suite rocksdbjni over a fake of its Java process."""

import importlib
import sys

import pytest
from harness.engine import Tally, batches
from harness.task import CheckFailedError

from tidemark.model.checkout import ROOT

# A store that knows the number of its records; its checksum is the number of batches.
JAVA = f"""#!{sys.executable} -SE
import os, sys
batches = records = 0
for line in sys.stdin:
    command, _, file = line.strip().partition(" ")
    if command == "batch":
        batches += 1
        records += os.path.getsize(file) // 116
    if command == "compact" and os.path.exists(os.path.join(os.path.dirname(__file__), "crash")):
        sys.exit(134)
    answers = {{"version": "9.0.0", "tally": f"{{records}} {{batches}}", "read": records}}
    print(answers.get(command, "done"), flush=True)
    if command == "close":
        break
"""


@pytest.fixture
def workload(monkeypatch, tmp_path):
    java = tmp_path / "java"
    java.write_text(JAVA, encoding="utf-8")
    java.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.syspath_prepend(ROOT / "workloads" / "rocksdbjni")
    yield importlib.import_module("rocksdbjni_workload")
    del sys.modules["rocksdbjni_workload"]


@pytest.fixture
def store(workload, tmp_path):
    (tmp_path / "task").mkdir()
    return workload.Engine("").open_store(tmp_path / "task" / "store")


def test_the_process_gets_every_batch_and_its_answers_are_those_of_the_store(store, tmp_path):
    store.write([store.batch(records) for records in batches(1, 0, 2500)])
    store.compact()

    assert store.tally() == Tally(2500, 3)
    store.close()
    assert store.records_read() == 2500
    assert list((tmp_path / "task").iterdir()) == []


def test_a_process_that_dies_fails_the_check_with_its_command_and_exit_code(store, tmp_path):
    (tmp_path / "crash").touch()

    with pytest.raises(
        CheckFailedError, match=r"^The Java process ended with exit code 134 at compact\.$"
    ):
        store.compact()
    store._java.communicate()


def test_the_version_is_the_one_that_the_library_reports(workload, tmp_path):
    assert workload.Engine("").version(tmp_path / "store") == "9.0.0"


def test_the_files_of_a_store_are_those_with_its_data(workload, tmp_path):
    folder = tmp_path / "store"
    folder.mkdir()
    for name in ("000012.sst", "LOG", "LOG.old.1", "LOCK", "CURRENT"):
        (folder / name).touch()

    files = workload.Engine("").files(folder)

    assert [file.name for file in files] == ["000012.sst", "CURRENT"]
