"""Call trees as the data of flame graphs, and their page."""

import json
import re

import pytest

from tidemark.figures.profiles.call_tree import MOST_FRAMES_DEEP, call_tree
from tidemark.figures.profiles.growth import ProfiledTrial, compare
from tidemark.model.refusal import Refused
from tidemark.report.flame_page import (
    Graph,
    differential_page,
    flame_graph_scripts,
    flame_page,
    graph_data,
    profiled_version,
)

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


def differential(base, new):
    """Return the headline of a page of two versions, and the words of the frames in each graph."""
    found = compare(base, new)
    page = differential_page(
        "2 against 1",
        profiled_version("1", base),
        profiled_version("2", new),
        found,
        "libraries();",
    )
    graphs = map(json.loads, re.findall(r'<script type="application/json">(.*?)</script>', page))
    words = [{n["n"]: n["w"] for n in all_nodes(graph["all"])} for graph in graphs]
    told = {each.function: each.word for each in found.changes if each.kind == "inclusive"}
    headline = re.search("</h1>\n<p>(.*?)</p>", page)[1].replace("&nbsp;", " ")
    return headline, *words, told


def all_nodes(node):
    yield node
    for child in node.get("c", ()):
        yield from all_nodes(child)


def profiled(next_samples, gone=0, come=0, trials=1):
    return [
        ProfiledTrial(
            {
                name: samples
                for name, samples in (
                    ("low;Next", next_samples + trial), ("low;Add", 600 - trial),
                    ("low;Old", gone), ("low;New", come),
                )
                if samples
            }
        )
        for trial in range(trials)
    ]  # fmt: skip


def test_one_profile_a_side_cannot_tell_and_colours_no_change():
    headline, new, base, told = differential(profiled(400, gone=91), profiled(800, come=91))

    assert headline == (
        "The profiles cannot tell whether a function changed, which takes 2 or more of each "
        "version: 1 profile of 1, 1 of 2."
    )
    assert {*told.values()} == {"cannot tell"}
    untold = dict.fromkeys(("all", "low", "Next", "Add"), "untold")
    assert (new, base) == (untold | {"New": "only"}, untold | {"Old": "only"})


def test_a_frame_has_the_colour_of_what_the_profiles_tell_of_its_function():
    headline, new, base, told = differential(profiled(400, trials=5), profiled(800, trials=5))

    assert headline.startswith("Next itself grew from 40.20")
    assert told == {"low": "cannot tell", "Next": "grew", "Add": "shrank"}
    assert new == base == {"all": "untold", "low": "untold", "Next": "grew", "Add": "shrank"}


def test_several_profiles_without_a_change_colour_none():
    headline, new, base, _ = differential(profiled(400, trials=5), profiled(401, trials=5))

    assert headline == (
        "The profiles show no change of any function with 0.1 % or more of the samples that both "
        "versions have: 5 profiles of 1, 5 of 2."
    )
    assert {*new.values(), *base.values()} == {"untold"}


@pytest.mark.parametrize("shared", [0, 10])
def test_profiles_that_share_no_function_but_rare_ones_say_so(shared):
    base, new = (
        ProfiledTrial({a: 60_000, f"{a};{b}": 41_000, f"{a};memcpy": shared})
        for a, b in ("ab", "cd")
    )
    headline, *_ = differential([base] * 2, [new] * 2)

    assert headline == (
        "The profiles have no function with 0.1 % or more of the samples in common: 2 profiles of "
        "1, 2 of 2."
    )


def test_small_and_very_deep_frames_are_not_drawn():
    assert [name for name, *_ in drawn({"a": 9_999, "b": 1})] == ["all", "all;a"]
    deep = drawn({";".join("f" * 2_000): 1})
    assert len(deep) == MOST_FRAMES_DEEP + 1


def test_a_page_has_its_data_and_no_script_of_a_name():
    graphs = [Graph("1", "1 <", "5 % of it", call_tree({"</script><script>alert(1)": 1}))]
    page = flame_page("a < b", ["No <b>."], [], graphs, "libraries();")

    (data,) = re.findall(r'<script type="application/json">(.*?)</script>', page)
    assert json.loads(data)["all"]["c"][0]["n"] == "</script><script>alert(1)"
    assert "alert(1)" in page
    assert "<script>alert" not in page
    assert "<title>a &lt; b</title>" in page
    assert "<h2>1 &lt;</h2>" in page
    assert 'class="legend"' not in page


STARTED = {
    "python3.11;Py_RunMain;run (harness/rounds.py:7);rocksdb::DB::Put": 20,
    "python3.11;Py_RunMain;_PyEval_EvalFrameDefault": 70,
    "start_thread;rocksdb::DB::Put;memcpy": 10,
}


def page_of(**stacks):
    graphs = [Graph(name, name, "", call_tree(each)) for name, each in stacks.items()]
    return flame_page("Title", [], [], graphs, "libraries();")


def test_a_graph_begins_with_the_frames_of_the_system_and_has_all_behind_a_switch():
    page = page_of(new=STARTED)

    (data,) = map(json.loads, re.findall(r'<script type="application/json">(.*?)</script>', page))
    assert sorted(nodes(data["own"])) == [
        ("all", 30, None), ("all;rocksdb::DB::Put", 30, None),
        ("all;rocksdb::DB::Put;memcpy", 10, None),
    ]  # fmt: skip
    # Shares are of all samples.
    assert data["own"]["t"] == 100
    assert "all;python3.11;Py_RunMain" in [name for name, *_ in nodes(data["all"])]
    assert 'id="own" checked' in page
    assert 'id="own"' not in page_of(new={"low;Compact": 1})


def test_a_page_says_if_few_samples_have_a_frame_of_the_system():
    few = "Only 30\N{NO-BREAK SPACE}% of the samples of new have a frame of the system"

    assert few.replace("\N{NO-BREAK SPACE}", "&nbsp;") in page_of(new=STARTED)
    assert "have a frame of the system" not in page_of(new={"low;Compact": 1})


def cells(page):
    """Return the texts of the cells of each row of the table of functions, by its function."""
    body = page.partition('<table class="functions">')[2].partition("</table>")[0]
    rows = re.findall(r"<tr>(<th scope=\"row\">.*?)</tr>", body)
    return {
        re.search(r"(?:<summary>|<th[^>]*>)([^<]+)", row)[1]: re.findall(
            r"<td[^>]*>(.*?)</td>", row
        )
        for row in rows
    }


def test_each_function_has_its_own_and_its_total_share_by_version_the_largest_first():
    page = page_of(old={"low;Next;Next": 60, "low;Add": 40}, new={"low;Next": 30, "low": 70})

    assert cells(page) == {
        "low": ["0.00 %", "70.00 %", "100.00 %", "100.00 %"],
        "Next": ["60.00 %", "30.00 %", "60.00 %", "30.00 %"],
        "Add": ["40.00 %", "0.00 %", "40.00 %", "0.00 %"],
    }
    assert list(cells(page)) == ["low", "Next", "Add"]
    assert list(cells(page_of(new={"b": 2, "c": 2, "a": 2}))) == ["a", "b", "c"]


def test_a_function_opens_to_its_callers_and_callees():
    page = page_of(new={"a;Next;copy": 10, "b;Next": 30, "Next": 60})

    assert "Callers in new: b 30.00 %, a 10.00 %." in page
    assert "Callees in new: copy 10.00 %." in page


def test_a_page_without_its_libraries_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("tidemark.report.flame_page._MODULES", tmp_path)

    with pytest.raises(
        Refused, match=r"^--output: d3-flame-graph is not installed; `make node_mod"
    ):
        flame_graph_scripts()
