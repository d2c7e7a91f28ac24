"""The rows of data sets as the dashboard's page gets them."""

from datetime import UTC, datetime

import pytest

from cdk.data_sets import DATETIME, DECIMAL, INTEGER, STRING, DataSet
from local.dashboard import building, rows
from local.dashboard.rows import Rows, read_rows
from local.sql_client import Answer

DATA_SET = DataSet(
    "rates",
    "Rates",
    "SELECT *\nFROM rates\nORDER BY trial\n",
    frozenset({"rates"}),
    {"trial": INTEGER, "value": DECIMAL, "version": STRING, "started_at": DATETIME},
)
NOW = datetime(2026, 11, 21, 12, 30, tzinfo=UTC)


class FakeTables:
    """Answers with rows, and notes what it was asked."""

    def __init__(self, *answered):
        self.asked = []
        self._rows = answered

    def ask(self, statement):
        self.asked.append(statement)
        return Answer([*DATA_SET.columns], self._rows, 0, 0)


def test_values_have_the_types_of_their_columns_and_null_is_none():
    tables = FakeTables(["1", "2.5", "9.0.0", "2026-11-20 12:00:00.000"], ["2", None, None, None])

    assert read_rows(tables, DATA_SET, ["trial", "value", "version"]).rows == [
        [1, 2.5, "9.0.0"],
        [2, None, None],
    ]


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity"])
def test_a_number_that_is_not_finite_is_none(text):
    tables = FakeTables(["1", text, "9.0.0", None])

    assert read_rows(tables, DATA_SET, ["value"]).rows == [[None]]


def test_the_first_rows_are_asked_for_in_the_order_of_the_data_set(monkeypatch):
    monkeypatch.setattr(rows, "MOST_ROWS", 1)
    tables = FakeTables(["1", "2.5", "9.0.0", None], ["2", "3.5", "9.0.0", None])

    found = read_rows(tables, DATA_SET, ["trial"])

    assert tables.asked == ["SELECT *\nFROM rates\nORDER BY trial\n\nLIMIT 2"]
    assert (found.rows, found.more) == ([[1]], True)


def test_rows_that_are_left_out_are_told():
    found = {"rates": Rows(["trial"], [[1]], more=True)}

    assert list(building.said({"rates": DATA_SET}, found, NOW)) == [
        "What was stored by 2026-11-21 12:30 UTC.",
        "Rates: only the first 5,000 rows are here.",
    ]
