"""Reports in QuickSight: their assets, permissions and refreshes."""

import json

import pytest
from botocore.session import get_session
from botocore.validate import ParamValidator

from onebox.asl.jsonata import Template
from tests.component.infrastructure.granted import granted, listed
from tidemark.dashboard.data_sets import DATA_SETS, read_data_set
from tidemark.dashboard.quicksight import definition
from tidemark.dashboard.sheets import dashboard
from tidemark.model.checkout import ROOT

GROUP = "arn:aws:quicksight:us-east-1:123456789012:group/default/Releases"
KINDS = ("Analysis", "Dashboard", "DataSet", "DataSource", "Theme")


def assets(template, kind):
    resources = template.find_resources(f"AWS::QuickSight::{kind}").values()
    return [asset["Properties"] for asset in resources]


def as_text(value, word="reference"):
    """Return a value with a word in place of each reference to another resource."""
    if isinstance(value, list):
        return [as_text(inner, word) for inner in value]
    if not isinstance(value, dict):
        return value
    if "Fn::Join" in value:
        return "".join(as_text(part, word) for part in value["Fn::Join"][1])
    if value.keys() & {"Ref", "Fn::GetAtt", "Fn::ImportValue"}:
        return word
    return {name: as_text(inner, word) for name, inner in value.items()}


def statements(template, role):
    """Return the actions and the statement of each grant; ``role`` begins the role's logical id."""
    return [
        (sorted(listed(each["Action"])), each)
        for holder, each in granted(template, role)
        if holder.startswith(role)
    ]


@pytest.fixture(scope="module")
def refresh_machine(everything):
    """Return the definition and the substitutions of the state machine that refreshes."""
    machines = everything.find_resources("AWS::StepFunctions::StateMachine")
    (machine,) = [
        machine["Properties"]
        for name, machine in machines.items()
        if name.startswith("ReportsRefreshes")
    ]
    return json.loads(machine["DefinitionString"]), machine["DefinitionSubstitutions"]


def test_the_template_has_no_quicksight_by_default(template):
    assert "quicksight" not in json.dumps(template.to_json()).lower()


@pytest.mark.parametrize("kind", KINDS)
def test_the_api_accepts_every_asset_without_what_cloudformation_adds(everything, kind):
    model = get_session().get_service_model("quicksight")
    shape = model.shape_for(f"Create{kind}Request")

    for asset in assets(everything, kind):
        arn = "arn:aws:quicksight:eu-west-2:123456789012:asset/it"
        request = {**as_text(asset, arn), "AwsAccountId": "123456789012"}
        request.pop("IngestionWaitPolicy", None)
        assert ParamValidator().validate(request, shape).generate_report() == ""


@pytest.mark.parametrize("kind", KINDS)
def test_every_asset_is_granted_only_to_the_group(everything, kind):
    of_kind = assets(everything, kind)

    assert of_kind
    for asset in of_kind:
        (permission,) = asset["Permissions"]
        assert permission["Principal"] == GROUP


def test_the_group_may_view_the_dashboard_and_not_change_it(everything):
    (dashboard,) = assets(everything, "Dashboard")

    assert dashboard["Permissions"][0]["Actions"] == [
        "quicksight:DescribeDashboard",
        "quicksight:ListDashboardVersions",
        "quicksight:QueryDashboard",
    ]


def test_the_group_owns_the_analysis(everything):
    (analysis,) = assets(everything, "Analysis")

    assert analysis["Permissions"][0]["Actions"] == [
        "quicksight:DeleteAnalysis",
        "quicksight:DescribeAnalysis",
        "quicksight:DescribeAnalysisPermissions",
        "quicksight:QueryAnalysis",
        "quicksight:RestoreAnalysis",
        "quicksight:UpdateAnalysis",
        "quicksight:UpdateAnalysisPermissions",
    ]


