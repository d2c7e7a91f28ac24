"""The dashboard's definition: QuickSight's model accepts it, and all that it refers to exists."""

import copy
import json
from pathlib import Path

import pytest
from botocore.session import get_session
from botocore.validate import ParamValidator

from cdk.data_sets import read_data_set
from cdk.definition import FILE, data_sets, read_definition
from cdk.references import broken_references


@pytest.fixture(scope="module")
def model():
    return get_session().get_service_model("quicksight")


@pytest.fixture
def definition():
    return copy.deepcopy(read_definition())


def unknown_values(node, shape, place=""):
    """Yield what is no value of an enumeration, which botocore does not look at."""
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
    return broken_references(definition, data_sets(definition))


def first(node, **fields):
    """The first structure with these values."""
    return next(each for each in structures(node) if fields.items() <= each.items())


@pytest.mark.parametrize("name", ["DashboardVersionDefinition", "AnalysisDefinition"])
def test_the_definition_is_what_the_api_takes(model, definition, name):
    shape = model.shape_for(name)

    assert ParamValidator().validate(definition, shape).generate_report() == ""
    assert list(unknown_values(definition, shape)) == []


def test_a_value_that_an_enumeration_has_not_is_seen(model, definition):
    first(definition, Status="ENABLED")["Status"] = "ON"

    found = list(unknown_values(definition, model.shape_for("AnalysisDefinition")))

    assert found == [(".FilterGroups[0].Status", "ON")]


def test_its_data_sets_are_files_of_queries_and_stand_for_their_arns(definition):
    assert [each["DataSetArn"] for each in definition["DataSetIdentifierDeclarations"]] == [
        f"${{{name}}}" for name in data_sets(definition)
    ]


def test_columns_of_data_sets_are_only_added(definition):
    """A line is added to the file with a column; one that is changed breaks what people made."""
    published = json.loads(Path(__file__).with_name("published_columns.json").read_text())

    assert {name: of.columns for name, of in data_sets(definition).items()} == published


def test_nothing_in_it_is_broken():
    assert list(problems(json.loads(FILE.read_text()))) == []


@pytest.mark.parametrize(
    ("broken", "field", "value", "sentence"),
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
        ({"Name": "Until"}, "Name", "Before", "parameter Before is used nowhere"),
        ({"VisualId": "slower"}, "VisualId", "faster", "VISUAL slower is laid out, and does not "),
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
def test_what_refers_to_nothing_or_does_not_fit_is_named(
    definition, broken, field, value, sentence
):
    first(definition, **broken)[field] = value

    assert sentence in "\n".join(problems(definition))


def test_a_field_that_a_visual_has_not_is_named(definition):
    first(definition, Direction="ASC", FieldId="newest-suite")["FieldId"] = "newest-system"

    assert list(problems(definition)) == [
        "visual newest: SortConfiguration.RowSort[0].FieldSort: there is no field newest-system"
    ]


def test_a_file_that_is_not_there_is_named(definition):
    first(definition, Identifier="version_pairs")["Identifier"] = "versions"

    with pytest.raises(ValueError, match=r"^data set versions: there is no such file in queries/s"):
        list(problems(definition))


def test_a_column_of_a_type_that_data_sets_have_not_is_named():
    with pytest.raises(
        ValueError, match=r"^data set latest_run: column excluded has the type BOOLEAN; CAST it to"
    ):
        read_data_set("latest_run")


@pytest.mark.parametrize(
    ("holder", "field"),
    [
        ({}, "CalculatedFields"),
        ({"SheetId": "rates", "Name": "Rates per version"}, "FilterControls"),
        ({"VisualId": "newest"}, "ConditionalFormatting"),
    ],
)
def test_what_nobody_checks_is_refused(definition, holder, field):
    first(definition, **holder)[field] = []

    assert f"nobody checks what {field} refers to; accepted are" in "".join(problems(definition))
