"""Stacks from flame graphs as SVGs."""

from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.client.drawn_graphs import flamegraph_pl, inferno, oldest, wide_enough
from tidemark.client import flame_graph
from tidemark.client.profile_file import read_profile
from tidemark.store.folded_file import Unreadable

NAMES = st.sampled_from(
    ["main", "std::vector<int>::at(unsigned long) const", "a & b", 'say "x"', "f (deleted)", "é"]
)
STACKS = st.dictionaries(
    st.lists(NAMES, min_size=1, max_size=6).map(";".join),
    st.integers(1, 500),
    min_size=1,
    max_size=12,
)
EXAMPLES = 15
DRAWINGS = [
    flamegraph_pl,
    inferno,
    partial(flamegraph_pl, inverted=True),
    partial(flamegraph_pl, old=True),
    oldest,
    partial(flamegraph_pl, delta=True),
    partial(inferno, inverted=True),
]


def read(folder, svg):
    file = folder / "all.svg"
    file.write_text(svg, encoding="utf-8")
    return read_profile(file)


@pytest.mark.parametrize("drawing", DRAWINGS)
def test_a_drawn_profile_is_read_as_it_was(tmp_path_factory, drawing):
    folder = tmp_path_factory.mktemp("drawn")

    @settings(max_examples=EXAMPLES)
    @given(STACKS)
    def read_back(stacks):
        # A share of 1 in 6,000 is drawn.
        assert read(folder, drawing(stacks)).stacks == stacks

    read_back()


def test_a_frame_too_narrow_to_be_drawn_is_its_parents(tmp_path_factory):
    folder = tmp_path_factory.mktemp("narrow")
    narrow = STACKS.map(lambda stacks: {"wide": 10**7, **stacks})

    @settings(max_examples=EXAMPLES)
    @given(narrow)
    def read_back(stacks):
        assert read(folder, flamegraph_pl(stacks)).stacks == wide_enough(stacks)

    read_back()


def test_the_unit_of_the_numbers_is_that_of_the_titles(tmp_path):
    found = read(tmp_path, flamegraph_pl({"main;f": 3}, unit="ms"))

    assert (found.form, found.unit, found.stacks) == ("SVG", "ms", {"main;f": 3})


@pytest.mark.parametrize("encoding", ["no-such", "hex", "utf-16", "utf-7", "shift_jis", "latin-1"])
def test_a_picture_is_read_as_utf_8_whatever_it_declares(tmp_path, encoding):
    svg = flamegraph_pl({"main;é": 3}).replace("?>", f' encoding="{encoding}"?>', 1)
    svg = svg.replace(' standalone="no"', "", 1)

    assert read(tmp_path, svg).stacks == {"main;é": 3}


def rectangle(name, x, width, y):
    title = f"<title>{name} ({width * 10} samples, 1.00%)</title>"
    return f'<g>{title}<rect x="{x}" y="{y}" width="{width}" height="15"/></g>'


WHOLE = flamegraph_pl({"main;f": 3, "main;g": 4})


@pytest.mark.parametrize(
    ("svg", "sentence"),
    [
        ("<svg></svg>", "it has no frames with samples; expected a flame graph as an SVG"),
        (
            "<svg><g><title>main</title><rect x='1' y='1' width='2'/></g></svg>",
            "line 1: the frame 'main' has no samples in its title",
        ),
        (
            "<svg><g><title>main (2 samples, 1%)</title><rect y='1' width='2'/></g></svg>",
            "line 1: the frame 'main (2 samples, 1%)' has no position",
        ),
        (WHOLE[: len(WHOLE) // 2 * 2 - 40], "the SVG is cut off or is not XML: "),
        ("<!DOCTYPE svg [<!ENTITY a 'b'>]><svg></svg>", "line 1: it declares an entity"),
        ("<html><body>main;f 3</body></html>", "it has no frames with samples"),
        (
            f"<svg>{rectangle('all', 0, 50, 99)}{rectangle('f', 60, 50, 99)}</svg>",
            "its frames do not stand on one root",
        ),
        (
            f"<svg>{rectangle('all', 0, 50, 99)}{rectangle('f', 0, 5, 83)}"
            f"{rectangle('g', 0, 6, 67)}</svg>",
            "no frame below 'g' has room for it",
        ),
        (
            f"<svg>{rectangle('all', 0, 50, 99)}{rectangle('f', 0, 5, 83)}"
            f"{rectangle('g', 30, 5, 67)}</svg>",
            "no frame below 'g' has room for it",
        ),
        (
            f"<svg>{rectangle('all', 0, 5, 99)}{rectangle('f', 0, 5, 83).replace('samples', 'ms')}"
            "</svg>",
            "its frames count samples and ms; expected one unit",
        ),
        (
            f"<svg><g><title>{'main' * 20_000} (2 samples, 1%)</title></g></svg>",
            "line 1: a title has more than 65,536 characters",
        ),
        ("<?xml version='1.0' encoding='hex'?><svg></svg>", "it has no frames with samples"),
    ],
)
def test_a_picture_that_is_no_whole_flame_graph_is_one_sentence(tmp_path, svg, sentence):
    with pytest.raises(Unreadable) as refused:
        read(tmp_path, svg)

    assert sentence in str(refused.value)


def test_a_chain_of_equal_frames_stands_on_the_frame_all(tmp_path):
    assert read(tmp_path, flamegraph_pl({"a;b": 5})).stacks == {"a;b": 5}
    assert read(tmp_path, flamegraph_pl({"a;b": 5}, inverted=True)).stacks == {"a;b": 5}


def test_the_stacks_of_frames_without_samples_of_their_own_are_never_built(tmp_path, monkeypatch):
    built = []
    monkeypatch.setattr(
        flame_graph._Placed, "stack", lambda each: built.append(each) or each.drawn.name
    )

    assert read(tmp_path, flamegraph_pl({"a;b;c;d": 5})).stacks == {"d": 5}
    assert len(built) == 1
