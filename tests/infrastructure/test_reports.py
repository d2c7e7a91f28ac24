"""Reports in QuickSight: what is made of the definition, who sees it, and what refreshes it."""

import json

import pytest
from botocore.session import get_session
from botocore.validate import ParamValidator

from cdk.definition import data_sets, read_definition
from local.asl.jsonata import Template
from suites.files import ROOT

GROUP = "arn:aws:quicksight:us-east-1:123456789012:group/default/Releases"
KINDS = ("Analysis", "Dashboard", "DataSet", "DataSource", "Theme")


def assets(template, kind):
    found = template.find_resources(f"AWS::QuickSight::{kind}").values()
    return [asset["Properties"] for asset in found]


def as_text(value, word="given"):
    """A value with a word in place of what another resource gives."""
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
    """What a role may do on which resources, by its logical id's beginning."""
    return [
        (
            sorted([stated["Action"]] if isinstance(stated["Action"], str) else stated["Action"]),
            stated,
        )
        for policy in template.find_resources("AWS::IAM::Policy").values()
        if any(each["Ref"].startswith(role) for each in policy["Properties"]["Roles"])
        for stated in policy["Properties"]["PolicyDocument"]["Statement"]
    ]


@pytest.fixture(scope="module")
def refreshing(everything):
    """The state machine that refreshes: its definition and what is put into it."""
    (machine,) = [
        found["Properties"]
        for name, found in everything.find_resources("AWS::StepFunctions::StateMachine").items()
        if name.startswith("ReportsRefreshes")
    ]
    return json.loads(machine["DefinitionString"]), machine["DefinitionSubstitutions"]


def test_without_the_setting_there_is_nothing_of_quicksight(template):
    assert "quicksight" not in json.dumps(template.to_json()).lower()


@pytest.mark.parametrize("kind", KINDS)
def test_every_asset_is_what_the_api_takes_but_for_what_cloudformation_adds(everything, kind):
    model = get_session().get_service_model("quicksight")
    shape = model.shape_for(f"Create{kind}Request")

    for asset in assets(everything, kind):
        arn = "arn:aws:quicksight:eu-west-2:123456789012:asset/it"
        given = {**as_text(asset, arn), "AwsAccountId": "123456789012"}
        given.pop("IngestionWaitPolicy", None)
        assert ParamValidator().validate(given, shape).generate_report() == ""


@pytest.mark.parametrize("kind", KINDS)
def test_the_group_and_nobody_else_is_granted_something_of_every_asset(everything, kind):
    found = assets(everything, kind)

    assert found
    for asset in found:
        (granted,) = asset["Permissions"]
        assert granted["Principal"] == GROUP


def test_the_group_looks_at_the_dashboard_and_changes_nothing_of_it(everything):
    (dashboard,) = assets(everything, "Dashboard")

    assert dashboard["Permissions"][0]["Actions"] == [
        "quicksight:DescribeDashboard",
        "quicksight:ListDashboardVersions",
        "quicksight:QueryDashboard",
    ]


def test_the_group_owns_the_analysis_as_quicksight_shows_it_to_nobody_else(everything):
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


def test_a_data_set_is_the_text_of_its_file_in_the_database_and_has_a_fixed_id(everything):
    found = {asset["DataSetId"]: asset for asset in assets(everything, "DataSet")}

    known = data_sets(read_definition())
    assert found.keys() == {f"Tidemark-{name}" for name in known}
    for name, data_set in known.items():
        asset = as_text(found[f"Tidemark-{name}"])
        sql = asset["PhysicalTableMap"]["sql"]["CustomSql"]
        text = (ROOT / "queries" / "sql" / f"{name}.sql").read_text()
        assert sql["SqlQuery"].endswith(f"\nSELECT * FROM (\n{text})")
        assert {column["Name"]: column["Type"] for column in sql["Columns"]} == data_set.columns
        assert asset["ImportMode"] == "SPICE"


def test_no_ratio_is_cut_to_four_places(everything):
    for asset in assets(everything, "DataSet"):
        for column in asset["PhysicalTableMap"]["sql"]["CustomSql"]["Columns"]:
            assert column.get("SubType") == ("FLOAT" if column["Type"] == "DECIMAL" else None)


def test_the_dashboard_and_the_analysis_are_the_definition_over_the_data_sets(everything):
    (dashboard,), (analysis,) = assets(everything, "Dashboard"), assets(everything, "Analysis")
    definition = dict(read_definition())
    declared = definition.pop("DataSetIdentifierDeclarations")

    assert dashboard["Definition"] == analysis["Definition"]
    assert {**definition, **dashboard["Definition"]} == dashboard["Definition"]
    for asked, given in zip(
        declared, dashboard["Definition"]["DataSetIdentifierDeclarations"], strict=True
    ):
        name, attribute = given["DataSetArn"]["Fn::GetAtt"]
        data_set = everything.to_json()["Resources"][name]["Properties"]
        assert (asked["Identifier"], attribute) == (given["Identifier"], "Arn")
        assert data_set["DataSetId"] == f"Tidemark-{asked['Identifier']}"


def test_with_both_definitions_the_template_is_one_that_cloudformation_takes(everything):
    # CloudFormation user guide, quotas: 1 MB; the CDK indents by one space.
    assert len(json.dumps(everything.to_json(), indent=1)) < 1_000_000


def test_athena_is_asked_in_a_role_that_quicksight_alone_takes_on(everything):
    (source,) = assets(everything, "DataSource")
    role = source["DataSourceParameters"]["AthenaParameters"]["RoleArn"]["Fn::GetAtt"][0]
    trusted = everything.to_json()["Resources"][role]["Properties"]["AssumeRolePolicyDocument"]

    assert [statement["Principal"] for statement in trusted["Statement"]] == [
        {"Service": "quicksight.amazonaws.com"}
    ]


