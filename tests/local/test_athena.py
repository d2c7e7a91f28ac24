"""Athena on one machine, through the Athena, Glue and S3 APIs, and CloudFormation."""

import gzip
import json
import threading
import time

import pytest
from botocore.exceptions import ClientError
from moto.athena.models import athena_backends
from moto.moto_api._internal.models import moto_api_backend

from local.account import ACCOUNT, REGION
from local.cloud import athena, objects, stacks
from local.cloud.endpoint import Endpoint
from local.cloud.server import Server

SECONDS = 10
TABLE = {
    "Name": "rates",
    "TableType": "EXTERNAL_TABLE",
    "PartitionKeys": [{"Name": "suite", "Type": "string"}, {"Name": "year", "Type": "int"}],
    "Parameters": {
        "projection.enabled": "true",
        "projection.suite.type": "enum",
        "projection.suite.values": "rocksdb,sleeper",
        "projection.year.type": "integer",
        "projection.year.range": "2000,2100",
    },
    "StorageDescriptor": {
        "Location": "s3://results/tables/rates/",
        "Columns": [{"Name": "run_id", "Type": "string"}, {"Name": "value", "Type": "double"}],
        "SerdeInfo": {"SerializationLibrary": "org.openx.data.jsonserde.JsonSerDe"},
    },
}


@pytest.fixture(scope="module")
def server():
    """A server of its own: moto binds its classes of S3 with the first request."""
    with Server(0) as server:
        yield Endpoint(server.port)


@pytest.fixture
def endpoint(server, tmp_path):
    with objects.install(tmp_path / "objects"):
        yield server
        moto_api_backend.reset()


@pytest.fixture
def api(endpoint, tmp_path):
    installed = athena.install(endpoint, tmp_path / "tables")
    s3, glue = endpoint.client("s3"), endpoint.client("glue")
    s3.create_bucket(Bucket="results")
    for suite, year, value in (
        ("rocksdb", 2025, 1.5),
        ("rocksdb", 2026, 2.5e7),
        ("sleeper", 2026, 3),
    ):
        s3.put_object(
            Bucket="results",
            Key=f"tables/rates/suite={suite}/year={year}/run.jsonl.gz",
            Body=gzip.compress(json.dumps({"run_id": f"{suite}{year}", "value": value}).encode()),
        )
    glue.create_database(DatabaseInput={"Name": "tidemark"})
    glue.create_table(DatabaseName="tidemark", TableInput=TABLE)
    api = endpoint.client("athena")
    api.create_work_group(Name="people", Configuration=configuration())
    yield api
    installed.close()


def configuration(**more):
    return {"ResultConfiguration": {"OutputLocation": "s3://results/athena/"}, **more}


@pytest.fixture
def start(api):
    def start(query, *parameters, group="people", **more):
        return api.start_query_execution(
            QueryString=query,
            QueryExecutionContext={"Database": "tidemark"},
            WorkGroup=group,
            **({"ExecutionParameters": list(parameters)} if parameters else {}),
            **more,
        )["QueryExecutionId"]

    return start


@pytest.fixture
def ended(api):
    def ended(query_id):
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            execution = api.get_query_execution(QueryExecutionId=query_id)["QueryExecution"]
            if execution["Status"]["State"] not in {"QUEUED", "RUNNING"}:
                return execution
        raise AssertionError(f"{query_id} does not end")

    return ended


def rows(answer):
    return [
        [cell.get("VarCharValue") for cell in row["Data"]] for row in answer["ResultSet"]["Rows"]
    ]


def test_a_query_gives_its_rows_under_the_names_of_its_columns(api, start, ended):
    query_id = start("SELECT run_id, value, NULL AS none FROM rates ORDER BY value")
    execution = ended(query_id)
    assert execution["Status"]["State"] == "SUCCEEDED"
    assert execution["StatementType"] == "DML"
    assert execution["WorkGroup"] == "people"
    answer = api.get_query_results(QueryExecutionId=query_id)
    assert rows(answer) == [
        ["run_id", "value", "none"],
        ["rocksdb2025", "1.5", None],
        ["sleeper2026", "3.0", None],
        ["rocksdb2026", "2.5E7", None],
    ]
    columns = answer["ResultSet"]["ResultSetMetadata"]["ColumnInfo"]
    assert [(column["Name"], column["Type"]) for column in columns] == [
        ("run_id", "varchar"),
        ("value", "double"),
        ("none", "unknown"),
    ]


