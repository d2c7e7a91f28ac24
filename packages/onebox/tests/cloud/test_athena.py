"""Athena on one machine, through the Athena, Glue and S3 APIs, and CloudFormation."""

import gzip
import json
import threading
import time

import pytest
from botocore.exceptions import ClientError
from endless import CROSS_JOIN
from moto.athena.models import athena_backends
from moto.moto_api._internal.models import moto_api_backend

from onebox.app import ACCOUNT, REGION
from onebox.cloud import athena, objects, replacements, stacks
from onebox.cloud.server import Server

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
        "SerdeInfo": {"SerializationLibrary": "org.apache.hive.hcatalog.data.JsonSerDe"},
    },
}


@pytest.fixture(scope="module")
def server():
    """A separate server, since moto binds its S3 classes with the first request."""
    with Server(0) as server:
        yield server.endpoint


@pytest.fixture
def endpoint(server, tmp_path):
    with objects.install(tmp_path / "objects"):
        yield server
        moto_api_backend.reset()


@pytest.fixture
def api(endpoint, tmp_path):
    installed = athena.AthenaQueries(endpoint, tmp_path / "tables")
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
def await_end(api):
    def await_end(query_id):
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            execution = api.get_query_execution(QueryExecutionId=query_id)["QueryExecution"]
            if execution["Status"]["State"] not in {"QUEUED", "RUNNING"}:
                return execution
        raise AssertionError(f"{query_id} does not end")

    return await_end


def rows(answer):
    return [
        [cell.get("VarCharValue") for cell in row["Data"]] for row in answer["ResultSet"]["Rows"]
    ]


def test_a_query_gives_its_rows_under_the_names_of_its_columns(api, start, await_end):
    query_id = start("SELECT run_id, value, NULL AS none FROM rates ORDER BY value")
    execution = await_end(query_id)
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


def test_the_oldest_ended_queries_are_forgotten(api, start, await_end, monkeypatch):
    monkeypatch.setattr(replacements, "_MOST_CELLS", 1)
    monkeypatch.setattr(replacements, "_READ_SECONDS", 0.0)
    first, second = start("SELECT 1", ClientRequestToken="a" * 32), start("SELECT 2")
    for query in (first, second):
        await_end(query)
    third = start("SELECT 1", ClientRequestToken="a" * 32)

    with pytest.raises(ClientError, match=f"QueryExecution {first} was not found"):
        api.get_query_execution(QueryExecutionId=first)
    assert third != first
    listed = api.list_query_executions(WorkGroup="people")["QueryExecutionIds"]
    assert set(listed) == {second, third}


def test_a_result_stays_for_its_reader_whatever_newer_queries_have(
    api, start, await_end, monkeypatch
):
    monkeypatch.setattr(replacements, "_MOST_CELLS", 1)
    first = start("SELECT n FROM (VALUES 1, 2, 3) AS t(n) ORDER BY n")
    await_end(first)
    page = api.get_query_results(QueryExecutionId=first, MaxResults=2)
    for _ in range(2):
        await_end(start("SELECT 2"))

    rest = api.get_query_results(QueryExecutionId=first, NextToken=page["NextToken"])
    assert len(rest["ResultSet"]["Rows"]) == 2


def test_a_query_scans_only_the_bytes_of_matching_partitions(endpoint, start, await_end):
    execution = await_end(start("SELECT count(*) FROM rates WHERE suite = ?", "'sleeper'"))
    key = "tables/rates/suite=sleeper/year=2026/run.jsonl.gz"
    size = endpoint.client("s3").head_object(Bucket="results", Key=key)["ContentLength"]
    assert execution["Statistics"]["DataScannedInBytes"] == size
    assert execution["Statistics"]["EngineExecutionTimeInMillis"] >= 0
    assert execution["ExecutionParameters"] == ["'sleeper'"]