# What QuickSight and, in its name, Athena call to import a data set, and why. No test can record
# these calls: there is no QuickSight on one machine.
ASKING = {
    "athena:GetWorkGroup": "QuickSight looks whether the workgroup of a data source is there",
    "athena:StartQueryExecution": "it asks",
    "athena:GetQueryExecution": "it looks whether the answer is there",
    "athena:GetQueryResults": "it reads the answer's columns",
    "athena:GetQueryResultsStream": "it reads the answer's rows",
    "athena:StopQueryExecution": "whoever cancels an import cancels its query",
    "glue:GetDatabase": "Athena looks up a table's database, and always `default`",
    "glue:GetTable": "Athena looks up a table, and how its partitions are projected",
    "glue:GetPartitions": "Athena's documentation lists it for tables that have partitions",
    "s3:GetBucketLocation": "Athena looks where the bucket of its answers is",
    "s3:ListBucket": "Athena finds the objects of a table",
    "s3:GetObject": "Athena reads them; QuickSight reads the answer",
    "s3:PutObject": "Athena writes the answer",
    "s3:AbortMultipartUpload": "Athena writes a long answer in parts",
    "s3:ListBucketMultipartUploads": "as above",
    "s3:ListMultipartUploadParts": "as above",
}


def test_that_role_reads_the_tables_of_the_data_sets_and_writes_only_answers(everything):
    found = statements(everything, "ReportsReader")
    places = {}
    for actions, stated in found:
        for action in actions:
            resources = {
                str(as_text(each)).split(":", 5)[-1] for each in _listed(stated["Resource"])
            }
            places.setdefault(action, set()).update(resources)

    assert {action for actions, _ in found for action in actions} == ASKING.keys()
    assert places["s3:PutObject"] == {"given/athena/*"}
    tables = {f"table/given/{table}" for table in ("rates", "runs", "task_rates")}
    assert places["glue:GetTable"] == {"catalog", "database/given", *tables}
    assert places["glue:GetDatabase"] == {*places["glue:GetTable"], "database/default"}
    (listing,) = [stated for actions, stated in found if actions == ["s3:ListBucket"]]
    assert listing["Condition"]["StringLike"]["s3:prefix"] == [
        "tables/rates/*", "tables/runs/*", "tables/task_rates/*", "athena/*",
    ]  # fmt: skip


def _listed(value):
    return value if isinstance(value, list) else [value]


def test_the_data_sets_are_refreshed_when_a_run_of_this_stack_has_ended(everything, refreshing):
    (rule,) = [
        found["Properties"]
        for name, found in everything.find_resources("AWS::Events::Rule").items()
        if name.startswith("ReportsRefreshes")
    ]
    definition, given = refreshing
    refreshed = definition["States"]["RefreshDataSets"]["Items"].replace(
        "${DataSets}", given["DataSets"]
    )

    assert rule["EventPattern"]["source"] == ["tidemark"]
    assert rule["EventPattern"]["detail-type"] == ["Tidemark Run Outcome"]
    assert as_text(rule["EventPattern"]["detail"]) == {
        "bucket": ["given"],
        "status": [{"anything-but": "rejected"}],
    }
    assert Template(refreshed).evaluate({}) == [
        f"Tidemark-{name}" for name in data_sets(read_definition())
    ]


def test_it_may_import_these_data_sets_and_nothing_else_of_quicksight(everything):
    found = {
        (action, as_text(resource).rsplit(":", 1)[-1])
        for actions, stated in statements(everything, "ReportsRefreshesRefreshRole")
        for action in actions
        if not action.startswith(("xray:", "logs:"))
        for resource in _listed(stated["Resource"])
    }

    assert found == {
        (f"quicksight:{action}", f"dataset/Tidemark-{name}/ingestion/*")
        for action in ("CreateIngestion", "DescribeIngestion")
        for name in data_sets(read_definition())
    }


def test_every_call_of_it_is_one_of_the_api_with_a_time_limit_and_errors_by_name(refreshing):
    model = get_session().get_service_model("quicksight")
    states = refreshing[0]["States"]["RefreshDataSets"]["ItemProcessor"]["States"].values()

    for state in (each for each in states if each["Type"] == "Task"):
        call = state["Resource"].rsplit(":", 1)[-1]
        operation = model.operation_model(call[0].upper() + call[1:])
        arguments = {**state["Arguments"], "AwsAccountId": "123456789012", "IngestionId": "name"}
        named = [
            name.removeprefix("QuickSight.")
            for retry in state["Retry"]
            for name in retry["ErrorEquals"]
        ]

        found = ParamValidator().validate(arguments, operation.input_shape)
        assert found.generate_report() == ""
        assert {*named} - {"SdkClientException"} <= {each.name for each in operation.error_shapes}
        assert state["TimeoutSeconds"] <= 60


def test_who_excludes_a_trial_is_told_what_to_refresh(everything):
    (output,) = everything.find_outputs("RefreshStateMachine").values()

    (machine,) = output["Value"].values()
    properties = everything.to_json()["Resources"][machine]["Properties"]
    assert "createIngestion" in properties["DefinitionString"]


def test_a_refresh_is_no_state_of_a_run(everything):
    for machine in everything.find_resources("AWS::StepFunctions::StateMachine").values():
        properties = machine["Properties"]
        refreshes = "quicksight" in properties["DefinitionString"]
        assert refreshes == ("DataSets" in properties["DefinitionSubstitutions"])
