"""The dashboard's definition as it is drawn on a page, and what is refused of others."""

import copy

import pytest

from cdk.definition import data_sets, read_definition
from local.dashboard.dashboard import read_dashboard
from suites.refusal import Refused

DEFINITION = read_definition()


@pytest.fixture
def definition():
    """A copy, to be changed."""
    return copy.deepcopy(DEFINITION)


def drawn(definition):
    return read_dashboard(definition, data_sets(definition))


def visual(definition, kind):
    """Return the first visual of a kind."""
    visuals = [each for sheet in definition["Sheets"] for each in sheet["Visuals"]]
    return next(each[kind] for each in visuals if kind in each)


def test_every_sheet_and_visual_of_the_definition_is_drawn():
    sheets = drawn(DEFINITION).sheets

    assert [sheet.name for sheet in sheets] == [each["Name"] for each in DEFINITION["Sheets"]]
    for sheet, defined in zip(sheets, DEFINITION["Sheets"], strict=True):
        ids = {next(iter(each.values()))["VisualId"] for each in defined["Visuals"]}
        ids |= {each["SheetTextBoxId"] for each in defined.get("TextBoxes", [])}
        assert {element.id for _, element in sheet.elements} == ids


def test_a_visual_of_another_type_is_refused_with_those_that_are_drawn(definition):
    definition["Sheets"][0]["Visuals"].append({"PieChartVisual": {"VisualId": "pie"}})

    with pytest.raises(Refused, match=r"PieChartVisual: is not drawn here; drawn are .*KPIVisual"):
        drawn(definition)


@pytest.mark.parametrize(
    ("kind", "key", "value"),
    [
        ("KPIVisual", "ConditionalFormatting", {"ConditionalFormattingOptions": []}),
        ("TableVisual", "Actions", [{}]),
        ("LineChartVisual", "ColumnHierarchies", [{}]),
    ],
)
def test_what_would_change_a_visual_is_refused_by_its_name(definition, kind, key, value):
    visual(definition, kind)[key] = value

    with pytest.raises(
        Refused, match=rf"Sheets\[\d\]\.Visuals\[\d+\]\.{kind}\.{key}: is not drawn"
    ):
        drawn(definition)


def test_a_setting_deep_inside_is_refused_too(definition):
    chart = visual(definition, "LineChartVisual")["ChartConfiguration"]
    chart["SortConfiguration"]["CategoryItemsLimitConfiguration"] = {"ItemsLimit": 10}

    with pytest.raises(Refused, match="CategoryItemsLimitConfiguration: is not drawn here"):
        drawn(definition)


def test_an_aggregation_that_is_not_worked_out_is_refused(definition):
    (value,) = visual(definition, "KPIVisual")["ChartConfiguration"]["FieldWells"]["Values"]
    function = value["NumericalMeasureField"]["AggregationFunction"]
    function["SimpleNumericalAggregation"] = "STDEV"

    with pytest.raises(Refused, match="STDEV is not drawn here; drawn are SUM, AVERAGE, MIN, MAX"):
        drawn(definition)


def test_a_control_of_another_type_is_refused(definition):
    definition["Sheets"][0]["ParameterControls"].append({"Slider": {"ParameterControlId": "x"}})

    with pytest.raises(
        Refused, match="Slider: is not drawn here; drawn are DateTimePicker, Dropdown"
    ):
        drawn(definition)


def test_a_filter_of_another_type_is_refused(definition):
    definition["FilterGroups"][0]["Filters"].append({"TopBottomFilter": {"FilterId": "x"}})

    with pytest.raises(Refused, match=r"TopBottomFilter: is not drawn here; drawn are CategoryFi"):
        drawn(definition)


def test_a_filter_that_compares_otherwise_is_refused(definition):
    filters = [each for group in definition["FilterGroups"] for each in group["Filters"]]
    category = next(each["CategoryFilter"] for each in filters if "CategoryFilter" in each)
    category["Configuration"]["CustomFilterConfiguration"]["MatchOperator"] = "CONTAINS"

    with pytest.raises(Refused, match="CONTAINS is not drawn here; drawn are EQUALS"):
        drawn(definition)


def test_a_theme_of_the_definition_itself_is_refused(definition):
    definition["Options"] = {"WeekStart": "MONDAY"}

    with pytest.raises(Refused, match="Options: is not drawn here"):
        drawn(definition)


def test_a_colour_that_is_none_is_refused(definition):
    colored = {"FieldValue": "slower", "Color": "red; x: url(//elsewhere.example)"}
    for each in definition["ColumnConfigurations"]:
        if "ColorsConfiguration" in each:
            each["ColorsConfiguration"]["CustomColors"] = [colored]

    with pytest.raises(Refused, match=r"CustomColors\[0\].Color: .* is no colour of the form"):
        drawn(definition)