def test_a_result_is_written_to_the_output_location(endpoint, start, await_end):
    query_id = start("SELECT run_id, value FROM rates WHERE year = 2025")
    location = await_end(query_id)["ResultConfiguration"]["OutputLocation"]
    assert location == f"s3://results/athena/{query_id}.csv"
    file = endpoint.client("s3").get_object(Bucket="results", Key=f"athena/{query_id}.csv")
    assert file["Body"].read() == b'"run_id","value"\n"rocksdb2025","1.5"\n'


def test_a_result_comes_in_pages(api, start, await_end):
    query_id = start("SELECT n FROM (VALUES 1, 2, 3) AS t(n) ORDER BY n")
    await_end(query_id)
    pages = api.get_paginator("get_query_results").paginate(
        QueryExecutionId=query_id, PaginationConfig={"PageSize": 3}
    )
    assert [rows(page) for page in pages] == [[["n"], ["1"], ["2"]], [["3"]]]


def test_a_result_larger_than_a_page_is_complete(api, start, await_end, endpoint):
    lines = "".join(json.dumps({"run_id": str(number)}) + "\n" for number in range(2500))
    endpoint.client("s3").put_object(
        Bucket="results",
        Key="tables/rates/suite=rocksdb/year=2001/run.jsonl.gz",
        Body=gzip.compress(lines.encode()),
    )
    query_id = start("SELECT run_id FROM rates WHERE year = 2001")
    await_end(query_id)
    pages = api.get_paginator("get_query_results").paginate(QueryExecutionId=query_id)
    all_rows = [row for page in pages for row in rows(page)]
    assert all_rows == [["run_id"], *([str(number)] for number in range(2500))]


def test_a_replaced_object_is_read_again(api, endpoint, start, await_end):
    endpoint.client("s3").put_object(
        Bucket="results",
        Key="tables/rates/suite=sleeper/year=2026/run.jsonl.gz",
        Body=gzip.compress(b'{"run_id": "again"}'),
    )
    query_id = start("SELECT run_id FROM rates WHERE suite = 'sleeper'")
    await_end(query_id)
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
def test_a_query_that_fails_says_why(api, start, await_end, query, reason):
    query_id = start(query)
    status = await_end(query_id)["Status"]
    assert (status["State"], status["StateChangeReason"]) == ("FAILED", reason)
    with pytest.raises(ClientError, match="Final query state: FAILED"):
        api.get_query_results(QueryExecutionId=query_id)


def test_a_query_above_the_scan_limit_of_its_workgroup_is_cancelled(
    api, endpoint, start, await_end
):
    least = 10_000_000
    api.create_work_group(
        Name="poor", Configuration=configuration(BytesScannedCutoffPerQuery=least)
    )
    endpoint.client("s3").put_object(
        Bucket="results", Key="tables/rates/suite=sleeper/year=2026/large.gz", Body=bytes(least)
    )
    within = await_end(start("SELECT count(*) FROM rates WHERE suite = 'rocksdb'", group="poor"))
    beyond = await_end(start("SELECT count(*) FROM rates", group="poor"))
    assert within["Status"]["State"] == "SUCCEEDED"
    assert beyond["Status"]["State"] == "CANCELLED"
    assert beyond["Status"]["StateChangeReason"] == "Bytes scanned limit was exceeded"


def test_only_an_enforced_workgroup_location_overrides_the_location_of_a_request(
    api, start, await_end
):
    api.create_work_group(
        Name="free", Configuration=configuration(EnforceWorkGroupConfiguration=False)
    )
    requested = {"ResultConfiguration": {"OutputLocation": "s3://results/elsewhere"}}
    for group, folder in (("people", "athena"), ("free", "elsewhere")):
        query_id = start("SELECT 1", group=group, **requested)
        location = await_end(query_id)["ResultConfiguration"]["OutputLocation"]
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
def test_a_refused_request_starts_no_query(api, request_, reason):
    with pytest.raises(api.exceptions.InvalidRequestException, match=reason):
        api.start_query_execution(**{"QueryString": "SELECT 1", "WorkGroup": "people", **request_})
    assert api.list_query_executions(WorkGroup="people")["QueryExecutionIds"] == []


