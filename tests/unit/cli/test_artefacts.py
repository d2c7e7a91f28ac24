"""Output of `tidemark artefacts`, and the files that it saves."""

import hashlib
import json
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from tests.plans import RUN
from tests.unit.fakes import FakeBucket
from tests.unit.measured_runs import measured, planned
from tidemark.cli import artefacts
from tidemark.model.results import TrialResult
from tidemark.model.task import Artefact, KeptFile
from tidemark.store import keys

BODY = b"main;compact 7\n"


@pytest.fixture
def bucket(monkeypatch):
    plan = planned(repetitions=1)
    digest = hashlib.sha256(BODY).hexdigest()
    file = KeptFile(task=0, name="a.folded", size=len(BODY), sha256=digest)
    bucket = FakeBucket({keys.plan(RUN): plan.model_dump_json().encode()})
    for trial in measured(plan)[:2]:
        ingest, *rest = trial.tests
        tests = (ingest.model_copy(update={"artefacts": (file,)}), *rest)
        result = trial.model_copy(update={"tests": tests})
        bucket.objects[keys.trial(RUN, trial.trial)] = result.model_dump_json().encode()
        bucket.objects[keys.artefact(RUN, trial.trial, "ingest", 0, "a.folded")] = BODY

    @contextmanager
    def stored(_target):
        yield SimpleNamespace(bucket=bucket)

    monkeypatch.setattr(artefacts, "stored", stored)
    return bucket


def artefacts_of(*arguments):
    return CliRunner().invoke(artefacts.command, [RUN, *map(str, arguments)])


def test_the_files_of_a_run_are_listed(bucket):
    lines = artefacts_of("--format", "csv").stdout.splitlines()

    assert lines[0] == "trial,version,test,task,file,bytes,sha256"
    assert len(lines) == 3
    assert lines[1].startswith("1,")
    assert ",ingest,0,a.folded,15," in lines[1]


def test_the_files_of_a_run_with_axes_are_listed_with_their_values(bucket):
    for key in bucket.keys(keys.trials(RUN)):
        trial = TrialResult.model_validate_json(bucket.read(key))
        varied = trial.model_copy(update={"axes": {"database": "mariadb"}})
        bucket.write(key, varied.model_dump_json().encode())

    rows = json.loads(artefacts_of("--format", "json").stdout)

    assert [row["axes"] for row in rows] == ['{"database": "mariadb"}'] * 2
    assert list(rows[0])[:4] == ["trial", "version", "axes", "test"]


def test_the_files_of_a_run_are_saved_by_trial_test_and_task(bucket, tmp_path):
    result = artefacts_of("--to", tmp_path / "new")

    assert result.stdout == f"Saved 2 files in {tmp_path / 'new'}\n"
    saved = [path for path in (tmp_path / "new").rglob("*") if path.is_file()]
    assert sorted(str(path.relative_to(tmp_path)) for path in saved) == [
        "new/001/ingest/0/a.folded",
        "new/002/ingest/0/a.folded",
    ]
    assert {path.read_bytes() for path in saved} == {BODY}


def test_no_file_is_saved_among_others(bucket, tmp_path):
    (tmp_path / "001").symlink_to("/")

    refusal = artefacts_of("--to", tmp_path).exception

    assert str(refusal) == f"--to: {tmp_path} is not empty; expected a new or an empty folder"


def test_a_file_that_is_not_the_kept_one_is_not_saved(bucket, tmp_path):
    bucket.objects[keys.artefact(RUN, 2, "ingest", 0, "a.folded")] = b"other"

    result = artefacts_of("--to", tmp_path)

    key = f"artefacts/{RUN}/002/ingest/0/a.folded"
    assert result.exit_code == 1
    assert f"{key} is not the file that was kept: its digest differs" in result.output
    assert not (tmp_path / "002" / "ingest" / "0" / "a.folded").exists()


@pytest.mark.parametrize(
    ("declared", "ended", "reason"),
    [
        (False, True, "no test of rocksdb declares artefacts"),
        (True, True, "its tasks left none that the suite declares"),
        (True, False, "no trial has ended"),
    ],
)
def test_a_run_without_files_says_why(bucket, declared, ended, reason):
    plan = planned(repetitions=1)
    if declared:
        ingest, *rest = plan.suite.tests
        ingest = ingest.model_copy(update={"artefacts": (Artefact(file="*.folded"),)})
        suite = plan.suite.model_copy(update={"tests": (ingest, *rest)})
        plan = plan.model_copy(update={"suite": suite})
        bucket.objects[keys.plan(RUN)] = plan.model_dump_json().encode()
    for trial in measured(plan):
        bucket.objects[keys.trial(RUN, trial.trial)] = trial.model_dump_json().encode()
        if not ended:
            bucket.discard(keys.trial(RUN, trial.trial))

    result = artefacts_of()

    assert (result.stdout, result.stderr) == ("", f"The run keeps no files: {reason}.\n")


def test_files_that_are_not_kept_are_named(bucket):
    (key, *_) = bucket.keys(keys.trials(RUN))
    trial = TrialResult.model_validate_json(bucket.read(key))
    ingest = trial.tests[0].model_copy(update={"artefact_notes": ("a.bin is not kept: too large",)})
    changed = trial.model_copy(update={"tests": (ingest, *trial.tests[1:])})
    bucket.objects[key] = changed.model_dump_json().encode()

    assert artefacts_of().stderr == "trial 1, ingest: a.bin is not kept: too large\n"


def test_an_unknown_run_is_refused(bucket):
    bucket.discard(keys.plan(RUN))

    assert str(artefacts_of().exception).startswith(f"RUN: {RUN} is not stored; ")
