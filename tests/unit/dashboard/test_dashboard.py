"""The dashboard that is read from its definition, and refusals of unsupported definitions."""

import copy
import re

import pytest

from tidemark.dashboard.dashboard import read_dashboard
from tidemark.dashboard.definition import data_sets, read_definition
from tidemark.model.checkout import ROOT
from tidemark.model.refusal import Refused
from tidemark.pages.pictures import _with_colors
from tidemark.report.marks import MARKS

DEFINITION = read_definition()
_CHARTS = (ROOT / "tidemark" / "dashboard" / "charts.js").read_text(encoding="utf-8")
_DECIDED = next(line for line in _CHARTS.splitlines() if line.startswith("const DECIDED = "))


@pytest.fixture
def definition():
    """Return a copy that a test may change."""
    return copy.deepcopy(DEFINITION)


def dashboard(definition):
    return read_dashboard(definition, data_sets(definition))


def visual(definition, kind):
    """Return the first visual of a kind."""
    visuals = [each for sheet in definition["Sheets"] for each in sheet["Visuals"]]
    return next(each[kind] for each in visuals if kind in each)


def test_the_dashboard_has_every_sheet_and_visual_of_the_definition():
    sheets = dashboard(DEFINITION).sheets

    assert [sheet.name for sheet in sheets] == [each["Name"] for each in DEFINITION["Sheets"]]
    for sheet, defined in zip(sheets, DEFINITION["Sheets"], strict=True):
        ids = {next(iter(each.values()))["VisualId"] for each in defined["Visuals"]}
        ids |= {each["SheetTextBoxId"] for each in defined.get("TextBoxes", [])}
        assert {element.id for _, element in sheet.elements} == ids


def test_a_visual_of_an_unsupported_type_is_refused_with_the_supported_types(definition):
    definition["Sheets"][0]["Visuals"].append({"PieChartVisual": {"VisualId": "pie"}})

    with pytest.raises(Refused, match=r"PieChartVisual: is not supported; expected .*KPIVisual"):
        dashboard(definition)


@pytest.mark.parametrize(
    ("kind", "key", "value"),
    [
        ("KPIVisual", "ConditionalFormatting", {"ConditionalFormattingOptions": []}),
        ("TableVisual", "Actions", [{}]),
        ("LineChartVisual", "ColumnHierarchies", [{}]),
    ],
)
def test_an_unsupported_field_of_a_visual_is_refused_by_its_name(definition, kind, key, value):
    visual(definition, kind)[key] = value

    with pytest.raises(
        Refused, match=rf"Sheets\[\d\]\.Visuals\[\d+\]\.{kind}\.{key}: is not supported"
    ):
        dashboard(definition)


def test_an_unsupported_field_deep_inside_is_refused(definition):
    chart = visual(definition, "LineChartVisual")["ChartConfiguration"]
    chart["SortConfiguration"]["CategoryItemsLimitConfiguration"] = {"ItemsLimit": 10}

    with pytest.raises(Refused, match="CategoryItemsLimitConfiguration: is not supported"):
        dashboard(definition)


def test_an_unsupported_aggregation_is_refused(definition):
    (value,) = visual(definition, "KPIVisual")["ChartConfiguration"]["FieldWells"]["Values"]
    function = value["NumericalMeasureField"]["AggregationFunction"]
    function["SimpleNumericalAggregation"] = "STDEV"

    with pytest.raises(Refused, match="STDEV is not supported; expected SUM, AVERAGE, MIN, MAX"):
        dashboard(definition)


def test_a_control_of_an_unsupported_type_is_refused(definition):
    definition["Sheets"][0]["ParameterControls"].append({"Slider": {"ParameterControlId": "x"}})

    with pytest.raises(
        Refused, match="Slider: is not supported; expected DateTimePicker, Dropdown"
    ):
        dashboard(definition)


def test_a_filter_of_an_unsupported_type_is_refused(definition):
    definition["FilterGroups"][0]["Filters"].append({"TopBottomFilter": {"FilterId": "x"}})

    with pytest.raises(Refused, match=r"TopBottomFilter: is not supported; expected CategoryFi"):
        dashboard(definition)


def test_a_filter_with_an_unsupported_comparison_is_refused(definition):
    filters = [each for group in definition["FilterGroups"] for each in group["Filters"]]
    category = next(each["CategoryFilter"] for each in filters if "CategoryFilter" in each)
    category["Configuration"]["CustomFilterConfiguration"]["MatchOperator"] = "CONTAINS"

    with pytest.raises(Refused, match="CONTAINS is not supported; expected EQUALS"):
        dashboard(definition)


def test_options_of_the_whole_definition_are_refused(definition):
    definition["Options"] = {"WeekStart": "MONDAY"}

    with pytest.raises(Refused, match="Options: is not supported"):
        dashboard(definition)


def test_the_decided_verdicts_have_the_colours_of_reports_and_others_share_another():
    (colors,) = (
        {each["FieldValue"]: each["Color"].lower() for each in colored["CustomColors"]}
        for column in DEFINITION["ColumnConfigurations"]
        if column["Column"]["ColumnName"] == "qualified_verdict"
        for colored in [column["ColorsConfiguration"]]
    )

    decided = dict(re.findall(r'(\w+): "(var\(--\w+\))"', _DECIDED))
    assert {*decided} == {"slower", "faster", "same"}
    assert {word: colors.pop(word) for word in decided} == {
        word: _with_colors(color) for word, color in decided.items()
    }
    (other,) = {*colors.values()}
    assert {*colors} == MARKS.keys() - decided.keys()
    assert other not in map(_with_colors, decided.values())


def test_a_text_that_is_not_a_colour_is_refused(definition):
    color = {"FieldValue": "slower", "Color": "red; x: url(//elsewhere.example)"}
    for each in definition["ColumnConfigurations"]:
        if "ColorsConfiguration" in each:
            each["ColorsConfiguration"]["CustomColors"] = [color]

    with pytest.raises(Refused, match=r"CustomColors\[0\].Color: .* is not a colour of the form"):
        dashboard(definition)