def test_a_repeated_request_starts_one_query(api, start, await_end):
    token = "a-token-of-at-least-32-characters"
    ids = {start("SELECT 1", ClientRequestToken=token) for _ in range(2)}
    assert api.list_query_executions(WorkGroup="people")["QueryExecutionIds"] == list(ids)
    await_end(ids.pop())


def test_a_stopped_query_is_cancelled_and_has_no_result(api, start, await_end, monkeypatch):
    proceed = threading.Event()
    monkeypatch.setattr(
        athena.BucketObjects, "read", lambda *_: proceed.wait(SECONDS) and gzip.compress(b"")
    )
    query_id = start("SELECT run_id FROM rates")
    with pytest.raises(ClientError, match="Query has not yet finished"):
        api.get_query_results(QueryExecutionId=query_id)
    api.stop_query_execution(QueryExecutionId=query_id)
    assert await_end(query_id)["Status"]["State"] == "CANCELLED"
    proceed.set()
    with pytest.raises(ClientError, match="Final query state: CANCELLED"):
        api.get_query_results(QueryExecutionId=query_id)


def test_stopped_queries_end_and_others_are_answered_meanwhile(api, start, await_end):
    endless = [start(CROSS_JOIN) for _ in range(4)]
    waiting = start("SELECT 1")
    assert len(api.list_query_executions(WorkGroup="people")["QueryExecutionIds"]) == 5
    for query_id in endless:
        api.stop_query_execution(QueryExecutionId=query_id)
    assert {await_end(query_id)["Status"]["State"] for query_id in endless} == {"CANCELLED"}
    assert await_end(waiting)["Status"]["State"] == "SUCCEEDED"


def test_a_query_beyond_the_time_limit_fails_and_says_so(start, await_end, monkeypatch):
    monkeypatch.setattr(athena.athena, "MOST_SECONDS", 0.0)
    status = await_end(start(CROSS_JOIN))["Status"]
    assert (status["State"], status["StateChangeReason"]) == ("FAILED", "Query timeout")


def test_a_query_whose_client_has_died_is_cancelled_and_says_so(start, await_end, monkeypatch):
    monkeypatch.setattr("cwli.cancellation.SILENCE_SECONDS", 0.0)  # each request is the last
    status = await_end(start(CROSS_JOIN))["Status"]
    assert status["State"] == "CANCELLED"
    assert status["StateChangeReason"].startswith("Nobody has asked for this query for ")


def test_queries_that_no_client_has_asked_for_make_room_for_others(start, await_end, monkeypatch):
    monkeypatch.setattr("cwli.cancellation.SILENCE_SECONDS", 0.5)
    for _ in range(4):
        start(CROSS_JOIN)
    assert await_end(start("SELECT 1"))["Status"]["State"] == "SUCCEEDED"


def test_closing_cancels_the_running_queries(endpoint, start):
    start(CROSS_JOIN)  # the end of the test closes Athena


def test_an_ended_query_cannot_be_cancelled(api, start, await_end):
    query_id = start("SELECT 1")
    await_end(query_id)
    api.stop_query_execution(QueryExecutionId=query_id)
    assert await_end(query_id)["Status"]["State"] == "SUCCEEDED"


def test_an_unknown_query_is_an_error(api):
    with pytest.raises(
        api.exceptions.InvalidRequestException, match="QueryExecution x was not fou"
    ):
        api.get_query_execution(QueryExecutionId="x")


@pytest.mark.parametrize("page", [{"MaxResults": 1001}, {"NextToken": "x"}])
def test_an_invalid_page_is_refused(api, start, await_end, page):
    query_id = start("SELECT 1")
    await_end(query_id)
    with pytest.raises(api.exceptions.InvalidRequestException, match=next(iter(page))):
        api.get_query_results(QueryExecutionId=query_id, **page)


