"""The search for the first slower version, and the end that a version between is nearer to."""

import math
import random

import pytest

from tests.checks.bench.noises import normal
from tests.checks.bench.verdict_runs import Metric, searched
from tests.unit.figures.verdicts.test_rule import pairs
from tidemark.figures.verdicts.bisection import Bisection, Ends
from tidemark.figures.verdicts.pairs import Pairs
from tidemark.model.run_spec import Search
from tidemark.model.suite_files import read_suites

SUBJECT = read_suites()["rocksdb"].subject
VERSIONS = sorted(SUBJECT.versions, key=SUBJECT.version_order)
NEWEST, BASE = "nearer to the newest", "nearer to the base"


def followed(ends, chance, level, scatter):
    """Return the end that a version with this mean of d is nearer to, and its pairs."""
    some = Pairs()
    while ends.nearer(some) == "cannot tell":
        some += Pairs.of([chance.gauss(level, scatter)])
    return ends.nearer(some), some.count


@pytest.mark.parametrize("change", [-0.15, 0.15])  # a rate and a time that became worse
@pytest.mark.parametrize(("share", "end"), [(0.0, BASE), (0.3, BASE), (0.7, NEWEST), (1.3, NEWEST)])
def test_a_version_is_nearer_to_one_end_whichever_direction_is_better(change, share, end):
    ends = Ends(pairs(change, 0.02, 20).estimate, 0.002)

    assert ends.nearer(pairs(math.expm1(share * math.log1p(change)), 0.02, 20)) == end


def test_the_ends_are_told_apart_from_five_pairs_on():
    ends = Ends(pairs(-0.15, 0.0, 12).estimate, 0.002)
    level = math.log1p(-0.15)

    assert ends.nearer(Pairs.of([level] * 4)) == "cannot tell"
    assert ends.missing(Pairs.of([level] * 4)) == 1
    assert ends.nearer(Pairs.of([level] * 5)) == NEWEST
    assert ends.nearer(Pairs.of([0.0] * 5)) == BASE


@pytest.mark.parametrize(("level", "other"), [(0.0, NEWEST), (-0.04, BASE)])
def test_a_version_at_one_end_is_seldom_taken_for_one_at_the_other(level, other):
    chance, runs, alpha = random.Random(1), 1000, 0.05
    wrong = 0
    for _ in range(runs):
        # The scatter of the newest version is an estimate, its mean is right.
        deviation = Pairs.of(chance.gauss(0, 0.1) for _ in range(8)).estimate.deviation
        ends = Ends(pairs(math.expm1(-0.04), deviation, 8).estimate, alpha)
        wrong += followed(ends, chance, level, 0.1)[0] == other

    # With the bound of a known scatter, ln(1 / alpha), there would be 6 % of them.
    assert 0.01 < wrong / runs <= alpha


def test_the_missing_pairs_are_about_those_that_tell():
    chance = random.Random(1)
    ends = Ends(pairs(-0.1, 0.12, 30).estimate, 0.002)
    counts = [followed(ends, chance, math.log1p(-0.1), 0.12)[1] for _ in range(200)]

    assert sum(counts) / 200 == pytest.approx(ends.missing(Pairs()), rel=0.15)


def search(finding, versions=VERSIONS):
    """Return a search that has ended, and its comparisons; ``finding`` judges a version."""
    findings = {}
    while (following := Bisection(versions, findings).following) is not None:
        assert following not in findings
        findings[following] = finding(following)
    return Bisection(versions, findings), list(findings)


@pytest.mark.parametrize("first", VERSIONS[1:])
def test_every_first_slower_version_is_found_in_five_comparisons(first):
    slower = VERSIONS[VERSIONS.index(first) : -1]
    findings = {**dict.fromkeys(VERSIONS, BASE), **dict.fromkeys(slower, NEWEST)}
    found, compared = search({**findings, VERSIONS[-1]: "slower"}.__getitem__)

    assert found.suspects == [first]
    assert len(compared) <= 5


@pytest.mark.parametrize("word", ["same", "faster", "cannot tell"])
def test_a_newest_version_that_is_not_slower_ends_the_search(word):
    found, compared = search(lambda _: word)

    assert (found.suspects, compared) == ((), [VERSIONS[-1]])


def test_a_version_that_cannot_be_told_ends_the_search():
    findings = {"7": "slower", "4": "cannot tell"}
    found, compared = search(findings.__getitem__, ["1", "2", "3", "4", "5", "6", "7"])

    assert (found.suspects, compared) == (["2", "3", "4", "5", "6", "7"], ["7", "4"])


def test_two_versions_need_one_comparison():
    found, compared = search(lambda _: "slower", ["1", "2"])

    assert (found.suspects, compared) == (["2"], ["2"])


@pytest.mark.parametrize("scatter", [0.07, 0.12])
def test_a_slowdown_of_15_percent_is_found_in_95_of_100_simulated_searches(scatter):
    search_of_all = Search(metric="ingest_rate", versions=VERSIONS)
    family = 2 * search_of_all.most_comparisons  # both metrics of each comparison
    metric = Metric(normal, scatter, 0.15, metrics=family)
    chance = random.Random(20261122)

    ends = [searched(metric, chance, VERSIONS) for _ in range(100)]

    assert sum(end.is_found and end.comparisons <= 5 for end in ends) >= 95
    assert sum(end.is_wrong for end in ends) <= 1
