"""The columns and types of Athena's tables, for their writers and for the Glue catalogue.

Each file of a table holds one run's rows as gzipped JSON lines, under
``tables/<table>/suite=<suite>/year=<yyyy>/<run_id>.jsonl.gz``; ``suite`` is the partition. A query
lists each projected partition of its tables: a partition of each year would be a hundred requests
for each suite. Times are UTC, in ``TIMESTAMP_FORMAT``. New columns are only ever
added at the end, and ``schema`` counts the additions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

SCHEMA = 7
TIMESTAMP_FORMAT = "yyyy-MM-dd HH:mm:ss.SSS"
"""The form of a time, as Hive writes forms."""
PARTITIONS: Mapping[str, str] = {"suite": "string"}

_TIMES = {"started_at": "timestamp", "ended_at": "timestamp"}

# By table: each column's Athena type. Units in brackets.
_OF_ALL_RUNS: Mapping[str, Mapping[str, str]] = {
    # Key: run_id.
    "runs": {
        "run_id": "string",
        "status": "string",  # complete | incomplete | failed | rejected | aborted
        "reason": "string",
        "trigger": "string",  # console | schedule | cli | import
        "note": "string",
        **_TIMES,
        "input": "string",  # the resolved request, JSON
        "versions": "array<string>",
        "baseline": "string",
        "repetitions": "int",
        "tasks": "int",
        "records": "bigint",
        "trials_planned": "int",
        "trials_done": "int",
        "seed": "bigint",
        "execution_arn": "string",
        "suite_digest": "string",
        "task_seconds": "double",  # [s]
        "schema": "int",
        "cost_usd": "double",  # of the recorded tasks and log queries, on AWS [USD]
        "insights_bytes": "bigint",  # scanned by the log queries [B]
        "athena_bytes": "bigint",  # scanned by Athena [B]; always null so far
        "tidemark_version": "string",
        "resumes": "array<string>",  # started_at, trigger and note of each, JSON
        "parameters": "string",  # canonical JSON, null if tasks and records are all
    },
    # Key: run_id, trial, test, metric, statistic, labels.
    "rates": {
        "run_id": "string",
        "trial": "int",
        "test": "string",
        "metric": "string",
        "statistic": "string",  # mean | p99 | total … as the suite names it
        "labels": "string",  # canonical JSON, '' when none
        "version": "string",
        "version_order": "string",  # sorts as versions do
        "unit": "string",
        "direction": "string",  # higher | lower is better
        "value": "double",  # [unit], null if none
        "value_text": "string",  # as imported
        "samples": "int",
        "expected": "int",
        "not_finite": "int",
        "stddev": "double",  # [unit]
        "min": "double",  # [unit]
        "max": "double",  # [unit]
        "records": "bigint",
        "span_seconds": "double",  # first start to last stop of the test's tasks [s]
        "repetition": "int",
        "excluded": "boolean",
        "status": "string",  # ok | incomplete | failed | skipped
        "reason": "string",
        **_TIMES,
        "environment": "string",  # digest of the machines that the tasks logged
        "package": "string",
        "cpu_model": "string",
        "arch": "string",
        "provenance": "string",  # measured | imported
        "source": "string",  # of imported values
        "schema": "int",
        "warm_up": "boolean",
        "image_digest": "string",
        "title": "string",  # as people name the figure: compaction rate (records/s)
    },
    # One row per sample. Key: run_id, trial, test, metric, labels, log_stream, logged_at, line.
    "task_rates": {
        "run_id": "string",
        "trial": "int",
        "test": "string",
        "metric": "string",
        "labels": "string",
        "log_stream": "string",
        "logged_at": "timestamp",
        "line": "int",
        "version": "string",
        "task_id": "string",
        "job": "string",
        "value": "double",  # [unit], null unless finite
        "value_text": "string",  # as logged
        "records": "bigint",
        "seconds": "double",  # run time of the task [s]
        "exit_code": "int",
        "stop_category": "string",
        "excluded": "boolean",
        "schema": "int",
        "recomputed": "double",  # records over the job's seconds, if its line has them [1/s]
        "host": "string",
        "cpu_model": "string",
        "zone": "string",
    },
    # One row per logged usage of a task. Key: run_id, trial, test, task_id, logged_at.
    "task_usage": {
        "run_id": "string",
        "trial": "int",
        "test": "string",
        "version": "string",
        "task_id": "string",
        "logged_at": "timestamp",
        "second": "double",  # since the test's first task started [s]
        "cpu": "double",  # [vCPU]
        "memory": "double",  # [MiB]
        "network_in": "double",  # [B/s]
        "network_out": "double",  # [B/s]
        "disk_read": "double",  # since the last logged usage [B]
        "disk_written": "double",  # since the last logged usage [B]
        "excluded": "boolean",
        "schema": "int",
    },
    # The figures of each version of a run, over its trials that count. Key: run_id, test, metric,
    # statistic, labels, version.
    "version_rates": {
        "run_id": "string",
        "test": "string",
        "metric": "string",
        "statistic": "string",
        "labels": "string",
        "unit": "string",
        "direction": "string",  # higher | lower is better
        "title": "string",  # as in rates
        "version": "string",
        "trials": "int",
        "planned": "int",
        "samples": "int",
        "mean": "double",  # [unit], null without a trial, as the next three
        "stddev": "double",  # of the trials (n - 1) [unit], null for fewer than two
        "min": "double",  # [unit]
        "max": "double",  # [unit]
        "mean_logarithm": "double",  # of ln(rate), null if a rate is zero or below
        "first_at": "timestamp",  # the first and the last start of the test
        "last_at": "timestamp",
        "image_digest": "string",  # of the last trial
        "value_text": "string",  # an imported figure digit for digit
        "base": "string",  # the version that it is compared with
        "change": "double",  # (mean - base's mean) / base's mean
        "version_order": "string",  # sorts as versions do
        "verdict": "string",  # against the base, as the next four; null without a base
        "effect": "double",  # new / base - 1, of the pairs
        "low": "double",  # new / base - 1
        "high": "double",  # new / base - 1
        "reason": "string",
        "sizes": "string",  # tasks × records of each, or the parameters
        "provenance": "string",  # measured | imported
        "schema": "int",
    },
    # Key: run_id, test, metric, statistic, labels, version, baseline.
    "verdicts": {
        "run_id": "string",
        "test": "string",
        "metric": "string",
        "statistic": "string",
        "labels": "string",
        "version": "string",
        "baseline": "string",
        "verdict": "string",  # slower | faster | same | cannot tell
        "method": "string",
        "reason": "string",
        "effect": "double",  # new / base - 1, of the pairs
        "low": "double",  # new / base - 1
        "high": "double",  # new / base - 1
        "confidence": "double",  # of the interval from low to high
        "threshold": "double",  # the smallest effect that is slower or faster
        "detectable": "double",  # the effect that as many pairs find in four cases of five
        "trials_base": "int",
        "trials_new": "int",
        "machine_seconds": "double",  # of both versions' tasks [s]
        "schema": "int",
        "stage": "string",  # first | confirmed
        "family": "int",  # the verdicts that share the alarms by chance
        "pairs": "int",
        "more_pairs": "int",  # still needed for a verdict, null if that is not known
        "cost_usd": "double",  # of both versions' trials, on AWS [USD]
        "change": "double",  # (new - base) / base of the means of all trials
        "unlike_machines": "boolean",  # the machines of both versions differ
        "outliers": "string",  # repetitions whose pairs lie far from all others, '' for none
        "odd": "int",  # the repetition that scatters most, null if the verdict is told
        "steadiness": "string",  # less steady | steadier, null if neither is certain
    },
    # One row per frame of a profile. Key: run_id, path.
    "profiles": {
        "run_id": "string",  # the name of the profile
        "version": "string",
        "version_order": "string",
        "test": "string",
        "path": "string",  # the frames from the root, with ; between them
        "function": "string",  # the last frame of the path
        "self": "double",  # share of all samples in which the frame is the leaf
        "inclusive": "double",  # share of all samples
        "samples": "bigint",  # of the inclusive share
        "samples_of_all": "bigint",
        "least_share": "double",  # frames with a smaller inclusive share have no row
        "unit": "string",  # of the samples
        "source": "string",
        "schema": "int",
        "run": "string",  # the run whose trial was profiled, null if imported
        "trial": "int",
    },
}
_OF_NEWEST_RUN: Mapping[str, Mapping[str, str]] = {
    # The rows of each suite's newest run with rates: a query reads few bytes however many runs
    # are stored.
    "latest_rates": _OF_ALL_RUNS["rates"],
    # The changes of level, as of the suite's newest run. Key: test, metric, statistic,
    # labels, changed_run.
    "changes": {
        "run_id": "string",
        "test": "string",
        "metric": "string",
        "statistic": "string",
        "labels": "string",
        "unit": "string",  # of the levels: with a canary they are shares, as in "of 8.8.1"
        "direction": "string",  # higher | lower is better
        "changed_run": "string",  # the first run on the new level
        "changed_at": "timestamp",
        "version": "string",  # the newest of that run, or the canary if its level changed
        "version_before": "string",  # the newest of the run before
        "level_before": "double",  # [unit]
        "level_after": "double",  # [unit]
        "change": "double",  # (after - before) / before, null after a level of zero
        "verdict": "string",  # slower | faster; of a spread less steady | steadier
        "cause": "string",  # version | environment | alternation
        "accepted_level": "double",  # since the change [unit]
        "acknowledged_until": "string",  # the last day, null if nobody accepted the new level
        "acknowledged_reason": "string",
        # What the history of the figure, or of all if it is null, does not tell, as a sentence; all
        # columns of a change are then null.
        "untold": "string",
        "schema": "int",
        "title": "string",  # as in rates
        # Since 7: suspected | confirmed | new | lasting | drift, for which no version is to blame |
        # spread, whose levels are standard deviations, as shares of the figures.
        "state": "string",
        "is_open": "boolean",  # slower, not mended and not accepted
        # The last run on the new level or of a drift, null if it goes on.
        "last_run": "string",
        "last_version": "string",
        "mended_run": "string",  # the first that is back on the level before, null if none is
        "mended_version": "string",
        "each": "double",  # the change of a drift from run to run: a share, or [unit] from zero on
        "family": "bigint",  # figures of the run over which a suspicion is corrected
    },
}

TABLES: Mapping[str, Mapping[str, str]] = {**_OF_ALL_RUNS, **_OF_NEWEST_RUN}


def timestamp(moment: datetime) -> str:
    """Return a time in UTC as a timestamp(3) of Athena's JSON reader, without a zone."""
    return f"{moment:%Y-%m-%d %H:%M:%S}.{moment.microsecond // 1000:03d}"


