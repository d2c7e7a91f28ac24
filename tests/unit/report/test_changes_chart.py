"""The chart of changes of a comparison."""

import itertools
import json
import re
from dataclasses import replace

import pytest
import vl_convert

from tests.unit.drawn_charts import number, plots
from tests.unit.measured_runs import charts, ingest_of, planned, with_ingest
from tidemark.model.results import NO_EXCLUSIONS
from tidemark.pages.pictures import _with_colors
from tidemark.report.comparison.changes_chart import DrawnChange, specification
from tidemark.report.comparison.contents import comparison
from tidemark.report.comparison.document import document
from tidemark.report.comparison.sides import sides
from tidemark.report.page import page
from tidemark.store.stored_run import StoredRun

BASE = [1000.0, 1001.0, 1002.0, 1000.0, 1000.0]
SLOWER = [880.0, 910.0, 890.0, 920.0, 900.0]
SCATTERED = [1060.0, 900.0, 990.0, 1100.0, 1010.0]


def both_sides(new, base=BASE, **metric):
    plan = with_ingest(planned(["9.0.0", "9.8.4"], repetitions=len(base)), **metric)
    run = StoredRun(plan, ingest_of(plan, {"9.0.0": base, "9.8.4": new}), NO_EXCLUSIONS, [])
    return sides((run, "9.0.0"), (run, "9.8.4"))


def drawn(both):
    """Return the chart, and the points of its layers by name."""
    (chart,) = charts(comparison(both), "Δ of each metric")
    return chart, {each["name"]: each["data"]["values"] for each in chart.spec["layer"]}


@pytest.mark.parametrize(("direction", "sign"), [("higher", 1), ("lower", -1)])
def test_worse_is_to_the_left_with_the_interval_of_the_verdict(direction, sign):
    both = both_sides(SLOWER, direction=direction)

    _, layers = drawn(both)

    told, _ = document(both).metrics
    point = layers["decided"][0]
    assert point["verdict"] == told.verdict == ("slower" if sign == 1 else "faster")
    figures = (told.effect, told.low, told.high)
    assert (point["gain"], point["low"], point["high"]) == tuple(sign * each for each in figures)
    assert point in layers["intervals"]
    assert (point["gain"] < 0) == (told.verdict == "slower")


def test_an_undecided_metric_has_a_hollow_point():
    chart, layers = drawn(both_sides(SCATTERED))

    assert layers["undecided"][0]["metric"] == "ingest: ingest_rate"
    fills = {each["name"]: each["mark"].get("filled", False) for each in chart.spec["layer"]}
    assert (fills["decided"], fills["undecided"]) == (True, False)
    assert {mark.words: (mark.symbol, mark.color) for mark in chart.legend} == {
        point["verdict"]: ("●" if name == "decided" else "○", point["color"])
        for name in ("decided", "undecided")
        for point in layers[name]
    }


def test_a_change_between_unlike_machines_is_hollow_and_says_so():
    both = replace(both_sides(SLOWER), unlike_machines=True)

    chart, layers = drawn(both)

    assert layers["decided"] == []
    assert layers["undecided"][0]["verdict"] == "slower on unlike machines"
    assert "○" in {mark.symbol for mark in chart.legend}
    assert "▽ slower on unlike machines" in chart.table.rows[0].cells


def test_the_table_has_the_change_of_the_chart_and_not_that_of_the_means():
    chart, layers = drawn(both_sides(SCATTERED))

    point = layers["undecided"][0]
    assert chart.table.rows[0].cells[2] == "+0.9 %"  # 1,012.0 / 1,000.6 is +1.1 %
    assert point["change"].startswith("+0.9")


def test_one_trial_a_side_has_a_point_without_an_interval():
    _, layers = drawn(both_sides([900.0], base=[1000.0]))

    point = layers["undecided"][0]
    assert point["low"] == point["gain"] == point["high"]
    assert point["interval"] == "none"


def test_a_metric_that_takes_far_longer_is_an_arrow_at_the_edge_with_its_figure():
    both = both_sides([13.8 * each for each in BASE], direction="lower", unit="ms")

    chart, layers = drawn(both)

    (arrow,) = layers["beyond"]
    assert (arrow["edge"], arrow["shape"]) == (-1.0, "triangle-left")
    assert arrow["figure"] == "13.8 times as long, 13.8 to 13.8 times"
    assert "beyond" not in {each["metric"] for each in layers["decided"]}
    assert "An arrow at the edge is a change, or an end of its interval" in chart.caption
    report = comparison(both)
    assert report.summary[0] == "▼ 1 slower, = 1 same."
    assert report.summary[1].items[0] == (
        "▼ slower: ingest_rate, 13.8 times as long (95 % interval 13.8 to 13.8 times)"
    )
    assert "ingest_rate is slower (13.8 times as long) with 9.8.4, 95 % interval " in str(report)


