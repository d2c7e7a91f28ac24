"""Published figures on their way into the results bucket."""

import gzip
import json
import re
from datetime import UTC, date, datetime
from functools import partial
from itertools import count, pairwise

import pytest

from tests.checks.conformance.figures import SLEEPER
from tests.unit.fakes import FakeBucket
from tidemark.cli.decisions import record_exclusion
from tidemark.client.deployed import Stored
from tidemark.client.imports import differences, finish, releases, store
from tidemark.client.published.release_figure import ReleaseFigure, amount
from tidemark.client.tables import Answer
from tidemark.model.checkout import ROOT
from tidemark.model.plan import Import
from tidemark.model.publication import find_publication
from tidemark.one_machine.stored import InProcessPublisher
from tidemark.report.comparison.publishing import publish_comparison
from tidemark.store import keys
from tidemark.store.run_objects import find_report
from tidemark.store.stored_plan import find_plan

PUBLICATION = find_publication(ROOT, "sleeper")
ORIGIN = Import(file="page.md", line=1, source="", imported_on=date(2026, 11, 23))
COLUMNS = (
    "version", "started_at", "test", "metric", "labels", "value", "value_text", "run_id",
    "excluded",
)  # fmt: skip


class StoredRows:
    """The rows of ``rates``, and the runs without any, as they are in a bucket."""

    def __init__(self, bucket):
        self.bucket = bucket

    def rows(self, table="rates"):
        for key in self.bucket.keys(f"tables/{table}/"):
            yield from map(json.loads, gzip.decompress(self.bucket.read(key)).splitlines())

    def ask(self, statement, values):
        if "FROM runs" in statement:
            rated = {row["run_id"] for row in self.rows()}
            names = {row["run_id"] for row in self.rows("runs")} - rated
            return Answer(["run_id"], [[name] for name in sorted(names)], 0, 0)
        # Athena prints a boolean as true or false.
        rows = [
            [str(row[name]).lower() if name == "excluded" else str(row[name]) for name in COLUMNS]
            for row in self.rows()
            if row["value"] and (" IN (" not in statement or row["version"] in values)
        ]
        return Answer(COLUMNS, rows, 0, 0)


def figure(version, day, metric, text, line=1):
    found = PUBLICATION.metric(metric)
    return ReleaseFigure(version, date.fromisoformat(day), found, amount(text, found.unit), line)


def published():
    for line, (version, (day, compaction, ingest)) in enumerate(SLEEPER.items(), start=9):
        yield figure(version, day, "compaction_rate", compaction, line)
        yield figure(version, day, "ingest_rate", ingest, line)


@pytest.fixture
def target():
    # The script of charts takes seconds to make, and no test opens a page.
    bucket = FakeBucket()
    return Stored(bucket, StoredRows(bucket), InProcessPublisher(bucket))


def take_in(target, figures):
    figures = list(figures)
    finish(target, "sleeper")
    found = differences(target.tables, "sleeper", figures)
    runs = store(target, "sleeper", "Sleeper", list(releases(figures, found.new, ORIGIN)))
    return found, runs


def test_each_release_is_a_run_with_one_figure_of_each_metric_and_its_origin(target):
    _, runs = take_in(target, published())

    assert len(runs) == len(SLEEPER)
    rows = {(row["version"], row["metric"]): row for row in target.tables.rows()}
    assert {key: (row["value_text"], row["value"]) for key, row in rows.items()} == {
        (version, metric): (text, float(text))
        for version, (_, *both) in SLEEPER.items()
        for metric, text in zip(("compaction_rate", "ingest_rate"), both, strict=True)
    }
    first = rows["0.11.0", "ingest_rate"]
    assert (first["provenance"], first["started_at"]) == ("imported", "2022-06-13 00:00:00.000")
    assert first["source"] == "page.md, line 9, imported 2026-11-23"


@pytest.mark.parametrize("few", [1, 50])
def test_the_same_figures_again_add_nothing(target, monkeypatch, few):
    monkeypatch.setattr("tidemark.client.imports._FEW", few)
    take_in(target, published())
    before = dict(target.bucket.objects)

    found, runs = take_in(target, published())

    assert (found.new, found.known, found.conflicts, runs) == ([], 12, [], [])
    assert target.bucket.objects == before


def test_a_figure_that_differs_in_its_value_or_its_day_is_a_conflict_and_changes_nothing(target):
    take_in(target, published())

    other = [
        figure("0.11.0", "2022-06-13", "ingest_rate", "160001", 30),
        figure("0.12.0", "2022-10-19", "ingest_rate", "146,600", 31),
        figure("0.12.0", "2022-10-19", "compaction_rate", "378001", 31),
    ]
    found, runs = take_in(target, other)

    assert [figure.name for figure in found.new] == [
        "0.12.0 compaction_rate {engine: java} of 2022-10-19"
    ]
    names = [run[:8] for run in runs]
    assert names == ["20221019"]
    assert [conflict.sentence.split("; the stored")[0] for conflict in found.conflicts] == [
        "0.11.0 ingest_rate {engine: java} of 2022-06-13 is 160001 in line 30",
        "0.12.0 ingest_rate {engine: java} of 2022-10-19 is 146,600 in line 31",
    ]
    assert "the stored figure stays: 146600 of 2022-10-18, in" in found.conflicts[1].sentence


