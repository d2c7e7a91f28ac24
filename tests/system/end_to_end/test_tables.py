"""Equality of figures, bit for bit, in objects, Athena, history and report."""

import random
import statistics
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.checks.conformance.figures import measured_run
from tidemark.cli.decisions import record_exclusion
from tidemark.client.history import histories
from tidemark.client.tables import StatementFailed, ask_saved
from tidemark.figures.version_rates import summarise
from tidemark.store import keys
from tidemark.store.columns import PARTITIONS, TABLES
from tidemark.store.stored_plan import read_plan
from tidemark.store.stored_run import read_run


@pytest.fixture(scope="module")
def tables(deployed):
    return deployed.app.tables


def rates_of(bucket, run_id):
    """Return the rates of a run's versions, as its report has them."""
    run = read_run(bucket, read_plan(bucket, run_id))
    return summarise(run.plan, run.trials, run.exclusions)


@pytest.mark.parametrize("table", sorted(TABLES))
def test_athena_has_every_column_of_every_table(tables, table):
    answer = tables.ask(f"SELECT * FROM {table} WHERE false")

    assert list(answer.columns) == [*TABLES[table], *PARTITIONS]


def test_athena_gives_the_stored_rates_bit_for_bit(deployed, measured, tables):
    answer = tables.ask(
        "SELECT trial, metric, value, stddev, min, max FROM rates WHERE run_id = ?",
        [measured.run_id],
    )

    def text(value):
        return None if value is None else float(value)

    in_athena = {(row[0], row[1]): tuple(map(text, row[2:])) for row in answer.rows}
    assert in_athena == {
        (str(row["trial"]), row["metric"]): tuple(
            row[name] for name in ("value", "stddev", "min", "max")
        )
        for row in deployed.rows(measured, "rates")
    }


def test_the_reports_figures_equal_the_saved_query_bit_for_bit(deployed, measured, tables):
    rates = rates_of(deployed.client.bucket, measured.run_id)
    query = (Path(__file__).parents[3] / "queries" / "sql" / "rates_by_version.sql").read_text()
    # The saved query covers all runs; this one covers one run.
    of_run = query.replace("WHERE trials > 0", "WHERE run_id = ? AND trials > 0")
    assert of_run != query

    answer = tables.ask(of_run, [measured.run_id]).records()

    def number(text):
        return None if text is None else float(text)

    assert {
        (row["version"], row["metric"]): (number(row["mean"]), number(row["stddev"]))
        for row in answer
    } == {(rate.version, rate.metric): (rate.value, rate.spread) for rate in rates}


@pytest.fixture(scope="module")
def repeated(deployed):
    """Return the plan of a stored run of three trials per version; one trial is excluded.

    No other run has the versions 8.8.1 and 8.10.0, so all their figures come from this run.
    """
    plan, trials = measured_run(random.Random(3), datetime(2025, 3, 1, tzinfo=UTC))
    noisy = next(each.trial for each in plan.trials if each.version == "8.8.1")
    stored = {keys.plan(plan.run_id): plan}
    stored |= {keys.trial(plan.run_id, trial.trial): trial for trial in trials}
    for key, model in stored.items():
        deployed.cloud.endpoint.client("s3").put_object(
            Bucket=deployed.stack.bucket, Key=key, Body=model.model_dump_json().encode()
        )
    record_exclusion(deployed.app, plan.run_id, noisy, "a noisy hour", excluded=True)
    return plan


def test_means_and_spreads_are_equal_in_objects_athena_history_and_report(
    deployed, repeated, tables
):
    report = {
        (rate.version, rate.metric): (rate.value, rate.spread, rate.trials)
        for rate in rates_of(deployed.client.bucket, repeated.run_id)
        if rate.version in {"8.8.1", "8.10.0"}
    }
    rows = ask_saved(tables, "rates_by_version", {"suite": "rocksdb"}).records()
    history = {
        (version.version, name): (figure.value, figure.spread, figure.trials)
        for version in histories(rows)
        for name, figure in version.figures.items()
        if version.version in {"8.8.1", "8.10.0"}
    }
    counted = {}
    for row in deployed.rows(repeated, "rates"):
        if (row["version"], row["metric"]) in report and row["value"] and not row["excluded"]:
            counted.setdefault((row["version"], row["metric"]), []).append(row["value"])

    assert report == history
    assert {trials for *_, trials in report.values()} == {2, 3}
    assert report == {
        figure: (
            pytest.approx(statistics.fmean(values), rel=1e-12),
            pytest.approx(statistics.stdev(values), rel=1e-12),
            len(values),
        )
        for figure, values in counted.items()
    }
    parameters = [repeated.run_id, "8.8.1", "8.10.0"]
    of_run = "run_id = ? AND version IN (?, ?) AND value IS NOT NULL AND NOT excluded"
    answer = tables.ask(f"SELECT version, metric, value FROM rates WHERE {of_run}", parameters)
    in_athena = {}
    for version, metric, value in answer.rows:
        in_athena.setdefault((version, metric), []).append(float(value))
    assert {figure: sorted(values) for figure, values in in_athena.items()} == {
        figure: sorted(values) for figure, values in counted.items()
    }


def test_an_unknown_table_is_refused_with_athenas_message(tables):
    with pytest.raises(StatementFailed, match="TABLE_NOT_FOUND"):
        tables.ask("SELECT * FROM figures")


@pytest.mark.parametrize(
    "statement", ["DROP TABLE rates", "DELETE FROM rates", "SELECT 1; SELECT 2"]
)
def test_a_statement_other_than_one_select_is_refused(tables, statement):
    with pytest.raises(StatementFailed):
        tables.ask(statement)
