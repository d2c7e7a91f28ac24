import re

from aws_cdk import App
from aws_cdk.assertions import Match, Template

from cdk.app import DataStack
from tidemark.model.checkout import ROOT, stored_suites, written_context
from tidemark.model.settings import read_settings
from tidemark.one_machine.stored import own_bucket
from tidemark.store.columns import PARTITIONS, SCAN_LIMIT_BYTES, TABLES

FILES = sorted((ROOT / "queries" / "sql").glob("*.sql"))


def properties(data, kind):
    return [resource["Properties"] for resource in data.find_resources(kind).values()]


def tables(template):
    inputs = [table["TableInput"] for table in properties(template, "AWS::Glue::Table")]
    return {table["Name"]: table for table in inputs}


def imported(data, kind):
    """Return the other stack's reference to the only resource of a type."""
    (resource,) = data.find_resources(kind)
    (name,) = [
        output["Export"]["Name"]
        for output in data.find_outputs("*").values()
        if output["Value"] == {"Ref": resource}
    ]
    return {"Fn::ImportValue": name}


def joined(location):
    """Return a text with ``<bucket>`` for the bucket's name."""
    parts = location["Fn::Join"][1]
    return "".join(part if isinstance(part, str) else "<bucket>" for part in parts)


def columns(entries):
    return {column["Name"]: column["Type"] for column in entries}


def test_the_database_has_the_name_of_the_stack_in_lower_case(data):
    (database,) = properties(data, "AWS::Glue::Database")

    assert database["DatabaseInput"]["Name"] == "tidemark"


def test_each_table_has_the_columns_and_partitions_that_its_writers_know(data):
    by_name = tables(data)

    assert set(by_name) == set(TABLES)
    for name, table in by_name.items():
        assert columns(table["StorageDescriptor"]["Columns"]) == TABLES[name]
        assert columns(table["PartitionKeys"]) == PARTITIONS


def test_each_table_reads_gzipped_json_lines_under_its_own_prefix(data):
    for name, table in tables(data).items():
        storage = table["StorageDescriptor"]
        assert joined(storage["Location"]) == f"s3://<bucket>/tables/{name}/"
        assert storage["SerdeInfo"] == {
            "SerializationLibrary": "org.apache.hive.hcatalog.data.JsonSerDe",
            "Parameters": {"timestamp.formats": "yyyy-MM-dd HH:mm:ss.SSS"},
        }
        assert table["TableType"] == "EXTERNAL_TABLE"


def test_partitions_are_projected_to_where_the_writers_put_them(data):
    for name, table in tables(data).items():
        parameters = table["Parameters"]
        assert parameters["projection.enabled"] == "true"
        assert parameters["projection.suite.values"].split(",") == stored_suites()
        assert joined(parameters["storage.location.template"]) == (
            f"s3://<bucket>/tables/{name}/suite=${{suite}}/"
        )


def test_the_workgroup_limits_a_query_and_sets_the_place_of_its_results(data):
    (workgroup,) = properties(data, "AWS::Athena::WorkGroup")
    configuration = workgroup["WorkGroupConfiguration"]
    result = configuration["ResultConfiguration"]

    assert workgroup["Name"] == "Tidemark"
    assert configuration["EnforceWorkGroupConfiguration"] is True
    # docs/security.md promises a gibibyte at most.
    assert configuration["BytesScannedCutoffPerQuery"] == SCAN_LIMIT_BYTES == 2**30
    assert configuration["EngineVersion"] == {"SelectedEngineVersion": "Athena engine version 3"}
    assert joined(result["OutputLocation"]) == "s3://<bucket>/athena/"
    assert result["EncryptionConfiguration"] == {"EncryptionOption": "SSE_S3"}


def test_every_query_is_saved_with_the_text_and_the_title_of_its_file(template):
    queries = properties(template, "AWS::Athena::NamedQuery")

    assert {query["QueryString"] for query in queries} == {path.read_text() for path in FILES}
    assert sorted(query["Name"] for query in queries) == [
        "Changes of level", "Events of releases", "Latest run", "Newest runs",
        "Omissions of histories", "Rates by run", "Rates by version", "Run health",
        "Runs by week", "Samples of a run", "Samples of the newest runs",
        "Trials of the newest runs", "Unfinished runs", "Versions compared",
    ]  # fmt: skip
    for query in queries:
        assert re.fullmatch(r"[A-Z].*\.", query["Description"])
        assert "--" not in query["Description"]


def test_saved_queries_belong_to_the_database_and_the_workgroup(data, template):
    expected = imported(data, "AWS::Glue::Database"), imported(data, "AWS::Athena::WorkGroup")

    for query in properties(template, "AWS::Athena::NamedQuery"):
        assert (query["Database"], query["WorkGroup"]) == expected


def test_commands_find_the_results_among_the_outputs(data, template):
    outputs = template.find_outputs("*")

    assert outputs["Database"]["Value"] == imported(data, "AWS::Glue::Database")
    assert outputs["WorkGroup"]["Value"] == imported(data, "AWS::Athena::WorkGroup")
    assert outputs["ResultsBucket"]["Value"] == imported(data, "AWS::S3::Bucket")


def test_the_one_machine_store_knows_the_name_of_its_results_bucket(data):
    (logical_id,) = data.find_resources("AWS::S3::Bucket")

    assert own_bucket("Tidemark") == f"tidemark-{logical_id.lower()}"


def test_a_stack_name_becomes_a_database_name_that_athena_accepts():
    settings = read_settings({**written_context(), "stackName": "Perf-Tests2"})

    Template.from_stack(DataStack(App(), settings, {})).has_resource_properties(
        "AWS::Glue::Database", {"DatabaseInput": Match.object_like({"Name": "perf_tests2"})}
    )
