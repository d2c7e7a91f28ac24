"""Verdicts on runs that are drawn from repetitions, and the slowed system of these repetitions."""

import math
import random
import re
from statistics import pstdev

import pytest

from tests.checks.bench.drawn_verdicts import (
    DEFAULT,
    RULES,
    Shares,
    around,
    by_threshold,
    differences,
    planned,
    repetitions,
    shares,
    until_decided,
)
from tests.checks.bench.real_search import METRIC, Search, table
from tests.checks.bench.real_tables import Cell, cells, lengths, tables
from tests.checks.bench.slowed_rocksdb import (
    BASE,
    LOSSES,
    SEARCHED_VERSIONS,
    searched,
    slowed,
    write_system,
)
from tests.checks.bench.slowed_runs import StoredRun
from tests.checks.bench.verdict_picture import chart
from tests.plans import plan_of
from tests.unit.measured_runs import failed, measured, with_values
from tests.unit.run.test_choose_trial import Measuring
from tidemark.model.run_spec import between, requirement
from tidemark.model.suite_files import read_suites


@pytest.fixture(scope="module")
def suites(tmp_path_factory):
    folder = tmp_path_factory.mktemp("system")
    write_system(folder)
    return read_suites(folder)


@pytest.fixture(scope="module")
def measured_runs(suites):
    """Return a run of each of two lengths, whose rates follow the slowdowns nearly."""
    chance = random.Random(1)
    return [run_of(suites["rocksdb"], records, chance) for records in (600_000, 200_000)]


def run_of(suite, records, chance):
    plan = plan_of({"repetitions": 6, "records": records}, suite=suite)
    trials = []
    for trial in measured(plan):
        share = 1 - int(trial.version.split(".")[2]) / 100
        rates = [rate * share * chance.uniform(0.99, 1.01) for rate in (400_000, 1_800_000)]
        with_ingest = with_values(trial, "ingest", rates[:1])
        trials.append(with_values(with_ingest, "compaction", rates[1:]))
    return StoredRun(plan, trials)


def test_the_slowed_versions_are_one_release(suites):
    spec = plan_of({"repetitions": 1}, suite=suites["rocksdb"]).request

    packages = {requirement(spec, suites["rocksdb"], version) for version in spec.versions}
    assert spec.versions == (BASE, *map(slowed, LOSSES))
    assert packages == {requirement(spec, read_suites()["rocksdb"], "9.8.4")}


@pytest.mark.parametrize(("number", "slower"), [(1, 0), (2, 9), (3, 5), (4, 2)])
def test_a_search_has_the_versions_of_its_number(suites, number, slower):
    versions = searched(number)
    search = between(suites["search"], versions[0], versions[-1], METRIC, {})

    assert list(search.versions) == versions
    assert [version.endswith(".15") for version in versions] == (
        [False] * (SEARCHED_VERSIONS - slower) + [True] * slower
    )


def test_only_whole_repetitions_count(measured_runs):
    plan, trials = measured_runs[0]
    lost = trials[7]
    left = [failed(trial) if trial is lost else trial for trial in trials]

    assert len(repetitions([StoredRun(plan, left)])) == 5
    assert len(repetitions([StoredRun(plan, left), measured_runs[0]])) == 11


def test_the_differences_are_those_of_both_metrics(measured_runs):
    found = differences(repetitions(measured_runs[:1]), slowed(10))

    assert len(found) == 6
    for of_ingest, of_compaction in found:
        assert of_ingest != of_compaction
        assert of_ingest == pytest.approx(math.log(0.9), abs=0.025)
        assert of_compaction == pytest.approx(math.log(0.9), abs=0.025)


def test_each_rule_draws_its_number_of_repetitions():
    clear = [(-0.2, 0.0), (-0.21, 0.001)]
    chance = random.Random(1)

    assert planned(7, clear, chance) == (["slower", "same"], 7)
    assert by_threshold(clear, chance) == (["slower", "same"], 1)
    words, count = until_decided(clear, chance)
    assert words == ["slower", "same"]
    assert 10 <= count <= 15  # five pairs or more alarm, and as many new ones confirm


def test_a_run_without_a_verdict_is_neither_right_nor_wrong():
    scattered = [(-0.6, -0.1), (0.6, -0.101)]

    found = shares(RULES[f"{DEFAULT} repetitions"], 10, scattered, runs=50)

    assert found.right == pytest.approx(0.5, abs=0.05)  # compaction is clear, ingest scatters
    assert found.wrong == 0
    assert found.untold == pytest.approx(0.5, abs=0.05)


def test_a_threshold_overlooks_a_slowdown_below_it():
    assert shares(by_threshold, 5, [(-0.05, -0.05), (-0.04, -0.05)], runs=1) == Shares(0, 1, 1)


def test_the_mean_of_what_runs_are_drawn_from_is_the_known_slowdown():
    moved = around(20, [(0.1, 0.0), (0.2, 0.0), (0.3, 0.0)])

    assert [sum(each) / 3 for each in zip(*moved, strict=True)] == pytest.approx(
        [math.log(0.8)] * 2
    )
    # The sample standard deviation of the three is that of what is drawn.
    assert pstdev(each[0] for each in moved) == pytest.approx(0.1)


def test_the_tables_have_each_length_slowdown_and_rule(measured_runs):
    found = lengths(measured_runs)
    figures = cells(found, runs=20)
    text = "".join(tables(found, figures, runs=20))

    assert [length.records for length in found] == [200_000, 600_000]
    assert len(figures) == 2 * len(LOSSES) * len(RULES)
    assert "6 of 200,000 records, 6 of 600,000 records" in text
    assert re.search(r"\| 600,000 \| compaction_rate \| slower \| −10 % \| −(9|10)\.\d % \|", text)
    # A trial of these runs takes 12 s.
    assert "| 0 % | 30 repetitions | 100.0 % | 0.0 % | 0.0 % | 30.0 | 12.0 | 12.0 |" in text
    assert "| 10 % | ± 10 % once |" in text
    assert text.count("\n| 20 % |") == 2 * len(RULES)
    assert len(chart(figures)["data"]["values"]) == len(figures)


def test_minutes_of_wrong_runs_count_for_the_right_ones():
    def cell(right):
        return Cell(1000, 5, "until decided", Shares(right, 0.1, 6), minutes=3)

    assert cell(0.5).minutes_each == 6
    assert cell(0).row.endswith(" | 3.0 | none right |\n")


@pytest.mark.parametrize(
    ("number", "end"), [(1, "none | none | 1"), (3, "from 3.6.15 on | from 3.6.15 on | 4")]
)
def test_a_search_is_compared_with_the_truth(suites, number, end):
    versions = searched(number)
    losses = {version: int(version.split(".")[2]) / 100 for version in versions}
    bisect = {"base": versions[0], "new": versions[-1], "metric": METRIC}
    run = Measuring(losses, suite=suites["search"], bisect=bisect)
    run.go_on(most=3)
    begun = Search(number, StoredRun(run.plan, run.stored.trials))
    assert (begun.bisection.following, begun.is_right) == (versions[-1], False)

    run.go_on()
    ended = Search(number, StoredRun(run.plan, run.stored.trials))
    assert ended.bisection.following is None
    assert f"| {end} |" in table({number: ended}, 600_000)
    assert "**wrong**" in Search(4, ended.run).row
