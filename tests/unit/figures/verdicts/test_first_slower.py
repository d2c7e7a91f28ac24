"""The search for the first slower version."""

import random

import pytest

from tests.checks.bench.noises import normal
from tests.checks.bench.verdict_runs import Metric, searched
from tidemark.figures.verdicts.first_slower import Bisection
from tidemark.model.search import Search
from tidemark.model.suite_files import read_suites

SUBJECT = read_suites()["rocksdb"].subject
VERSIONS = sorted(SUBJECT.versions, key=SUBJECT.version_order)
NEWEST, BASE = "nearer to the newest", "nearer to the base"


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
