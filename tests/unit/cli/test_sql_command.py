"""`tidemark sql` and the reasons of Athena."""

from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from tidemark.cli import sql
from tidemark.client.tables import StatementFailed


@pytest.fixture
def refused(monkeypatch):
    def refused(reason):
        def ask(_):
            raise StatementFailed(reason)

        @contextmanager
        def stored(_):
            yield SimpleNamespace(tables=SimpleNamespace(ask=ask))

        monkeypatch.setattr(sql, "stored", stored)
        return str(CliRunner().invoke(sql.command, ["SELECT 1"]).exception)

    return refused


@pytest.mark.parametrize(
    ("reason", "meant"),
    [
        (
            "COLUMN_NOT_FOUND: line 1:8: Column 'versio' cannot be resolved",
            "did you mean 'version'?",
        ),
        ("COLUMN_NOT_FOUND: line 1:8: Column 'r.metrik' cannot", "did you mean 'metric'?"),
        ("TABLE_NOT_FOUND: Table 'awsdatacatalog.tide-mark.rate' does", "did you mean 'rates'?"),
    ],
)
def test_an_unknown_name_is_answered_with_a_similar_one(refused, reason, meant):
    assert refused(reason).endswith(meant)


def test_an_unknown_table_is_answered_with_all_tables(refused):
    assert "; there are runs, rates, " in refused("TABLE_NOT_FOUND: Table 'c.d.x' does not exist")


def test_an_unknown_column_without_a_similar_one_is_answered_with_how_to_see_columns(refused):
    reason = "COLUMN_NOT_FOUND: Column 'x' cannot"

    columns = "SELECT * FROM rates LIMIT 1 shows the columns of rates"
    assert refused(reason) == f"{reason}; {columns}"


def test_a_statement_that_cannot_be_read_is_answered_with_one_that_can(refused):
    told = refused("line 1:1: mismatched input 'SELEC'")

    assert "; expected a statement such as SELECT version, avg(value) FROM rates" in told


def test_another_reason_stays_as_it_is(refused):
    assert refused("Query timeout") == "Query timeout"