SCAN_LIMIT_BYTES = 1024**3
"""The most bytes that one query may read: a mistake in a query fails and costs little. A run takes
about 10 kB."""
# Athena user guide, "OpenX JSON SerDe": its results can be non-deterministic, with more or fewer
# rows or unexpected nulls; "Hive JSON SerDe": timestamp.formats.
_SERDE = {
    "SerializationLibrary": "org.apache.hive.hcatalog.data.JsonSerDe",
    "Parameters": {"timestamp.formats": TIMESTAMP_FORMAT},
}


def database_name(stack: str) -> str:
    """Return the name of the database of a stack."""
    return re.sub("[^a-z0-9_]", "_", stack.lower())


def table_input(
    name: str, columns: Mapping[str, str], tables: str, suites: Sequence[str]
) -> dict[str, Any]:
    """Return a table of gzipped JSON lines with partition projection.

    ``tables`` is the location of all tables, ``s3://bucket/prefix``. Source: AWS Glue web API
    reference, TableInput.
    """
    location = f"{tables}/{name}/"
    return {
        "Name": name,
        "TableType": "EXTERNAL_TABLE",
        "PartitionKeys": _columns(PARTITIONS),
        # Athena user guide, partition projection: needs no crawler and no added partitions.
        "Parameters": {
            "EXTERNAL": "TRUE",
            "classification": "json",
            "compressionType": "gzip",
            "projection.enabled": "true",
            "projection.suite.type": "enum",
            "projection.suite.values": ",".join(suites),
            "storage.location.template": f"{location}suite=${{suite}}/",
        },
        "StorageDescriptor": {
            "Location": location,
            "Columns": _columns(columns),
            "Compressed": True,
            "InputFormat": "org.apache.hadoop.mapred.TextInputFormat",
            "OutputFormat": "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat",
            "SerdeInfo": _SERDE,
        },
    }


def _columns(types: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"Name": name, "Type": type_} for name, type_ in types.items()]
