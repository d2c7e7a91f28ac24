"""The rows of data sets as the dashboard's page gets them."""

import pytest

from cdk.data_sets import DATETIME, DECIMAL, INTEGER, STRING, DataSet
from local.dashboard import rows
from local.dashboard.rows import LeftOut, Rows, fitted, read_rows
from local.sql_client import Answer

DATA_SET = DataSet(
    "rates",
    "Rates",
    "SELECT *\nFROM rates\nORDER BY suite, trial\n",
    frozenset({"rates"}),
    {
        "suite": STRING,
        "trial": INTEGER,
        "value": DECIMAL,
        "version": STRING,
        "started_at": DATETIME,
    },
)


class FakeTables:
    """Answers with rows, of which a suite has more."""

    def __init__(self, *answered):
        self._rows = [["rocksdb", *row, "7", "1"] for row in answered]

    def ask(self, _):
        return Answer([*DATA_SET.columns, "stored", "place"], self._rows, 0, 0)


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


def test_what_is_left_out_is_known_of_each_suite():
    found = read_rows(FakeTables(["1", "2.5", "9.0.0", None]), DATA_SET, ["suite", "trial"])

    assert found.left_out == [LeftOut("rocksdb", 6, 7)]


def test_the_largest_data_set_gives_way_to_the_others_and_keeps_its_first_rows(monkeypatch):
    monkeypatch.setattr(rows, "MOST_BYTES", 20_000)
    large = Rows(["suite", "value"], [["rocksdb", number] for number in range(9000)], {})
    small = Rows(["suite", "value"], [["rocksdb", number] for number in range(100)], {})

    kept = fitted({"large": large, "small": small})

    assert kept["small"] == small
    assert kept["large"].rows == large.rows[: len(kept["large"].rows)]
    assert 1000 < len(kept["large"].rows) < 2500


def test_nothing_is_kept_where_one_row_is_too_much(monkeypatch):
    monkeypatch.setattr(rows, "MOST_BYTES", 200)

    kept = fitted({"runs": Rows(["suite"], [["x" * 500]], {"x" * 500: 1})})

    assert kept["runs"].rows == []
