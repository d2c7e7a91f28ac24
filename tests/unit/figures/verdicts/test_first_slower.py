"""The search for the first slower version."""

import random

import pytest

from tests.checks.bench.noises import normal
from tests.checks.bench.verdict_runs import Metric, searched
from tidemark.figures.verdicts.first_slower import Bisection
from tidemark.figures.verdicts.rule import Margins
from tidemark.model.search import Search
from tidemark.model.suite_files import read_suites
from tidemark.model.version_order import version_order

VERSIONS = sorted(read_suites()["rocksdb"].subject.versions, key=version_order)


def search(word, versions=VERSIONS):
    """Return a search that has ended, and its comparisons in order; ``word`` judges a version."""
    words = {}
    while (following := Bisection(versions, words).following) is not None:
        assert following not in words
        words[following] = word(following)
    return Bisection(versions, words), list(words)


@pytest.mark.parametrize("first", VERSIONS[1:])
def test_every_first_slower_version_is_found_in_five_comparisons(first):
    slower = VERSIONS[VERSIONS.index(first) :]
    found, compared = search(lambda version: "slower" if version in slower else "same")

    assert found.suspects == [first]
    assert len(compared) <= 5


@pytest.mark.parametrize("word", ["same", "faster", "cannot tell"])
def test_a_newest_version_that_is_not_slower_ends_the_search(word):
    found, compared = search(lambda _: word)

    assert (found.suspects, compared) == ((), [VERSIONS[-1]])


def test_a_version_that_cannot_be_told_ends_the_search():
    words = {"7": "slower", "4": "cannot tell"}
    found, compared = search(words.__getitem__, ["1", "2", "3", "4", "5", "6", "7"])

    assert (found.suspects, compared) == (["2", "3", "4", "5", "6", "7"], ["7", "4"])


def test_two_versions_need_one_comparison():
    found, compared = search(lambda _: "slower", ["1", "2"])

    assert (found.suspects, compared) == (["2"], ["2"])


@pytest.mark.parametrize(("scatter", "same_within"), [(0.07, 0.05), (0.12, 0.1)])
def test_a_slowdown_of_15_percent_is_found_in_95_of_100_simulated_searches(scatter, same_within):
    search_of_all = Search(metric="ingest_rate", versions=VERSIONS)
    family = 2 * search_of_all.most_comparisons  # both metrics of each comparison
    metric = Metric(normal, scatter, 0.15, metrics=family, margins=Margins(same=same_within))
    chance = random.Random(20261122)

    ends = [searched(metric, chance, VERSIONS) for _ in range(100)]

    assert sum(end.is_found and end.comparisons <= 5 for end in ends) >= 95