def test_a_data_set_has_the_query_of_its_file_and_a_fixed_id(everything):
    by_id = {asset["DataSetId"]: asset for asset in assets(everything, "DataSet")}

    by_name = {name: read_data_set(name) for name in DATA_SETS}
    assert by_id.keys() == {f"Tidemark-{name}" for name in by_name}
    for name, data_set in by_name.items():
        asset = as_text(by_id[f"Tidemark-{name}"])
        sql = asset["PhysicalTableMap"]["sql"]["CustomSql"]
        text = (ROOT / "queries" / "sql" / f"{name}.sql").read_text()
        assert sql["SqlQuery"].endswith(f"\nSELECT * FROM (\n{text})")
        assert {column["Name"]: column["Type"] for column in sql["Columns"]} == data_set.columns
        assert asset["ImportMode"] == "SPICE"


def test_no_decimal_is_cut_to_four_places(everything):
    for asset in assets(everything, "DataSet"):
        for column in asset["PhysicalTableMap"]["sql"]["CustomSql"]["Columns"]:
            assert column.get("SubType") == ("FLOAT" if column["Type"] == "DECIMAL" else None)


def test_the_dashboard_and_the_analysis_have_the_definition_and_the_data_sets(everything):
    (deployed,), (analysis,) = assets(everything, "Dashboard"), assets(everything, "Analysis")
    defined = definition(dashboard())
    names = [entry["Identifier"] for entry in defined.pop("DataSetIdentifierDeclarations")]

    assert deployed["Definition"] == analysis["Definition"]
    assert {**defined, **deployed["Definition"]} == deployed["Definition"]
    declarations = deployed["Definition"]["DataSetIdentifierDeclarations"]
    for name, declaration in zip(names, declarations, strict=True):
        key, attribute = declaration["DataSetArn"]["Fn::GetAtt"]
        data_set = everything.to_json()["Resources"][key]["Properties"]
        assert (declaration["Identifier"], attribute) == (name, "Arn")
        assert data_set["DataSetId"] == f"Tidemark-{name}"


def test_only_quicksight_may_assume_the_role_that_queries_athena(everything):
    (source,) = assets(everything, "DataSource")
    role = source["DataSourceParameters"]["AthenaParameters"]["RoleArn"]["Fn::GetAtt"][0]
    trust = everything.to_json()["Resources"][role]["Properties"]["AssumeRolePolicyDocument"]

    assert [statement["Principal"] for statement in trust["Statement"]] == [
        {"Service": "quicksight.amazonaws.com"}
    ]


# The calls of QuickSight, and of Athena on its behalf, to import a data set, each with its reason.
# No test can record these calls, because the one-machine cloud has no QuickSight.
CALLS = {
    "athena:GetWorkGroup": "QuickSight checks that the workgroup of a data source exists",
    "athena:StartQueryExecution": "QuickSight starts the query",
    "athena:GetQueryExecution": "QuickSight waits for the result",
    "athena:GetQueryResults": "QuickSight reads the result's columns",
    "athena:GetQueryResultsStream": "QuickSight reads the result's rows",
    "athena:StopQueryExecution": "QuickSight stops the query of a cancelled import",
    "glue:GetDatabase": "Athena looks up a table's database, and always `default`",
    "glue:GetTable": "Athena looks up a table and the projection of its partitions",
    "glue:GetPartitions": "Athena's documentation lists it for tables that have partitions",
    "s3:GetBucketLocation": "Athena looks up the region of the bucket of its results",
    "s3:ListBucket": "Athena finds the objects of a table",
    "s3:GetObject": "Athena reads the objects of a table; QuickSight reads the result",
    "s3:PutObject": "Athena writes the result",
    "s3:AbortMultipartUpload": "Athena writes a long result in parts",
    "s3:ListBucketMultipartUploads": "as above",
    "s3:ListMultipartUploadParts": "as above",
}