def test_the_bytes_scanned_are_those_of_the_partitions_that_count(endpoint, start, ended):
    execution = ended(start("SELECT count(*) FROM rates WHERE suite = ?", "'sleeper'"))
    key = "tables/rates/suite=sleeper/year=2026/run.jsonl.gz"
    size = endpoint.client("s3").head_object(Bucket="results", Key=key)["ContentLength"]
    assert execution["Statistics"]["DataScannedInBytes"] == size
    assert execution["Statistics"]["EngineExecutionTimeInMillis"] >= 0
    assert execution["ExecutionParameters"] == ["'sleeper'"]


def test_a_result_is_left_as_a_file_in_the_output_location(endpoint, start, ended):
    query_id = start("SELECT run_id, value FROM rates WHERE year = 2025")
    location = ended(query_id)["ResultConfiguration"]["OutputLocation"]
    assert location == f"s3://results/athena/{query_id}.csv"
    file = endpoint.client("s3").get_object(Bucket="results", Key=f"athena/{query_id}.csv")
    assert file["Body"].read() == b'"run_id","value"\n"rocksdb2025","1.5"\n'


def test_a_result_comes_in_pages(api, start, ended):
    query_id = start("SELECT n FROM (VALUES 1, 2, 3) AS t(n) ORDER BY n")
    ended(query_id)
    pages = api.get_paginator("get_query_results").paginate(
        QueryExecutionId=query_id, PaginationConfig={"PageSize": 3}
    )
    assert [rows(page) for page in pages] == [[["n"], ["1"], ["2"]], [["3"]]]


def test_a_result_that_is_larger_than_a_page_is_whole(api, start, ended, endpoint):
    lines = "".join(json.dumps({"run_id": str(number)}) + "\n" for number in range(2500))
    endpoint.client("s3").put_object(
        Bucket="results",
        Key="tables/rates/suite=rocksdb/year=2001/run.jsonl.gz",
        Body=gzip.compress(lines.encode()),
    )
    query_id = start("SELECT run_id FROM rates WHERE year = 2001")
    ended(query_id)
    pages = api.get_paginator("get_query_results").paginate(QueryExecutionId=query_id)
    found = [row for page in pages for row in rows(page)]
    assert found == [["run_id"], *([str(number)] for number in range(2500))]


def test_an_object_that_is_written_anew_is_read_anew(api, endpoint, start, ended):
    endpoint.client("s3").put_object(
        Bucket="results",
        Key="tables/rates/suite=sleeper/year=2026/run.jsonl.gz",
        Body=gzip.compress(b'{"run_id": "again"}'),
    )
    query_id = start("SELECT run_id FROM rates WHERE suite = 'sleeper'")
    ended(query_id)
    assert rows(api.get_query_results(QueryExecutionId=query_id)) == [["run_id"], ["again"]]


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("SELECT x FROM rates",
         "COLUMN_NOT_FOUND: line 1:8: Column 'x' cannot be resolved or requester is not authorized "
         "to access requested resources"),
        ("SELECT 1 FROM other",
         "TABLE_NOT_FOUND: line 1:15: Table 'awsdatacatalog.tidemark.other' does not exist"),
        ("SELECT 1 / 0", "DIVISION_BY_ZERO: Division by zero"),
    ],
)  # fmt: skip
def test_a_query_that_fails_says_why(api, start, ended, query, reason):
    query_id = start(query)
    status = ended(query_id)["Status"]
    assert (status["State"], status["StateChangeReason"]) == ("FAILED", reason)
    with pytest.raises(ClientError, match="Final query state: FAILED"):
        api.get_query_results(QueryExecutionId=query_id)


