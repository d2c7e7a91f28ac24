"""The order of versions, against the libraries that read their forms."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from packaging.version import Version as Pep440
from semver.version import Version as SemVer

from tidemark.model.refusal import Refused
from tidemark.model.version_order import knows_order, latest, version_order

of_package = partial(version_order, packaged=True)
of_others = partial(version_order, packaged=False)

numbers = st.one_of(st.integers(0, 3), st.integers(9, 11), st.integers(0, 10**12))
releases = st.lists(numbers, min_size=1, max_size=4).map(lambda found: ".".join(map(str, found)))
words = st.text("ab1-", min_size=1, max_size=3)


@st.composite
def pep440(draw):
    """Return a version of PEP 440, often near others."""
    epoch = draw(st.sampled_from(["", "", "", "0!", "1!", "12!"]))
    pre = draw(st.sampled_from(["", "", "a0", "a2", "b1", "rc1", "rc12", "-beta.3"]))
    post = draw(st.sampled_from(["", "", ".post0", ".post2", ".post11", "-1"]))
    dev = draw(st.sampled_from(["", "", ".dev0", ".dev3", ".dev20"]))
    local = draw(st.sampled_from(["", "", "+x", "+xy", "+1a2b3c4d", "+7", "+10", "+x.1", "+x.a"]))
    release = draw(st.one_of(releases, st.sampled_from(["1.4.4", "1.4", "1.4.0", "1.40"])))
    return f"{epoch}{release}{pre}{post}{dev}{local}"


@st.composite
def semver(draw):
    """Return a version of Semantic Versioning, often near others."""
    release = draw(st.one_of(st.tuples(numbers, numbers, numbers), st.just((1, 4, 4))))
    word = st.one_of(numbers.map(str), st.sampled_from(["alpha", "beta", "rc", "a-b", "a", "A"]))
    pre = ".".join(draw(st.lists(word, max_size=3)))
    build = draw(st.sampled_from(["", "", "+x", "+007", "+1a2b.3-4"]))
    return f"{'.'.join(map(str, release))}{pre and '-' + pre}{build}"


@given(pep440(), pep440())
@example("1.4.4+x", "1.4.4")
@example("1.4.4.dev3", "1.4.4")
@example("1.4.4.post1", "1.4.4")
@example("1.4.4rc1", "1.4.4")
def test_versions_of_packages_sort_as_packaging_sorts_them(one, other):
    order = of_package(one), of_package(other)

    assert (order[0] < order[1]) == (Pep440(one) < Pep440(other))
    assert (order[0] == order[1]) == (Pep440(one) == Pep440(other))


@given(semver(), semver())
def test_other_versions_sort_as_semver_sorts_them(one, other):
    older = SemVer.parse(one).compare(other)

    if older:
        assert (of_others(one) < of_others(other)) == (older < 0)


@given(st.one_of(pep440(), semver()), st.booleans())
def test_a_build_follows_its_release_and_no_later_release(version, packaged):
    order = partial(version_order, packaged=packaged)
    release = version.partition("+")[0]
    if order(release) != order("main"):
        assert order(release) < order(f"{release}+g1a2b3c4d") < order("99!0")
        assert knows_order([release, f"{release}+g1a2b3c4d"], packaged=packaged)


@given(st.lists(st.one_of(pep440(), semver()), min_size=2, max_size=4), st.booleans())
def test_a_known_order_has_a_place_for_each_version(versions, packaged):
    places = {version_order(version, packaged=packaged) for version in versions}

    if knows_order(versions, packaged=packaged):
        assert len(places) == len(versions)


def test_versions_sort_as_numbers_do():
    versions = ["9.10.0", "9.8.4", "10.0.0", "9.8", "9.8.4-rc10", "9.8.4-rc2", "8.8.1"]

    assert sorted(versions, key=of_package) == [
        "8.8.1", "9.8", "9.8.4-rc2", "9.8.4-rc10", "9.8.4", "9.10.0", "10.0.0",
    ]  # fmt: skip


def test_numbers_alone_have_the_places_that_older_rows_have():
    assert of_package("9.10.4") == of_others("9.10.4") == "00000009.00000010.00000004,"


def test_versions_of_unknown_order_come_last_and_as_typed():
    versions = ["main", "1.1.0", "10.11-alpine", "2026-01-15", "deadbee", "12345a67", "1.0.0"]

    assert sorted(versions, key=of_others) == [
        "1.0.0", "1.1.0", "main", "10.11-alpine", "2026-01-15", "deadbee", "12345a67",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("versions", "packaged"),
    [
        (["main", "1.0.0"], False),
        (["1.0.0", "0.9.0", "deadbee"], False),
        (["1.0.0+1a2b3c4d", "1.0.0+5e6f7a8b"], True),
        (["1.0.0", "1.0"], True),
        (["1.0.0-alpha.x", "1.0.0rc1"], False),
        (["1.0.0-alpha.x", "1.0.0"], True),
        (["v9.8.4", "v9.8.4-12-gabc1234"], False),
        (["9.8.4", "9.8.4-12-gabc1234-dirty"], False),
    ],
)
def test_the_order_is_not_known(versions, packaged):
    assert not knows_order(versions, packaged=packaged)


@pytest.mark.parametrize(
    ("versions", "packaged"),
    [
        ([], True),
        (["main"], False),
        (["1.4.4", "1.4.4+1a2b3c4d", "1.4.5rc1", "1.4.4.post1"], True),
        (["10.0", "11.7.1", "11.7.1-rc.1", "v12.0.0"], False),
        (["1.0.0-alpha.x", "1.0.0-beta", "1.0.0+1a2b3c4d"], False),
    ],
)
def test_the_order_is_known(versions, packaged):
    assert knows_order(versions, packaged=packaged)


def test_nothing_is_newest_where_the_order_is_not_known():
    with pytest.raises(Refused, match=r"^versions: the order of main, 1\.1, 1\.0 is not known"):
        latest(["1.0", "main", "1.1"], packaged=False)


def test_none_is_previous_where_two_builds_of_one_release_come_after_the_newest():
    with pytest.raises(Refused, match=r"^versions: the order of .* is not known"):
        latest(["1.0+1a2b3c4d", "1.0+5e6f7a8b", "1.1"], packaged=True)


def test_the_newest_two_are_known_where_others_are_builds_of_one_release():
    released = ["1.0+1a2b3c4d", "1.0+5e6f7a8b", "1.0", "1.1", "1.2"]

    assert latest(released, packaged=True) == {"newest": "1.2", "previous": "1.1"}