FAR = [
    # Title, direction, effect, low, high, and the figures beside arrows.
    ("gained", "higher", 2.5, 1.2, 5.0, ["+250 %, +120 % to +500 %"]),
    ("wide", "higher", 0.4, -0.2, 1.6, ["+160 %"]),
    ("slow", "lower", 0.5, -0.1, 1.6, ["2.6 times as long"]),
    ("any", "lower", 0.0, -0.9, 9.0, ["10.0 times as long"]),
    ("near", "higher", 0.985, 0.98, 0.99, []),
    ("all", "higher", 1.0, 0.9, 1.0, []),
    ("lost", "higher", -1.0, -1.0, -0.9, []),
    ("less", "higher", 0.2, 0.17, 0.23, []),
    ("alone", "lower", 1.5, None, None, ["2.5 times as long"]),
]


@pytest.mark.parametrize("width", [320, 640])
@pytest.mark.parametrize("few", [1, len(FAR)])
def test_each_mark_is_at_its_figure_or_an_arrow_at_the_edge_says_it(few, width):
    for start in range(0, len(FAR), few):
        rows = FAR[start : start + few]
        changes = [DrawnChange(title, "s", direction, verdict, effect, low, high)
                   for (title, direction, effect, low, high, _), verdict
                   in zip(rows, itertools.cycle(["slower", "cannot tell"]))]  # fmt: skip
        (plot,) = plots(svg_of(specification(changes), width))
        ends = [at for _, at in plot.x.labels]

        for row, (title, direction, effect, low, high, told) in enumerate(rows):
            assert plot.y.labels[row][0] == title
            sign = 1 if direction == "higher" else -1
            arrows = plot.in_row(row, "beyond")
            figures = plot.in_row(row, "figures_(left|right)")
            assert [mark.text for mark in figures] == told
            assert len(arrows) == len(told)
            points = plot.in_row(row, "(un)?decided")
            assert len(points) == (abs(effect) <= 1)
            assert [gain(plot, mark.at.x) for mark in points] == pytest.approx(
                [sign * effect] * len(points), abs=0.01
            )
            (line,) = plot.in_row(row, "intervals")
            expected = [min(1, max(-1, sign * (effect if end is None else end)))
                        for end in (low, high)]  # fmt: skip
            drawn = [gain(plot, end.x) for end in line.places]
            assert drawn == pytest.approx(expected, abs=0.01)
            at = [place.x for mark in (*arrows, *points, line) for place in mark.places]
            assert min(ends) <= min(at) <= max(at) <= max(ends), "no mark is beyond the labels"


def gain(plot, pixel):
    """Return the change at a place: left of zero the labels have no minus."""
    zero = next(at for text, at in plot.x.labels if number(text) == 0)
    text, at = plot.x.labels[-1]
    return number(text) * (pixel - zero) / (at - zero)


def svg_of(spec, width):
    return vl_convert.vegalite_to_svg(_with_colors(json.dumps({**spec, "width": width})))


def test_vega_lite_draws_a_point_for_each_metric_and_one_line_for_zero():
    chart, layers = drawn(both_sides(SLOWER))

    svg = vl_convert.vegalite_to_svg({**chart.spec, "width": 600})

    points = re.findall(r'<g class="mark-symbol [^>]*>(.*?)</g>', svg)
    assert sum(each.count("<path") for each in points) == len(layers["intervals"]) == 2
    (zero,) = re.findall(r'<g class="mark-rule role-mark zero[^>]*>(.*?)</g>', svg)
    assert zero.count("<line") == 1
    assert ">ingest: ingest_rate</text>" in svg


def test_the_page_has_the_answer_and_the_chart_first_and_folds_the_settings_that_do_not_differ():
    text = page(comparison(both_sides(SLOWER)))

    answer, chart, table, rest = (
        text.index(each)
        for each in (
            '<b class="slower">▼ slower</b>: ingest_rate', "<figure>", "<table>",
            "<summary><h2>Other settings</h2></summary>",
        )
    )  # fmt: skip
    assert answer < chart < table < rest
