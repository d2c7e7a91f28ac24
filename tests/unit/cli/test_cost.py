"""``tidemark cost``: each part of the cost of a run and of idle stacks."""

import csv
import io

from click.testing import CliRunner

from tidemark.cli import cost
from tidemark.model.request import example_input, resolve_request
from tidemark.model.suite_files import read_suites
from tidemark.money.estimate import estimate
from tidemark.money.prices import SERVICE_PRICES, list_prices


def test_the_table_has_what_each_part_costs_and_their_sums(monkeypatch):
    screen = {"Type": "AWS::CloudWatch::Dashboard", "Properties": {}}
    role = {"Type": "AWS::IAM::Role", "Properties": {}}
    templates = [{"Resources": {"A": screen, "B": role, "C": role}}]
    monkeypatch.setattr(cost, "_templates", lambda _: templates)
    suite = read_suites()["rocksdb"]
    request = resolve_request(example_input(suite), {suite.name: suite})
    whole = estimate(request, suite, list_prices())

    printed = CliRunner().invoke(cost.command, ["--suite", "rocksdb", "--format", "csv"])

    rows = [list(row.values()) for row in csv.DictReader(io.StringIO(printed.stdout))]
    assert rows == [
        ["idle month", "AWS::CloudWatch::Dashboard", "1", "3.0000", "by dashboard"],
        ["idle month", "AWS::IAM::Role", "2", "0.0000", "permissions are free"],
        ["idle month", "in all", "", f"{SERVICE_PRICES.dashboard:.4f}", ""],
        ["run of rocksdb", "Fargate tasks", f"{whole.task_seconds:,} s", f"{whole.tasks_usd:.4f}",
         whole.basis],
        ["run of rocksdb", "Log queries", f"{whole.insights_bytes:,} bytes",
         f"{whole.queries_usd:.4f}", "scanned"],
        ["run of rocksdb", "Workflow", f"{whole.transitions:,} transitions",
         f"{whole.services_usd:.4f}", "with functions, ingested log events and CloudWatch metrics"],
        ["run of rocksdb", "Athena", f"{whole.athena_bytes:,} bytes", f"{whole.athena_usd:.4f}",
         "each saved query executed once, with its requests to S3"],
        ["run of rocksdb", "in all", "", f"{whole.usd:.4f}", "us-east-1, 2026-06-17"],
    ]  # fmt: skip
