"""Call trees as the data of flame graphs, and their page."""

import json
import re

import pytest

from tidemark.figures.profiles.call_tree import MOST_FRAMES_DEEP, call_tree
from tidemark.model.refusal import Refused
from tidemark.report.flame_page import libraries
from tidemark.report.flame_page.flame_page import flame_page
from tidemark.report.flame_page.graphs import Graph, graph_data

BASE = {"a;b": 30, "a;gone": 10, "a": 10}
NEW = {"a;b": 30, "a;<come>": 40, "a": 30}


def nodes(data, path=()):
    yield ";".join((*path, data["n"])), data["v"], data.get("d")
    for child in data.get("c", ()):
        yield from nodes(child, (*path, data["n"]))


def drawn(tree, other=None, sign=1):
    other = other and call_tree(other)
    return sorted(nodes(graph_data(Graph("1", "1", "", call_tree(tree), other, sign))))


def test_a_flame_graph_has_the_samples_of_each_frame_with_those_above_it():
    assert drawn(BASE) == [
        ("all", 50, None), ("all;a", 50, None), ("all;a;b", 30, None), ("all;a;gone", 10, None),
    ]  # fmt: skip


def test_a_differential_graph_has_the_inclusive_change_of_the_share_at_a_call_path():
    # As with difffolded.pl -n, the width is that of the shown version.
    assert drawn(NEW, BASE) == [
        ("all", 100, 0.0), ("all;a", 100, 0.0), ("all;a;<come>", 40, 40.0), ("all;a;b", 30, -30.0),
    ]  # fmt: skip


def test_the_reverse_graph_has_the_frames_that_are_gone():
    assert drawn(BASE, NEW, sign=-1) == [
        ("all", 50, 0.0), ("all;a", 50, 0.0), ("all;a;b", 30, -30.0), ("all;a;gone", 10, -20.0),
    ]  # fmt: skip


def test_small_and_very_deep_frames_are_not_drawn():
    assert [name for name, *_ in drawn({"a": 9_999, "b": 1})] == ["all", "all;a"]
    deep = drawn({";".join("f" * 2_000): 1})
    assert len(deep) == MOST_FRAMES_DEEP + 1


def test_a_page_has_its_data_and_no_script_of_a_name():
    graphs = [Graph("1", "1 <", "5 % of it", call_tree({"</script><script>alert(1)": 1}))]
    page = flame_page("a < b", ["No <b>."], [], graphs, "libraries();")

    (data,) = re.findall(r'<script type="application/json">(.*?)</script>', page)
    assert json.loads(data)["c"][0]["n"] == "</script><script>alert(1)"
    assert "alert(1)" in page
    assert "<script>alert" not in page
    assert "<title>a &lt; b</title>" in page
    assert "<h2>1 &lt;</h2>" in page
    assert 'class="legend"' not in page


def test_a_page_without_its_libraries_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(libraries, "_MODULES", tmp_path)

    with pytest.raises(
        Refused, match=r"^--output: d3-flame-graph is not installed; `make node_mod"
    ):
        libraries.flame_graph_scripts()
