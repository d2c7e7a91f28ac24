"""The dashboard: its columns, its filters, its colours and its definition for QuickSight."""

import json
from pathlib import Path

import pytest

from tests.last_seen import assert_last_seen
from tidemark.dashboard.data_sets import COLORS, PAIRS, Column
from tidemark.dashboard.quicksight import definition
from tidemark.dashboard.sheets import dashboard
from tidemark.dashboard.visuals import kpi
from tidemark.pages.pictures import _with_colors
from tidemark.report import marks

DIGESTS = Path(__file__).with_name("definition.json")


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

    decided = {word: marks.COLORS[word] for word in ("slower", "faster", "same")}
    assert {word: colors.pop(word) for word in decided} == {
        word: _with_colors(color) for word, color in decided.items()
    }
    (other,) = {*colors.values()}
    assert {*colors} == marks.MARKS.keys() - decided.keys()
    assert other not in map(_with_colors, decided.values())


def test_quicksight_has_every_visual_filter_and_column_as_last_seen():
    whole = definition(dashboard())
    parts = {each["Name"]: each for each in whole["Sheets"]}
    for sheet in whole.pop("Sheets"):
        for visual in sheet.pop("Visuals"):
            (content,) = visual.values()
            parts[content["VisualId"]] = visual

    texts = {name: json.dumps(each) for name, each in [*parts.items(), *whole.items()]}
    assert_last_seen(DIGESTS, "definition", texts)