def test_a_query_that_scans_more_than_its_workgroup_may_is_cancelled(api, endpoint, start, ended):
    least = 10_000_000
    api.create_work_group(
        Name="poor", Configuration=configuration(BytesScannedCutoffPerQuery=least)
    )
    endpoint.client("s3").put_object(
        Bucket="results", Key="tables/rates/suite=sleeper/year=2026/large.gz", Body=bytes(least)
    )
    within = ended(start("SELECT count(*) FROM rates WHERE suite = 'rocksdb'", group="poor"))
    beyond = ended(start("SELECT count(*) FROM rates", group="poor"))
    assert within["Status"]["State"] == "SUCCEEDED"
    assert beyond["Status"]["State"] == "CANCELLED"
    assert beyond["Status"]["StateChangeReason"] == "Bytes scanned limit was exceeded"


def test_a_location_that_the_request_gives_counts_unless_the_workgroup_enforces_its_own(
    api, start, ended
):
    api.create_work_group(
        Name="free", Configuration=configuration(EnforceWorkGroupConfiguration=False)
    )
    given = {"ResultConfiguration": {"OutputLocation": "s3://results/elsewhere"}}
    for group, folder in (("people", "athena"), ("free", "elsewhere")):
        query_id = start("SELECT 1", group=group, **given)
        location = ended(query_id)["ResultConfiguration"]["OutputLocation"]
        assert location == f"s3://results/{folder}/{query_id}.csv"


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        ({"QueryString": "DROP TABLE rates"}, "DROP is not supported on one machine"),
        ({"QueryString": "SELECT ("}, "mismatched input"),
        ({"QueryString": "SELECT ?"}, "Incorrect number of parameters: expected 1 but found 0"),
        ({"WorkGroup": "nobody"}, "WorkGroup nobody is not found"),
        ({"WorkGroup": "primary"}, "No output location provided"),
        ({"QueryExecutionContext": {"Catalog": "other"}}, "Catalog other is not supported"),
        ({"ResultReuseConfiguration": {"ResultReuseByAgeConfiguration": {"Enabled": True}}},
         "StartQueryExecution has ResultReuseConfiguration "),
        ({"ResultConfiguration": {"OutputLocation": "s3://b/", "ExpectedBucketOwner": ACCOUNT}},
         "ResultConfiguration has ExpectedBucketOwner "),
    ],
)  # fmt: skip
def test_a_request_that_athena_refuses_is_not_started(api, request_, reason):
    with pytest.raises(api.exceptions.InvalidRequestException, match=reason):
        api.start_query_execution(**{"QueryString": "SELECT 1", "WorkGroup": "people", **request_})
    assert api.list_query_executions(WorkGroup="people")["QueryExecutionIds"] == []


def test_a_request_that_is_repeated_starts_one_query(api, start, ended):
    token = "a-token-of-at-least-32-characters"
    ids = {start("SELECT 1", ClientRequestToken=token) for _ in range(2)}
    assert api.list_query_executions(WorkGroup="people")["QueryExecutionIds"] == list(ids)
    ended(ids.pop())


def test_a_query_that_is_stopped_is_cancelled_and_has_no_result(api, start, ended, monkeypatch):
    proceed = threading.Event()
    monkeypatch.setattr(
        athena.BucketObjects, "read", lambda *_: proceed.wait(SECONDS) and gzip.compress(b"")
    )
    query_id = start("SELECT run_id FROM rates")
    with pytest.raises(ClientError, match="Query has not yet finished"):
        api.get_query_results(QueryExecutionId=query_id)
    api.stop_query_execution(QueryExecutionId=query_id)
    assert ended(query_id)["Status"]["State"] == "CANCELLED"
    proceed.set()
    with pytest.raises(ClientError, match="Final query state: CANCELLED"):
        api.get_query_results(QueryExecutionId=query_id)


def test_a_query_that_has_ended_is_not_cancelled_any_more(api, start, ended):
    query_id = start("SELECT 1")
    ended(query_id)
    api.stop_query_execution(QueryExecutionId=query_id)
    assert ended(query_id)["Status"]["State"] == "SUCCEEDED"


def test_an_unknown_query_is_told_so(api):
    with pytest.raises(
        api.exceptions.InvalidRequestException, match="QueryExecution x was not fou"
    ):
        api.get_query_execution(QueryExecutionId="x")


