"""The rows of data sets in the page of the dashboard."""

import pytest

from tidemark.client.tables import Answer
from tidemark.dashboard.data_sets import (
    DATETIME,
    DECIMAL,
    INTEGER,
    STRING,
    DataSet,
    LeftOut,
    Rows,
    read_rows,
    shrink_to_page,
)

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
    """Tables that answer with some of the seven rows of a suite."""

    def __init__(self, *rows):
        self._rows = [["rocksdb", *row, "7", "1"] for row in rows]

    def ask(self, _):
        return Answer([*DATA_SET.columns, "stored", "place"], self._rows, 0, 0)


def test_values_have_the_types_of_their_columns():
    tables = FakeTables(["1", "2.5", "9.0.0", "2026-11-20 12:00:00.000"], ["2", None, None, None])

    assert read_rows(tables, DATA_SET, ["trial", "value", "version"]).rows == [
        [1, 2.5, "9.0.0"],
        [2, None, None],
    ]


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity"])
def test_a_number_that_is_not_finite_is_none(text):
    tables = FakeTables(["1", text, "9.0.0", None])

    assert read_rows(tables, DATA_SET, ["value"]).rows == [[None]]


def test_left_out_rows_are_counted_for_each_suite():
    found = read_rows(FakeTables(["1", "2.5", "9.0.0", None]), DATA_SET, ["suite", "trial"])

    assert found.left_out == [LeftOut("rocksdb", 6, 7)]


def test_only_the_largest_data_set_loses_rows_from_its_end(monkeypatch):
    monkeypatch.setattr("tidemark.dashboard.data_sets.MOST_BYTES", 20_000)
    large = Rows(["suite", "value"], [["rocksdb", number] for number in range(9000)], {})
    small = Rows(["suite", "value"], [["rocksdb", number] for number in range(100)], {})

    kept = shrink_to_page({"large": large, "small": small})

    assert kept["small"] == small
    assert kept["large"].rows == large.rows[: len(kept["large"].rows)]
    assert 1000 < len(kept["large"].rows) < 2500


def test_no_row_is_kept_if_one_row_is_too_large(monkeypatch):
    monkeypatch.setattr("tidemark.dashboard.data_sets.MOST_BYTES", 200)

    kept = shrink_to_page({"runs": Rows(["suite"], [["x" * 500]], {"x" * 500: 1})})

    assert kept["runs"].rows == []
