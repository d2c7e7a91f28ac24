"""The functions of profiled trials in a report and in a comparison."""

import random
import re

import pytest

from tests.plans import RUN
from tests.unit.fakes import FakeBucket
from tests.unit.measured_runs import failed, measured
from tests.unit.run.test_profiled_trials import (
    VERSIONS,
    plan,
    profiled_results,
    recorded,
)
from tidemark.model.profile import PROFILE_FILE
from tidemark.report import grown_functions
from tidemark.report.comparison.publishing import write_comparison
from tidemark.report.run_report.publishing import publish_report
from tidemark.store import keys
from tidemark.store.stored_profile import read_profiles, remove_profile
from tidemark.store.stored_run import read_run

COMMAND = f"tidemark profile compare {RUN} 8.8.1 9.8.4 --test {{}} --output FILE.html"


def folded(samples):
    return "".join(f"{stack} {count}\n" for stack, count in samples.items()).encode()


def stored(made, *, slower=1.0, trials=None):
    """Return a bucket with a run; ``Next`` of its new version takes ``slower`` times as long."""
    chance = random.Random(3)
    bucket = FakeBucket({keys.plan(RUN): made.model_dump_json().encode()})
    for trial in measured(made):
        bucket.write(keys.trial(RUN, trial.trial), trial.model_dump_json().encode())
    for trial in profiled_results(made) if trials is None else trials:
        grown = slower if trial.version == "9.8.4" else 1.0
        for test in trial.tests:
            left = {
                "main;db::Next": round(400 * grown * chance.gauss(1, 0.02)),
                "main;db::Add": round(600 * chance.gauss(1, 0.02)),
            }
            key = keys.artefact(RUN, trial.trial, test.test, 0, PROFILE_FILE)
            bucket.write(key, folded(left))
        recorded(bucket, trial)
    return bucket


def report(bucket):
    published = publish_report(bucket, RUN)
    return bucket.objects[published["report.md"]].decode()


def functions(text):
    return re.search(r"## Functions\n(.*?)\n## ", text, re.DOTALL)[1]


def test_the_report_of_a_run_names_the_function_that_grew_and_how_to_see_it():
    told = functions(report(stored(plan(), slower=1.5)))

    assert "ingest, 9.8.4 against 8.8.1:" in told
    (ingest, compaction) = re.findall(r"- (db::Next itself grew .*)", told)
    seconds = r"db::Next itself grew from 10\.\d+ to 15\.\d+ s of CPU time per million records"
    assert re.match(rf"{seconds} \(\+\d\d\.\d %, 95 % interval \+\d\d\.\d to ", ingest)
    assert "db::Next itself" in compaction
    assert "db::Add" not in told
    for test in ("ingest", "compaction"):
        assert COMMAND.format(test) in told.replace("\\", "")


def test_a_report_says_that_no_function_changed():
    told = functions(report(stored(plan())))

    untold = "no change of any function with 0.1 % or more of the samples that both versions have"
    assert told.count(f"{untold}: 5 profiles of 8.8.1") == 2


def test_each_version_is_compared_with_the_baseline_or_else_with_the_one_before():
    versions = ["8.8.1", "9.0.0", "9.8.4"]

    def pairs(**fields):
        told = functions(report(stored(plan(versions=versions, **fields))))
        return re.findall(r"ingest, (\S+) against (\S+):", told)

    assert pairs() == [("9.0.0", "8.8.1"), ("9.8.4", "9.0.0")]
    assert pairs(baseline="9.8.4") == [("8.8.1", "9.8.4"), ("9.0.0", "9.8.4")]


def test_a_missing_profile_is_a_sentence_beside_what_the_others_tell():
    made = plan()
    first, *others = profiled_results(made)
    bucket = stored(made, slower=1.5, trials=[failed(first), *others[:-1]])

    told = functions(report(bucket))

    assert "db::Next itself grew" in told
    assert f"profile 1 of 10 ({first.version}), ingest: no profile is stored: the test is" in told
    assert "its container ended with exit code 1" in told
    assert "1 of 10 profiled trials are not recorded." in told


def test_a_run_without_profiled_trials_has_no_such_section():
    assert "## Functions" not in report(stored(plan(profile=None)))


def test_a_run_whose_profiles_are_of_one_version_says_that_nothing_is_compared():
    made = plan(versions=["9.8.4"])

    assert "There are no profiles of two versions to compare." in functions(report(stored(made)))


def test_a_removed_profile_is_not_compared():
    bucket = stored(plan())
    (removed, *_) = [each for each in read_profiles(bucket, "rocksdb") if each.test == "ingest"]
    remove_profile(bucket, removed)

    assert "4 " in re.search(r"both versions have: (\d profiles .*)", functions(report(bucket)))[0]


@pytest.mark.parametrize(
    ("slower", "sentence"), [(1.5, "grew from"), (1.0, "no change of any function")]
)
def test_a_comparison_says_what_grew(slower, sentence):
    bucket = stored(plan(), slower=slower)
    run = read_run(bucket, plan())

    base, new = ((run, version) for version in VERSIONS)
    form = write_comparison(bucket, base, new)["md"]

    text = bucket.objects[form].decode()
    assert sentence in text
    assert COMMAND.format("compaction") in text.replace("\\", "")


def test_a_report_and_a_comparison_link_to_the_flame_graphs_beside_them():
    bucket = stored(plan(), slower=1.5)
    published = publish_report(bucket, RUN)
    run = read_run(bucket, plan())
    compared = write_comparison(bucket, *((run, version) for version in VERSIONS))

    for test in ("ingest", "compaction"):
        file = f"functions-{test}-9.8.4-against-8.8.1.html"
        assert compared[f"functions-{test}"] == keys.report("rocksdb", RUN, file)
        graphs = bucket.objects[compared[f"functions-{test}"]].decode()
        assert f"<title>RocksDB {test}: 9.8.4 against 8.8.1</title>" in graphs
        assert '"n":"db::Next"' in graphs
        for page in (published["report.html"], compared["html"]):
            assert f'<a href="{file}">Flame graphs of {test}' in bucket.objects[page].decode()
        assert f"{file}, beside this report." in bucket.objects[compared["md"]].decode()


@pytest.mark.parametrize("cause", ["no library", "too many frames"])
def test_a_report_without_flame_graphs_names_the_command_that_draws_them(cause, monkeypatch):
    if cause == "no library":
        monkeypatch.setattr(grown_functions, "installed_scripts", lambda: "")
    else:
        monkeypatch.setattr(grown_functions, "_MOST_FRAMES", 2)
    bucket = stored(plan())

    told = functions(report(bucket))

    assert not [key for key in bucket.objects if "functions-" in key]
    assert "beside this report" not in told
    assert COMMAND.format("ingest") in told.replace("\\", "")


def test_the_time_and_the_files_of_profiled_trials_are_in_the_report():
    made = plan()
    text = report(stored(made))
    alone = report(stored(made, trials=[]))

    assert "Files that are kept: 20." in text
    assert f"artefacts/{RUN}/901/ingest/0/{PROFILE_FILE}" in text.replace("\\", "")
    seconds = r"\| Task time \| (\S+) s"
    assert float(re.search(seconds, text)[1]) == 2 * float(re.search(seconds, alone)[1])
