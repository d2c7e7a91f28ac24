"""Shares of frames at a place in the call tree."""

import pytest

from tidemark.figures.profiles.call_tree import (
    MOST_FRAMES_DEEP,
    Place,
    call_tree,
    child_shares,
    share,
    walked,
)
from tidemark.figures.profiles.folded_stacks import folded, merged

# The towers of the seed: a function of compaction stands both inside and outside BGThreadWrapper.
TREE = call_tree(
    {
        "low;ns::Process": 200,
        "low;ns::Process;ns::Next<int>;memcmp": 347,
        "low;BGThreadWrapper;ns::Process;ns::Next<char>": 3000,
        "low;BGThreadWrapper;ns::Process;ns::Process": 1030,
        "one;commit;Iterate;ns::Next<int>": 423,
        "one;parse": 5000,
    }
)
EVERYWHERE = Place()


@pytest.mark.parametrize(
    ("function", "place", "largest", "summed"),
    [
        ("low", EVERYWHERE, 45.77, 45.77),
        ("Process", EVERYWHERE, 40.30, 45.77),
        ("Process", Place(("low",)), 40.30, 45.77),
        ("Process", Place(("low",), ("BGThreadWrapper",)), 5.47, 5.47),
        ("Next", Place(("commit",)), 4.23, 4.23),
        ("Next", Place(("low", "Process")), 30.00, 33.47),
        ("Next / memcmp", Place(("Process",), ("BGThreadWrapper",)), 3.47, 3.47),
        ("Next", Place(("Process", "low")), None, None),
        ("Iterate", Place(("parse",)), None, None),
        ("parse", Place(("parse",)), None, None),
    ],
)
def test_a_share_is_that_of_the_largest_frame_at_the_place_or_of_all(
    function, place, largest, summed
):
    assert share(TREE, function, place) == (largest and pytest.approx(largest))
    assert share(TREE, function, place, summed=True) == (summed and pytest.approx(summed))


def test_the_children_of_a_function_are_those_of_its_largest_frame():
    assert child_shares(TREE, "Process", EVERYWHERE) == {
        "ns::Next": pytest.approx(30.0),
        "ns::Process": pytest.approx(10.3),
    }
    assert child_shares(TREE, None, EVERYWHERE) == {
        "low": pytest.approx(45.77),
        "one": pytest.approx(54.23),
    }
    assert child_shares(TREE, "none", EVERYWHERE) == {}


def test_a_walk_gives_parents_first_and_leaves_out_small_frames():
    paths = [(path, frame.samples, frame.own) for path, frame in walked(TREE, 3000)]

    assert paths == [
        (("one",), 5423, 0),
        (("one", "parse"), 5000, 5000),
        (("low",), 4577, 0),
        (("low", "BGThreadWrapper"), 4030, 0),
        (("low", "BGThreadWrapper", "ns::Process"), 4030, 0),
        (("low", "BGThreadWrapper", "ns::Process", "ns::Next<char>"), 3000, 3000),
    ]


def test_a_walk_ends_in_a_stack_of_any_depth():
    paths = [path for path, _ in walked(call_tree({";".join("f" * 5_000): 1}), 1)]

    assert list(map(len, paths)) == list(range(1, MOST_FRAMES_DEEP + 1))


def test_profiles_are_merged_and_frames_are_folded_without_their_separators():
    assert merged([{"a;b": 1, "a": 2}, {"a;b": 3}]) == {"a;b": 4, "a": 2}
    assert folded(["a;b", "", "c\nd\re\tf"]) == "a:b;[unknown];c d e f"
