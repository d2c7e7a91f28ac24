"""The chart of changes of a comparison."""

import re

import pytest
import vl_convert

from tests.unit.measured_runs import charts, ingest_of, planned, with_ingest
from tidemark.model.exclusions import NONE
from tidemark.report.comparison.contents import comparison
from tidemark.report.comparison.document import document
from tidemark.report.comparison.sides import sides
from tidemark.report.page import page
from tidemark.store.stored_run import StoredRun

BASE = [1000.0, 1001.0, 1002.0, 1000.0, 1000.0]
SLOWER = [880.0, 890.0, 900.0, 910.0, 920.0]
SCATTERED = [1060.0, 900.0, 990.0, 1100.0, 1010.0]


def both_sides(new, base=BASE, **metric):
    plan = with_ingest(planned(["9.0.0", "9.8.4"], repetitions=len(base)), **metric)
    run = StoredRun(plan, ingest_of(plan, {"9.0.0": base, "9.8.4": new}), NONE, [])
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
    assert "○" in {mark.symbol for mark in chart.legend}


def test_a_change_between_unlike_machines_is_hollow_and_says_so():
    both = both_sides(SLOWER)._replace(unlike_machines=True)

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


def test_a_metric_that_takes_far_longer_stays_within_the_axis_and_is_so_many_times_as_long():
    both = both_sides([13.8 * each for each in BASE], direction="lower", unit="ms")

    chart, layers = drawn(both)

    assert chart.spec["encoding"]["x"]["scale"]["domain"] == [-1.0, 1.0]
    assert layers["decided"][0]["change"] == "13.8 times as long"
    report = comparison(both)
    assert report.summary[0].startswith("▼ slower: ingest_rate (13.8 times as long); ")
    assert "ingest_rate is slower (13.8 times as long) with 9.8.4, 95 % interval " in str(report)


def test_vega_lite_draws_a_point_for_each_metric_and_one_line_for_zero():
    chart, layers = drawn(both_sides(SLOWER))

    svg = vl_convert.vegalite_to_svg({**chart.spec, "width": 600})

    points = re.findall(r'<g class="mark-symbol [^>]*>(.*?)</g>', svg)
    assert sum(each.count("<path") for each in points) == len(layers["intervals"]) == 2
    (zero,) = re.findall(r'<g class="mark-rule role-mark zero[^>]*>(.*?)</g>', svg)
    assert zero.count("<line") == 1
    assert ">ingest: ingest_rate</text>" in svg


def test_the_page_has_the_answer_and_the_chart_first_and_folds_the_settings_that_do_not_differ():
    text = page(comparison(both_sides(SLOWER)), "vega")

    answer, chart, table, rest = (
        text.index(each)
        for each in (
            '<b class="slower">▼ slower</b>: ingest_rate', "<figure>", "<table>",
            "<h2>Settings that do not differ</h2>\n<details>\n<summary>",
        )
    )  # fmt: skip
    assert answer < chart < table < rest
