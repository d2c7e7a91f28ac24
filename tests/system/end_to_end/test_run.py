"""Whole runs through the deployed template on this machine."""

import json
import re
import socket

import pytest
from botocore.exceptions import ClientError

from onebox.cloud.deployment import synthesise
from onebox.logs.store import LogStore
from tests.system.end_to_end.raw_lines import mean_by_grep_and_awk
from tidemark import __version__
from tidemark.money.prices import list_prices
from tidemark.store.run_objects import find_report
from tidemark.store.stored_plan import find_plan

LOG_GROUP = "/Tidemark/rocksdb"

METRICS = (
    "ingest_rate",
    "ingest_engine_rate",
    "ingest_upload_rate",
    "ingest_cpu",
    "compaction_rate",
    "compaction_cpu",
)


def keys(deployed, prefix):
    s3 = deployed.cloud.endpoint.client("s3")
    listed = s3.list_objects_v2(Bucket=deployed.stack.bucket, Prefix=prefix)
    return [entry["Key"] for entry in listed.get("Contents", [])]


def test_one_machine_waits_a_short_time_for_lines_that_no_query_finds(deployed):
    assert json.loads(deployed.cloud.app.context)["logsDeadlineSeconds"] == 20


def test_the_cloud_created_every_resource_of_the_template(deployed):
    assembly = synthesise(deployed.state, deployed.cloud.app)
    template = json.loads((assembly / "Tidemark.template.json").read_text())

    formation = deployed.cloud.endpoint.client("cloudformation")
    pages = formation.get_paginator("list_stack_resources").paginate(StackName="Tidemark")
    created = [entry for page in pages for entry in page["StackResourceSummaries"]]

    assert {entry["LogicalResourceId"] for entry in created} == set(template["Resources"])


def test_every_trial_gives_a_rate_for_every_metric(deployed, measured):
    rates = deployed.rows(measured, "rates")

    assert [(row["trial"], row["metric"]) for row in rates] == [
        (trial, metric) for trial in (1, 2) for metric in METRICS
    ]
    assert all(row["value"] > 0 for row in rates)
    assert all(row["samples"] == row["expected"] for row in rates)
    assert {row["version"] for row in rates} == {"9.0.0", "9.8.4"}
    assert all(row["cpu_model"] and row["environment"] for row in rates)
    # One machine has no image; the digest is that of the workload's folder and the harness.
    (digest,) = {row["image_digest"] for row in rates}
    assert re.fullmatch("sha256:[0-9a-f]{64}", digest)


def test_every_sample_names_the_machine_of_its_task(deployed, measured):
    samples = deployed.rows(measured, "task_rates")

    assert {row["host"] for row in samples} == {socket.gethostname()}
    assert all(row["cpu_model"] for row in samples)
    # Lines of ingest have seconds; lines of compaction have none.
    assert {row["metric"] for row in samples if row["recomputed"]} <= {*METRICS[:3]}


def test_the_rates_of_engine_and_upload_add_up_to_that_of_ingest(deployed, measured):
    values = {}
    for row in sorted(deployed.rows(measured, "task_rates"), key=lambda row: row["logged_at"]):
        values.setdefault((row["trial"], row["metric"]), []).append(row["value"])
    for trial in (1, 2):
        whole, engine, upload = (values[trial, metric] for metric in METRICS[:3])
        summed = [1 / (1 / one + 1 / other) for one, other in zip(engine, upload, strict=True)]
        assert summed == pytest.approx(whole, rel=1e-2)


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("ingest_rate", "to S3"),
        ("ingest_engine_rate", "Engine ingested"),
        ("ingest_upload_rate", "Uploaded"),
        ("compaction_rate", "compaction read"),
    ],
)
def test_the_rate_equals_that_of_grep_and_awk_over_the_raw_log(
    deployed, measured, tmp_path, metric, words
):
    streams = {}
    for row in deployed.rows(measured, "task_rates"):
        if row["metric"] == metric:
            streams.setdefault(row["trial"], set()).add(row["log_stream"])
    store = LogStore(deployed.state / "logs")

    for row in deployed.rows(measured, "rates"):
        if row["metric"] != metric:
            continue
        raw = tmp_path / f"{metric}-{row['trial']}.log"
        mean, count = mean_by_grep_and_awk(store, LOG_GROUP, streams[row["trial"]], words, raw)
        assert count == row["samples"]
        assert row["value"] == pytest.approx(mean, rel=1e-9)


def test_the_working_data_of_each_trial_is_deleted(deployed, measured):
    assert keys(deployed, f"work/data/{measured.run_id}/") == []


