"""The dashboard: its columns, its filters, its colours and its definition for QuickSight.

``python -m tests.unit.dashboard.test_dashboard`` writes the definition again; read its change.
"""

import json
import re
from pathlib import Path

import pytest

from tidemark.dashboard.data_sets import COLORS, PAIRS, Column
from tidemark.dashboard.quicksight import definition
from tidemark.dashboard.sheets import dashboard
from tidemark.dashboard.visuals import kpi
from tidemark.model.checkout import ROOT
from tidemark.pages.pictures import _with_colors
from tidemark.report.marks import MARKS

DEFINITION = Path(__file__).with_name("definition.jsonl")
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


def parts_of_definition():
    """Return QuickSight's definition as lines of JSON: each visual, filter and column has its own.

    A sheet follows its visuals.
    """
    whole = definition(dashboard())
    visuals = [each for sheet in whole["Sheets"] for each in [*sheet.pop("Visuals"), sheet]]
    parts = [*visuals, *(each for name in whole if name != "Sheets" for each in whole[name])]
    return "".join(f"{json.dumps(each, ensure_ascii=False)}\n" for each in parts)


def test_quicksight_has_every_visual_filter_and_column_as_it_was_reviewed():
    assert parts_of_definition() == DEFINITION.read_text(encoding="utf-8")


if __name__ == "__main__":
    DEFINITION.write_text(parts_of_definition(), encoding="utf-8")