def test_an_unsupported_action_is_refused_by_name(api):
    with pytest.raises(ClientError, match="CreatePreparedStatement is not supported on one machi"):
        api.create_prepared_statement(
            StatementName="a", WorkGroup="people", QueryStatement="SELECT 1"
        )


def test_closing_restores_the_methods_of_moto(endpoint, tmp_path):
    athena.AthenaQueries(endpoint, tmp_path / "tables").close()
    api = endpoint.client("athena")
    started = api.start_query_execution(QueryString="SELECT 1")["QueryExecutionId"]
    assert started in athena_backends[ACCOUNT][REGION].executions


def test_closing_keeps_the_rows_of_new_objects(endpoint, api, tmp_path):
    for number in range(10):
        endpoint.client("s3").put_object(
            Bucket="results",
            Key=f"tables/rates/suite=sleeper/year=2026/{number}.jsonl.gz",
            Body=gzip.compress(b'{"value": 1}'),
        )
    athena.AthenaQueries(endpoint, tmp_path / "others").close()
    assert len(list((tmp_path / "others").rglob("*.parquet"))) == 1


def damaged(endpoint, number):
    """Store an object, and damage its file."""
    key = f"tables/rates/suite=rocksdb/year=2026/{number}.jsonl.gz"
    endpoint.client("s3").put_object(Bucket="results", Key=key, Body=b"rows")
    objects.FileKey.files.find("results", key).path.write_bytes(b"zero")
    return f"s3://results/{key} is damaged: "


def test_a_result_lacks_damaged_objects_and_names_them(endpoint, api, start, await_end):
    sentences = [damaged(endpoint, number) for number in range(2)]

    status = await_end(start("SELECT run_id FROM rates ORDER BY 1"))["Status"]

    assert status["State"] == "SUCCEEDED"
    for line, sentence in zip(status["StateChangeReason"].splitlines(), sentences, strict=True):
        assert line.startswith(sentence)
        assert "`tidemark doctor`" in line
    again = start("SELECT run_id FROM rates ORDER BY 1")
    await_end(again)
    names = [row[0] for row in rows(api.get_query_results(QueryExecutionId=again))]
    assert names == ["run_id", "rocksdb2025", "rocksdb2026", "sleeper2026"]


def test_closing_leaves_damaged_objects_out_of_the_kept_rows(endpoint, api, tmp_path):
    for number in range(10):
        damaged(endpoint, number)

    athena.AthenaQueries(endpoint, tmp_path / "others").close()

    assert not list((tmp_path / "others").rglob("*.parquet"))


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


def test_a_stack_creates_a_database_with_tables_and_a_workgroup_with_saved_queries(
    api, endpoint, start, await_end
):
    replacements = stacks.install()
    cloudformation = endpoint.client("cloudformation")
    cloudformation.create_stack(StackName="tables", TemplateBody=json.dumps(TEMPLATE))
    (stack,) = cloudformation.describe_stacks(StackName="tables")["Stacks"]
    replacements.restore()
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
    assert await_end(query_id)["Status"]["State"] == "SUCCEEDED"
    assert rows(api.get_query_results(QueryExecutionId=query_id)) == [["_col0"], ["2.5E7"]]


def test_the_tables_of_a_database_are_described(api):
    where = {"CatalogName": "AwsDataCatalog", "DatabaseName": "tidemark"}
    (table,) = api.list_table_metadata(**where)["TableMetadataList"]
    assert table == api.get_table_metadata(**where, TableName="rates")["TableMetadata"]
    assert table["Columns"][1] == {"Name": "value", "Type": "double"}
    assert [column["Name"] for column in table["PartitionKeys"]] == ["suite", "year"]
    listed = api.list_databases(CatalogName="AwsDataCatalog")["DatabaseList"]
    assert {"Name": "tidemark"} in listed
    with pytest.raises(ClientError, match=r"tidemark.none does not exist in AwsDataCatalog"):
        api.get_table_metadata(**where, TableName="none")