def test_the_role_reads_only_the_tables_of_the_data_sets_and_writes_only_results(everything):
    grants = statements(everything, "ReportsReader")
    places = {}
    for actions, statement in grants:
        for action in actions:
            resources = {
                str(as_text(arn)).split(":", 5)[-1] for arn in listed(statement["Resource"])
            }
            places.setdefault(action, set()).update(resources)

    assert {action for actions, _ in grants for action in actions} == CALLS.keys()
    assert places["s3:PutObject"] == {"reference/athena/*"}
    tables = {
        f"table/reference/{table}"
        for table in ("changes", "rates", "runs", "task_rates", "verdicts", "version_rates")
    }
    assert places["glue:GetTable"] == {"catalog", "database/reference", *tables}
    assert places["glue:GetDatabase"] == {*places["glue:GetTable"], "database/default"}
    (listing,) = [statement for actions, statement in grants if actions == ["s3:ListBucket"]]
    assert listing["Condition"]["StringLike"]["s3:prefix"] == [
        "tables/changes/*", "tables/rates/*", "tables/runs/*", "tables/task_rates/*",
        "tables/verdicts/*", "tables/version_rates/*", "athena/*",
    ]  # fmt: skip


def test_the_data_sets_are_refreshed_when_a_run_of_this_stack_has_ended(
    everything, refresh_machine
):
    (rule,) = [
        rule["Properties"]
        for name, rule in everything.find_resources("AWS::Events::Rule").items()
        if name.startswith("ReportsRefreshes")
    ]
    definition, substitutions = refresh_machine
    items = definition["States"]["RefreshDataSets"]["Items"].replace(
        "${DataSets}", substitutions["DataSets"]
    )

    assert rule["EventPattern"]["source"] == ["tidemark"]
    assert rule["EventPattern"]["detail-type"] == ["Tidemark Run Outcome"]
    assert as_text(rule["EventPattern"]["detail"]) == {
        "bucket": ["reference"],
        "status": [{"anything-but": "rejected"}],
    }
    assert Template(items).evaluate({}) == [f"Tidemark-{name}" for name in DATA_SETS]


def test_a_refresh_may_import_these_data_sets_and_nothing_else(everything):
    found = {
        (action, as_text(resource).rsplit(":", 1)[-1])
        for actions, statement in statements(everything, "ReportsRefreshesRefreshRole")
        for action in actions
        if not action.startswith(("xray:", "logs:"))
        for resource in listed(statement["Resource"])
    }

    assert found == {
        (f"quicksight:{action}", f"dataset/Tidemark-{name}/ingestion/*")
        for action in ("CreateIngestion", "DescribeIngestion")
        for name in DATA_SETS
    }


def test_the_api_accepts_each_call_of_a_refresh_and_has_the_errors_it_names(refresh_machine):
    model = get_session().get_service_model("quicksight")
    states = refresh_machine[0]["States"]["RefreshDataSets"]["ItemProcessor"]["States"].values()

    for state in (each for each in states if each["Type"] == "Task"):
        call = state["Resource"].rsplit(":", 1)[-1]
        operation = model.operation_model(call[0].upper() + call[1:])
        arguments = {**state["Arguments"], "AwsAccountId": "123456789012", "IngestionId": "name"}
        errors = [
            name.removeprefix("QuickSight.")
            for retry in state["Retry"]
            for name in retry["ErrorEquals"]
        ]

        report = ParamValidator().validate(arguments, operation.input_shape)
        assert report.generate_report() == ""
        assert {*errors} - {"SdkClientException"} <= {each.name for each in operation.error_shapes}
        assert state["TimeoutSeconds"] <= 60


def test_the_outputs_name_the_state_machine_that_refreshes(everything):
    (output,) = everything.find_outputs("RefreshStateMachine").values()

    (machine,) = output["Value"].values()
    properties = everything.to_json()["Resources"][machine]["Properties"]
    assert "createIngestion" in properties["DefinitionString"]


def test_a_refresh_is_no_state_of_a_run(everything):
    for machine in everything.find_resources("AWS::StepFunctions::StateMachine").values():
        properties = machine["Properties"]
        refreshes = "quicksight" in properties["DefinitionString"]
        assert refreshes == ("DataSets" in properties["DefinitionSubstitutions"])
