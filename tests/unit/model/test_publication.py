import shutil

import pytest

from tests.plans import rocksdb
from tests.refusals import refused
from tidemark.cli.chosen_suite import written_suite
from tidemark.model.checkout import ROOT
from tidemark.model.publication import find_publication, measured_publication
from tidemark.model.refusal import Refused
from tidemark.model.suite_files import read_suites

FIGURE = """
  - {test: ingest, metric: %s, means: a rate, unit: records/s, direction: higher, columns: [%s]}"""


def publication(folder, text):
    path = folder / "suites" / "x" / "published.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return find_publication(folder, "x")


def test_a_suite_may_publish_nothing():
    assert find_publication(ROOT, "rocksdb") is None
    assert find_publication(ROOT, "../suites/sleeper") is None


def test_two_metrics_have_no_heading_in_common(tmp_path):
    figures = FIGURE % ("one_rate", "One rate") + FIGURE % ("two_rate", "One  RATE")
    text = f"title: X\nfigures:{figures}\n"

    assert refused(publication, tmp_path, text) == (
        "x/published.yaml:4: figures.1.columns: 'one rate' is a column of two metrics"
    )


def test_bounds_that_leave_a_change_without_a_verdict_are_refused(tmp_path):
    figure = (FIGURE % ("one_rate", "Rate")).replace("}", ", margin: 0.2}")

    with pytest.raises(Refused, match=r"same_within: expected 0\.2, the margin, or more: a change"):
        publication(tmp_path, f"title: X\nfigures:{figure}\n")


def test_a_mistake_in_the_file_is_named_with_its_line(tmp_path):
    first, second = refused(publication, tmp_path, "title: X\nfigures: []\nwhy: x\n").splitlines()
    assert first.startswith("x/published.yaml:2: figures: [] is not accepted; expected a list")
    assert second.startswith("x/published.yaml:3: why: unknown field; known are ")


def test_a_suite_without_a_file_publishes_what_its_runs_measure():
    found = measured_publication(rocksdb())

    assert [each.columns for each in found.figures] == [("Ingest rate",), ("Compaction rate",)]


def test_a_measured_suite_publishes_its_means_with_their_bounds_and_no_other_statistics():
    suite = rocksdb()
    first = suite.tests[0]
    mean = first.metrics[0].model_copy(update={"margin": 0.1, "same_within": 0.2})
    others = [
        mean.model_copy(update={"name": "slow_rate", "statistics": ("p99",)}),
        mean.model_copy(update={"name": "rate_of_each", "labels": ("operation",)}),
    ]
    tests = [
        first.model_copy(update={"name": name, "metrics": (mean, *others)})
        for name in ("first", "second")
    ]

    found = measured_publication(suite.model_copy(update={"tests": tuple(tests)}))

    assert [(*each.columns, each.margin, each.same_within) for each in found.figures] == [
        (f"{test} {mean.name.replace('_', ' ')}", 0.1, 0.2) for test in ("First", "Second")
    ]


def test_a_measured_suite_without_a_mean_publishes_nothing():
    suite = read_suites()["rocksdb"]
    tests = [
        test.model_copy(
            update={
                "metrics": tuple(
                    metric.model_copy(update={"statistics": ("max",)}) for metric in test.metrics
                )
            }
        )
        for test in suite.tests
    ]

    assert refused(measured_publication, suite.model_copy(update={"tests": tuple(tests)})) == (
        "--suite: rocksdb has no metric of means without labels; expected one, or a published.yaml"
    )


def test_no_run_measures_a_suite_that_only_publishes_figures(tmp_path, monkeypatch):
    text = "title: X\nno_runs: nothing measures x yet\nfigures:" + FIGURE % ("one_rate", "One rate")
    publication(tmp_path, f"{text}\n")
    for folder in (tmp_path / "suites" / "rocksdb", tmp_path / "workloads" / "rocksdb"):
        shutil.copytree(ROOT / folder.relative_to(tmp_path), folder)
    monkeypatch.setenv("TIDEMARK_SYSTEMS", str(tmp_path))

    assert refused(written_suite, "x") == "suite: nothing measures x yet"
