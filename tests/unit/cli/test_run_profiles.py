"""``tidemark profile show`` and ``compare`` over the profiled trials of a run."""

import csv
import io
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from tests.plans import RUN
from tests.unit.cli.test_profile_command import invoke
from tests.unit.report.test_grown_functions import stored
from tests.unit.run.test_profiled_trials import plan
from tidemark.cli.profile import function_shares, growth_table
from tidemark.model.refusal import Refused
from tidemark.store import keys
from tidemark.store.run_objects import recorded_trials
from tidemark.store.stored_run import read_progress


@pytest.fixture
def opened(monkeypatch):
    """Return a function that lets the commands read a bucket."""

    def opened(bucket):
        @contextmanager
        def stored(_target, **_):
            yield SimpleNamespace(bucket=bucket, tables=None)

        for module in (function_shares, growth_table):
            monkeypatch.setattr(module, "stored", stored)
        return bucket

    return opened


def table(*words):
    done = invoke(*words, "--test", "ingest", "--format", "csv")
    return list(csv.DictReader(io.StringIO(done.stdout))), done.stderr


def test_the_baseline_of_a_run_is_compared_with_its_newest_other_version(opened):
    versions = ["8.8.1", "9.0.0", "9.8.4"]
    opened(stored(plan(versions=versions, baseline="9.0.0"), slower=1.5))

    rows, sentences = table("compare", RUN)

    first = rows[0]
    assert first["Function"] == "db::Next"
    assert (first["Time"], first["Verdict"]) == ("self", "grew")
    assert {"9.0.0 (s/M records)", "9.8.4 (s/M records)"} <= first.keys()
    assert "db::Next itself grew from" in sentences


def test_two_versions_of_a_run_may_be_named(opened):
    opened(stored(plan(), slower=1.5))

    rows, sentences = table("compare", RUN, "9.8.4", "8.8.1")

    assert rows[0]["Verdict"] == "shrank"
    assert "db::Next itself shrank from" in sentences


def test_a_run_is_compared_without_the_profiles_of_other_runs(opened):
    bucket = opened(stored(plan(), slower=1.5))
    names = [key for key in bucket.keys("profiles/") if key.endswith(".json")]
    for key in names[:4]:
        of_another = bucket.read(key).replace(RUN.encode(), b"20261120T124455Z-ffffff")
        bucket.write(key, of_another)

    rows, _ = table("show", RUN, "--function", "db::Next")
    both, _ = table("show", "rocksdb", "--function", "db::Next")

    assert [row["Version"] for row in rows] == [row["Version"] for row in both]
    assert rows != both


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("compare", "20261120T124455Z-000000"), "RUN: 20261120T124455Z-000000 is not stored"),
        (("compare", RUN, "--suite", "kiwi"), f"--suite: {RUN} is a run of rocksdb, not of kiwi"),
        (("compare", RUN, "8.8.1"), "BASE NEW: .*8.8.1 is not accepted; expected RUN, BASE NEW or"),
        (("compare", "8.8.1"), "BASE NEW: 8.8.1 is not accepted"),
        (("compare", RUN, "8.8.1", "8.8.1"), "BASE NEW: '8.8.1' is given twice; name each"),
        (
            ("compare", RUN, "8.8.1", "9.0.0", "--test", "ingest"),
            f"version: '9.0.0' has no profile of test ingest in run {RUN}; there are 8.8.1, 9.8.4",
        ),
        (("compare", RUN, "--test", "merge"), f"RUN: {RUN} has no profile of test merge; `tidema"),
        (("show", RUN), "--test: the profiles of rocksdb are of compaction, ingest; expected one"),
    ],
)
def test_what_a_run_does_not_have_is_refused_by_name(opened, words, sentence):
    opened(stored(plan()))

    with pytest.raises(Refused, match=sentence):
        invoke(*words)


def test_a_run_of_one_version_is_compared_with_nothing(opened):
    opened(stored(plan(versions=["9.8.4"])))

    with pytest.raises(Refused, match=f"RUN: {RUN} measured 9.8.4 alone; expected two versions"):
        invoke("compare", RUN)


def test_files_and_numbers_of_profiled_trials_are_among_those_of_a_run(opened):
    made = plan()
    bucket = opened(stored(made))

    assert recorded_trials(bucket, RUN) == [*range(1, 11), *range(901, 911)]
    assert recorded_trials(bucket, RUN, after=9) == [10, *range(901, 911)]
    assert recorded_trials(bucket, RUN, after=905) == [*range(906, 911)]
    progress = read_progress(bucket, RUN)
    assert (progress.recorded, progress.planned) == (20, 20)
    assert keys.trial(RUN, 900).startswith(keys.trials(RUN))