def test_a_corrected_figure_replaces_an_excluded_one_with_the_others_of_its_release(target):
    def page(compaction):
        for metric, text in (("compaction_rate", compaction), ("ingest_rate", "146600")):
            yield figure("0.12.0", "2022-10-18", metric, text)

    _, (wrong,) = take_in(target, page("37800"))
    record_exclusion(target, wrong, None, "a typo", excluded=True)

    again, _ = take_in(target, page("37800"))
    corrected, _ = take_in(target, page("378000"))
    known, _ = take_in(target, page("378000"))
    wrong_again, _ = take_in(target, page("37800"))

    assert (again.new, again.known, again.excluded, again.conflicts) == ([], 0, 2, [])
    assert [each.amount.text for each in corrected.new] == ["378000", "146600"]
    assert (known.new, known.known, known.conflicts) == ([], 2, [])
    assert (wrong_again.new, wrong_again.known) == ([], 1)
    assert [each.text for each in wrong_again.conflicts] == ["378000"]
    counted = [row["value_text"] for row in target.tables.rows() if not row["excluded"]]
    assert sorted(counted) == ["146600", "378000"]


def test_releases_of_one_day_are_runs_in_the_order_of_their_versions(target):
    day = "2025-06-23"
    _, runs = take_in(
        target,
        [figure(version, day, "ingest_rate", "1") for version in ("0.10.0", "0.9.0", "0.9.1")],
    )

    plans = [find_plan(target.bucket, run) for run in sorted(runs)]
    assert [plan.request.versions for plan in plans] == [("0.9.0",), ("0.9.1",), ("0.10.0",)]
    assert plans[2].started_at == datetime(2025, 6, 23, 0, 0, 2, tzinfo=UTC)


class Dies(Exception):
    """The end of a process."""


def cut_off(figures, every):
    """Yield what imports leave: each dies so many moments later than the one before."""
    for last in count(every, every):
        bucket, moments = FakeBucket(), iter(range(1, last))
        target = Stored(bucket, StoredRows(bucket), InProcessPublisher(bucket))
        bucket.moment = partial(_pass, moments)
        try:
            take_in(target, figures)
        except Dies:
            bucket.moment = lambda: None
            yield target
        else:
            assert last > 20
            return


def _pass(moments):
    if next(moments, None) is None:
        raise Dies


def test_an_import_that_dies_at_any_moment_stores_on_repetition_what_one_import_stores(target):
    figures = [*published()][:2]
    # The order of a day holds, too, once the first of its releases are stored.
    figures += [figure(each, "2022-06-13", "ingest_rate", "1") for each in ("0.9.0", "0.10.0")]
    take_in(target, figures)
    whole = target.bucket.objects

    for again in cut_off(figures, every=7):
        # A release is known as soon as its rates are, and then all of it is stored.
        objects = again.bucket.objects
        known = {row["run_id"] for row in again.tables.rows()}
        assert all(keys.outcome(run) in objects for run in known)
        take_in(again, figures)
        assert objects == whole


@pytest.mark.usefixtures("target")
def test_an_import_first_completes_one_that_died_so_that_each_run_has_rates():
    wrong, right = (
        [figure("0.12.0", "2022-10-18", "compaction_rate", text)] for text in ("37800", "378000")
    )
    kept = set()
    for target in cut_off(wrong, every=1):
        found, _ = take_in(target, right)

        conflicts = [each.text for each in found.conflicts]
        assert (found.new, conflicts) in ((right, []), ([], ["37800"]))
        rates = {row["run_id"]: row["value_text"] for row in target.tables.rows()}
        assert rates.keys() == {row["run_id"] for row in target.tables.rows("runs")}
        kept |= {*rates.values()}
    assert kept == {"37800", "378000"}


def test_a_stored_release_has_the_bounds_of_its_metrics(target):
    one = figure("0.12.0", "2022-10-18", "ingest_rate", "146600")
    bounds = {"margin": 0.1, "same_within": 0.2}

    _, (run,) = take_in(target, [one._replace(metric=one.metric.model_copy(update=bounds))])

    (metric,) = find_plan(target.bucket, run).suite.tests[0].metrics
    assert (metric.margin, metric.same_within) == (0.1, 0.2)


@pytest.mark.parametrize(("base", "new"), [*pairwise(SLEEPER)])
def test_a_comparison_of_published_figures_cannot_tell_and_says_why(target, base, new):
    take_in(target, published())
    bucket = target.bucket

    written = publish_comparison(bucket, "sleeper", base, new)

    text = bucket.read(written["md"]).decode()
    names = r"\w+_rate {engine: java}, \w+_rate {engine: java}"
    assert re.search(rf"- \? cannot tell: {names} \(only one published figure ", text)
    for metric in ("compaction_rate", "ingest_rate"):
        assert re.search(
            f"{metric} {{engine: java}}: only one published figure is known of {base}, {new}"
            r"\. Δ [−+]?[\d.]+ %, ",
            text,
        )
    assert "tidemark run" not in text


def test_published_figures_with_trials_have_an_interval_across_runs(target):
    trials = [
        figure(version, day, "compaction_rate", str(rate + number))
        for version, day, rate in (("0.11.0", "2022-06-13", 1000), ("0.12.0", "2022-10-18", 800))
        for number in range(6)
    ]
    take_in(target, trials)

    written = publish_comparison(target.bucket, "sleeper", "0.11.0", "0.12.0")

    text = target.bucket.read(written["md"]).decode()
    assert (
        "? cannot tell: compaction_rate {engine: java} (different runs measured the versions)"
        in text
    )
    assert re.search(
        r"Δ −19\.9\d? %, 95 % interval −20\.\d+ % to −19\.\d+ %, 6 trials each, no pairs", text
    )


def test_the_report_of_a_release_has_its_figures_and_where_they_stand(target):
    _, (run, *_) = take_in(target, published())

    text = find_report(target.bucket, "sleeper", run, "report.md").decode()
    assert "Sleeper 0.11.0: published figures, from page.md, line 9" in text
    assert "- compaction_rate {engine: java} of 0.11.0: 366.0 k records/s\n" in text
    assert "vCPU" not in text
