"""The dashboard: its columns, its filters and its colours."""

import re

import pytest

from tidemark.dashboard.data_sets import COLORS, PAIRS, Column
from tidemark.dashboard.sheets import dashboard
from tidemark.dashboard.visuals import kpi
from tidemark.model.checkout import ROOT
from tidemark.pages.pictures import _with_colors
from tidemark.report.marks import MARKS

_CHARTS = (ROOT / "tidemark" / "dashboard" / "charts.js").read_text(encoding="utf-8")
_DECIDED = next(line for line in _CHARTS.splitlines() if line.startswith("const DECIDED = "))


def test_a_column_that_its_data_set_lacks_is_no_field():
    with pytest.raises(KeyError, match="speed"):
        kpi("x", "", "", "", sum_of=Column(PAIRS, "speed"))


def test_the_page_has_the_columns_of_visuals_controls_filters_and_orders_and_what_they_need():
    columns = dashboard().columns()

    assert {"effect_gain", "direction", "low"} <= {*columns["version_pairs"]}  # a visual's
    assert "run" in columns["newest_runs"]  # a control's
    assert "last_at" in columns["rates_by_version"]  # a filter's
    assert {"version_rank", "version_order"} <= {*columns["rates_by_version"]}  # an order's
    assert "base_min" not in columns["version_pairs"]


def test_a_filter_of_some_visuals_leaves_the_others_of_its_sheet_alone():
    sheet = next(each for each in dashboard().sheets if each.id == "run")
    visuals = {each.id: each for each in sheet.visuals}

    counts = {
        name: [each.differs for each in dashboard().filters(sheet, visuals[name]) if each.differs]
        for name in ("failures", "machines")
    }
    assert counts == {"failures": ["yes"], "machines": []}


def test_the_decided_verdicts_have_the_colours_of_reports_and_others_share_another():
    colors = COLORS[Column(PAIRS, "qualified_verdict")]
    colors = {word: color.lower() for word, color in colors.items()}

    decided = dict(re.findall(r'(\w+): "(var\(--\w+\))"', _DECIDED))
    assert {*decided} == {"slower", "faster", "same"}
    assert {word: colors.pop(word) for word in decided} == {
        word: _with_colors(color) for word, color in decided.items()
    }
    (other,) = {*colors.values()}
    assert {*colors} == MARKS.keys() - decided.keys()
    assert other not in map(_with_colors, decided.values())