def test_the_tasks_of_a_suite_may_not_touch_results_logs_or_functions(deployed, measured):
    endpoint, bucket = deployed.cloud.endpoint, deployed.stack.bucket
    ecs = endpoint.client("ecs")
    names = ecs.list_task_definitions()["taskDefinitionArns"]
    (name,) = [name for name in names if "TestsRocksdbTask" in name]
    role = ecs.describe_task_definition(taskDefinition=name)["taskDefinition"]["taskRoleArn"]
    s3, logs = (endpoint.client(service, role=role) for service in ("s3", "logs"))
    trial = {"Bucket": bucket, "Key": f"runs/{measured.run_id}/trials/001.json"}
    stream = {"logGroupName": "/Tidemark/rocksdb", "logStreamName": "rocksdb/rocksdb/another"}
    function = {"FunctionName": deployed.stack.outputs["SweepRunsFunction"]}

    for call, arguments in (
        (s3.get_object, trial),
        (s3.put_object, trial),
        (s3.delete_object, trial),
        (s3.list_objects_v2, {"Bucket": bucket, "Prefix": "work/data/"}),
        (logs.create_log_stream, stream),
        (endpoint.client("lambda", role=role).invoke, function),
    ):
        with pytest.raises(ClientError, match="AccessDenied"):
            call(**arguments)


def test_the_report_names_versions_machine_and_note(deployed, measured):
    report = find_report(deployed.client.bucket, "rocksdb", measured.run_id, "report.md").decode()

    assert "## ingest_rate" in report
    assert "| 9.0.0 | rocksdict==0.3.23 |" in report
    assert "Note: a note" in report
    assert "| cpu_model | " in report


def test_the_outcome_is_recorded(deployed, measured):
    (row,) = deployed.rows(measured, "runs")

    assert (row["status"], row["trials_done"], row["note"]) == ("complete", 2, "a note")
    assert row["task_seconds"] > 0
    assert row["tidemark_version"] == __version__


def test_the_cost_of_a_run_is_the_aws_bill_for_its_tasks_and_queries(deployed, measured):
    (row,) = deployed.rows(measured, "runs")
    plan = find_plan(deployed.client.bucket, measured.run_id)
    tasks = [
        task
        for trial in deployed.trials(measured)
        for test in trial["tests"]
        for task in test["tasks"]
    ]

    # Fargate bills at least a minute, and every task is shorter.
    assert len(tasks) == 2 * 2 * 2
    assert row["cost_usd"] == pytest.approx(
        list_prices().of_tasks(plan.suite.task, 60 * len(tasks))
        + list_prices().of_queries(row["insights_bytes"])
    )
    assert row["insights_bytes"] > 0


def test_cloudwatch_has_the_metrics_of_rates_and_of_run_ends(deployed, measured):
    listed = deployed.cloud.endpoint.client("cloudwatch").list_metrics(Namespace="Tidemark")

    assert {
        (metric["MetricName"], *sorted((d["Name"], d["Value"]) for d in metric["Dimensions"]))
        for metric in listed["Metrics"]
    } == {
        (
            metric,
            ("stack", "Tidemark"),
            ("suite", "rocksdb"),
            ("test", metric.partition("_")[0]),
            ("version", version),
        )
        for metric in METRICS
        for version in ("9.0.0", "9.8.4")
    } | {
        ("RunFailed", ("stack", "Tidemark"), ("suite", "rocksdb")),
        ("MissedSchedules", ("stack", "Tidemark")),
    }


def test_a_bad_input_is_rejected_with_a_reason_and_starts_no_task(deployed, rejected):
    run, status, cause = rejected
    ecs = deployed.cloud.endpoint.client("ecs")
    cluster = ecs.list_clusters()["clusterArns"][0]

    assert status == "FAILED"
    assert cause == "versions: '../x' is not a version of RocksDB; expected the form of 9.8.4"
    arns = [
        arn
        for status in ("RUNNING", "STOPPED")
        for arn in ecs.list_tasks(cluster=cluster, desiredStatus=status)["taskArns"]
    ]
    tasks = ecs.describe_tasks(cluster=cluster, tasks=arns)["tasks"]
    assert run.run_id not in {task["group"] for task in tasks}
    outcome = deployed.stored(f"runs/{run.run_id}/outcome.json")
    assert json.loads(outcome)["status"] == "rejected"


def test_a_failed_task_fails_its_run_with_a_reason(deployed, failed):
    run, status, cause = failed
    (trial,) = deployed.trials(run)

    assert status == "FAILED"
    assert cause.startswith(
        "1 of 1 trials did not give all rates; the first is trial 1 (9.0.0): ingest: "
    )
    assert trial["reason"].startswith(
        "ingest: task 0: its container ended with exit code 2: "
        "rocksdict==0.3.23 could not be installed: "
    )
    assert [test["status"] for test in trial["tests"]] == ["failed", "skipped"]