@pytest.mark.parametrize("page", [{"MaxResults": 1001}, {"NextToken": "x"}])
def test_a_page_that_cannot_be_is_refused(api, start, ended, page):
    query_id = start("SELECT 1")
    ended(query_id)
    with pytest.raises(api.exceptions.InvalidRequestException, match=next(iter(page))):
        api.get_query_results(QueryExecutionId=query_id, **page)


def test_what_is_not_over_the_engine_is_refused_by_name(api):
    with pytest.raises(ClientError, match="CreatePreparedStatement is not supported on one machi"):
        api.create_prepared_statement(
            StatementName="a", WorkGroup="people", QueryStatement="SELECT 1"
        )


def test_closing_gives_moto_its_own_methods_back(endpoint, tmp_path):
    athena.install(endpoint, tmp_path / "tables").close()
    api = endpoint.client("athena")
    started = api.start_query_execution(QueryString="SELECT 1")["QueryExecutionId"]
    assert started in athena_backends[ACCOUNT][REGION].executions


def test_closing_keeps_the_rows_that_have_gathered(endpoint, api, tmp_path):
    for number in range(10):
        endpoint.client("s3").put_object(
            Bucket="results",
            Key=f"tables/rates/suite=sleeper/year=2026/{number}.jsonl.gz",
            Body=gzip.compress(b'{"value": 1}'),
        )
    athena.install(endpoint, tmp_path / "others").close()
    assert len(list((tmp_path / "others").rglob("*.parquet"))) == 1


TEMPLATE = {
    "Resources": {
        "Database": {
            "Type": "AWS::Glue::Database",
            "Properties": {"CatalogId": ACCOUNT, "DatabaseInput": {"Name": "measured"}},
        },
        "Rates": {
            "Type": "AWS::Glue::Table",
            "Properties": {
                "CatalogId": ACCOUNT,
                "DatabaseName": {"Ref": "Database"},
                "TableInput": TABLE,
            },
        },
        "People": {
            "Type": "AWS::Athena::WorkGroup",
            "Properties": {
                "Name": "asking",
                "WorkGroupConfiguration": configuration(BytesScannedCutoffPerQuery=1073741824),
            },
        },
        "Best": {
            "Type": "AWS::Athena::NamedQuery",
            "Properties": {
                "Name": "best",
                "Database": {"Ref": "Database"},
                "QueryString": "SELECT max(value) FROM rates",
                "WorkGroup": {"Ref": "People"},
            },
        },
    },
    "Outputs": {
        "Database": {"Value": {"Ref": "Database"}},
        "Table": {"Value": {"Ref": "Rates"}},
        "WorkGroup": {"Value": {"Ref": "People"}},
        "Query": {"Value": {"Ref": "Best"}},
        "QueryId": {"Value": {"Fn::GetAtt": ["Best", "NamedQueryId"]}},
    },
}


def test_a_stack_makes_a_database_with_tables_and_a_workgroup_with_saved_queries(
    api, endpoint, start, ended
):
    replaced = stacks.install()
    cloudformation = endpoint.client("cloudformation")
    cloudformation.create_stack(StackName="tables", TemplateBody=json.dumps(TEMPLATE))
    (stack,) = cloudformation.describe_stacks(StackName="tables")["Stacks"]
    replaced.restore()
    outputs = {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}
    assert stack["StackStatus"] == "CREATE_COMPLETE"
    assert outputs.pop("Query") == outputs["QueryId"]
    saved = api.get_named_query(NamedQueryId=outputs.pop("QueryId"))["NamedQuery"]
    assert outputs == {"Database": "measured", "Table": "rates", "WorkGroup": "asking"}
    assert (saved["Name"], saved["Database"], saved["WorkGroup"]) == ("best", "measured", "asking")
    query_id = api.start_query_execution(
        QueryString=saved["QueryString"],
        QueryExecutionContext={"Database": saved["Database"]},
        WorkGroup=saved["WorkGroup"],
    )["QueryExecutionId"]
    assert ended(query_id)["Status"]["State"] == "SUCCEEDED"
    assert rows(api.get_query_results(QueryExecutionId=query_id)) == [["_col0"], ["2.5E7"]]
