import pytest

from tidemark.cli.written_suites import written_suite
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
    text = (
        f"title: X\nfigures:{FIGURE % ('one_rate', 'Rate')}{FIGURE % ('two_rate', 'One  RATE')}\n"
    )

    with pytest.raises(Refused) as refused:
        publication(tmp_path, text)

    assert str(refused.value) == (
        "x/published.yaml:4: figures.1.columns: 'one rate' is a column of two metrics"
    )


def test_a_mistake_in_the_file_is_named_with_its_line(tmp_path):
    with pytest.raises(Refused) as refused:
        publication(tmp_path, "title: X\nfigures: []\nwhy: x\n")

    first, second = str(refused.value).splitlines()
    assert first.startswith("x/published.yaml:2: figures: [] is not accepted; expected a list")
    assert second.startswith("x/published.yaml:3: why: unknown field; known are ")


def test_a_suite_without_a_file_publishes_what_its_runs_measure():
    found = measured_publication(read_suites()["rocksdb"])

    assert [each.columns for each in found.figures] == [("Ingest rate",), ("Compaction rate",)]


def test_no_run_measures_a_suite_that_only_publishes_figures():
    with pytest.raises(Refused) as refused:
        written_suite("sleeper")

    assert str(refused.value).startswith(
        "suite: no run measures sleeper yet, because its tests need the jars of a version, which "
        "Maven builds from a checkout of Sleeper at the version's tag; "
    )
