"""The dashboard's definition: QuickSight's model accepts it, and no reference is broken."""

import copy
import json
from pathlib import Path

import pytest
from botocore.session import get_session
from botocore.validate import ParamValidator

from tests.component.infrastructure.dashboard_references import broken_references
from tidemark.dashboard import quicksight
from tidemark.dashboard.data_sets import DATA_SETS, read_data_set
from tidemark.dashboard.sheets import dashboard
from tidemark.model.suite_files import read_suites
from tidemark.report.rule import rule


@pytest.fixture(scope="module")
def model():
    return get_session().get_service_model("quicksight")


@pytest.fixture
def definition():
    return copy.deepcopy(quicksight.definition(dashboard()))


def unknown_values(node, shape, place=""):
    """Yield each value that its enumeration lacks, which botocore does not check."""
    if shape.type_name == "structure":
        for name, inner in node.items():
            yield from unknown_values(inner, shape.members[name], f"{place}.{name}")
    elif shape.type_name == "list":
        for number, inner in enumerate(node):
            yield from unknown_values(inner, shape.member, f"{place}[{number}]")
    elif shape.type_name == "string" and shape.enum and node not in shape.enum:
        yield place, node


def structures(node):
    if isinstance(node, dict):
        yield node
        for inner in node.values():
            yield from structures(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from structures(inner)


def problems(definition):
    declared = [each["Identifier"] for each in definition["DataSetIdentifierDeclarations"]]
    return broken_references(definition, {name: read_data_set(name) for name in declared})


def first(node, **fields):
    """Return the first structure with these values."""
    return next(inner for inner in structures(node) if fields.items() <= inner.items())


def test_the_dashboard_states_the_rule_of_verdicts_as_reports_do(definition):
    metric = read_suites()["rocksdb"].tests[0].metrics[0]

    for box in ("rates-explanation", "compare-explanation"):
        assert rule([metric]) in first(definition, SheetTextBoxId=box)["Content"]


@pytest.mark.parametrize("name", ["DashboardVersionDefinition", "AnalysisDefinition"])
def test_the_api_accepts_the_definition(model, definition, name):
    shape = model.shape_for(name)

    assert ParamValidator().validate(definition, shape).generate_report() == ""
    assert list(unknown_values(definition, shape)) == []


def test_a_value_that_an_enumeration_lacks_is_found(model, definition):
    first(definition, Status="ENABLED")["Status"] = "ON"

    found = list(unknown_values(definition, model.shape_for("AnalysisDefinition")))

    assert found == [(".FilterGroups[0].Status", "ON")]


def test_the_definition_declares_its_data_sets_with_placeholders_for_their_arns(definition):
    declarations = definition["DataSetIdentifierDeclarations"]

    assert [declaration["DataSetArn"] for declaration in declarations] == [
        f"${{{name}}}" for name in DATA_SETS
    ]


def test_columns_of_data_sets_are_only_added():
    """Add a line to the file with each new column; a changed line breaks people's analyses."""
    published = json.loads(Path(__file__).with_name("published_columns.json").read_text())

    assert {name: read_data_set(name).columns for name in DATA_SETS} == published


def test_the_definition_has_no_broken_reference(definition):
    assert list(problems(definition)) == []


@pytest.mark.parametrize(
    ("holder", "field", "value", "sentence"),
    [
        ({"ColumnName": "mean"}, "ColumnName", "speed", "rates_by_version has no column speed; it"),
        ({"ColumnName": "mean"}, "DataSetIdentifier", "rates", "data set rates is not declared; "),
        (
            {"ColumnName": "mean"},
            "ColumnName",
            "version",
            "NumericalMeasureField needs INTEGER or DECIMAL; version of rates_by_version is STRING",
        ),
        (
            {"FilterId": "history-time"},
            "Column",
            {"DataSetIdentifier": "rates_by_version", "ColumnName": "unit"},
            "TimeRangeFilter needs DATETIME; unit of rates_by_version is STRING",
        ),
        ({"FilterId": "history-suite"}, "FilterId", "history-test", "FilterId history-test is giv"),
        ({"ParameterName": "Suite"}, "ParameterName", "System", "parameter System is not declared"),
        (
            {"ParameterName": "Suite"},
            "ParameterName",
            "Since",
            "parameter Since needs a StringParameterDeclaration, not a DateTimeParameterDeclar",
        ),
        ({"Name": "Until"}, "Name", "Before", "parameter Before is not used"),
        ({"VisualId": "slower"}, "VisualId", "faster", "VISUAL slower is laid out but does not "),
        ({"VisualId": "slower"}, "VisualId", "faster", "VISUAL faster has no place in a layout"),
        ({"ElementId": "slower"}, "ColumnSpan", 13, "slower covers worst-change"),
        ({"ElementId": "history"}, "ColumnIndex", 1, "history leaves the grid"),
        (
            {"SourceSheetControlId": "rates-suite"},
            "SourceSheetControlId",
            "suites",
            "there is no control suites",
        ),
        ({"FieldId": "history-min"}, "FieldId", "history-mean", "FieldId history-mean is given 2"),
        (
            {"FieldId": "versions-rate"},
            "FieldId",
            "versions-version",
            "FieldId versions-version is given 2 times",
        ),
        (
            {"SheetId": "rates", "Scope": "ALL_VISUALS"},
            "SheetId",
            "prices",
            "filter group history: there is no sheet prices",
        ),
        (
            {"SheetId": "rates", "Scope": "ALL_VISUALS"},
            "VisualIds",
            ["prices"],
            "filter group history: sheet rates has no visual prices",
        ),
    ],
)
def test_a_reference_to_nothing_or_to_the_wrong_type_is_named(
    definition, holder, field, value, sentence
):
    first(definition, **holder)[field] = value

    assert sentence in "\n".join(problems(definition))


def test_a_field_that_a_visual_lacks_is_named(definition):
    first(definition, Direction="ASC", FieldId="newest-suite")["FieldId"] = "newest-system"

    assert list(problems(definition)) == [
        "visual newest: SortConfiguration.RowSort[0].FieldSort: there is no field newest-system"
    ]


def test_a_data_set_without_a_file_is_named(definition):
    first(definition, Identifier="version_pairs")["Identifier"] = "versions"

    with pytest.raises(ValueError, match=r"^data set versions: there is no such file in queries/s"):
        list(problems(definition))


def test_a_column_of_a_type_that_data_sets_lack_is_named():
    with pytest.raises(
        ValueError, match=r"^data set latest_run: column excluded has the type BOOLEAN; CAST it to"
    ):
        read_data_set("latest_run")
