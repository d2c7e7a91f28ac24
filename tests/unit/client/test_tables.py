"""Requests to Athena for saved queries."""

import pytest

from aws.client.deployed import AthenaTables
from tidemark.client.tables import SAVED, ask_saved


class FakeAthena:
    """Athena that keeps the last request and answers without rows."""

    class exceptions:  # noqa: N801 (botocore's name)
        InvalidRequestException = ValueError

    def __init__(self):
        self.status = {"State": "SUCCEEDED"}

    def start_query_execution(self, **request):
        self.request = request
        return {"QueryExecutionId": "q"}

    def stop_query_execution(self, **_):
        raise AssertionError("the query has ended")

    def get_query_execution(self, **_):
        statistics = {"DataScannedInBytes": 7, "EngineExecutionTimeInMillis": 5}
        return {"QueryExecution": {"Status": self.status, "Statistics": statistics}}

    def get_paginator(self, _):
        return self

    def paginate(self, **_):
        names = [{"VarCharValue": "suite"}]
        columns = {"ColumnInfo": [{"Name": "suite"}]}
        yield {"ResultSet": {"ResultSetMetadata": columns, "Rows": [{"Data": names}]}}


@pytest.fixture
def athena():
    return FakeAthena()


@pytest.fixture
def tables(athena):
    return AthenaTables(athena, "d", "w")


def test_a_text_is_sent_in_quotes_and_a_number_as_it_is(tables, athena):
    ask_saved(tables, "samples_of_run", {"suite": "it's", "trial": 2})

    assert "\n) WHERE suite = ? AND trial = ?\n" in athena.request["QueryString"]
    assert athena.request["ExecutionParameters"] == ["'it''s'", "2"]


def test_an_answer_has_its_scanned_bytes_and_its_time(tables):
    answer = ask_saved(tables, "run_health")

    assert (answer.rows, answer.bytes_scanned, answer.milliseconds) == ([], 7, 5)


def test_the_reason_of_a_successful_answer_is_passed_on(athena):
    told = []
    athena.status["StateChangeReason"] = "an object is damaged"

    AthenaTables(athena, "d", "w", told.append).ask("SELECT 1")

    assert told == ["an object is damaged"]


@pytest.mark.parametrize("name", sorted(path.stem for path in SAVED.glob("*.sql")))
def test_a_statement_keeps_the_order_of_its_saved_query(tables, athena, name):
    text = (SAVED / f"{name}.sql").read_text().rstrip()
    order = text[text.rindex("\nORDER BY") + 1 :]

    ask_saved(tables, name, {"suite": "rocksdb"}, limit=3)

    assert athena.request["QueryString"].endswith(f"\n) WHERE suite = ?\n{order}\nLIMIT 3")
    assert athena.request["QueryString"].count(order) == 1


def test_an_interrupt_stops_the_query_in_athena(tables, athena, monkeypatch):
    def interrupted(**_):
        raise KeyboardInterrupt

    stopped = []
    monkeypatch.setattr(athena, "get_query_execution", interrupted)
    monkeypatch.setattr(athena, "stop_query_execution", lambda **query: stopped.append(query))

    with pytest.raises(KeyboardInterrupt):
        tables.ask("SELECT 1")
    assert stopped == [{"QueryExecutionId": "q"}]


def test_only_the_outermost_order_of_a_saved_query_follows_its_conditions(
    tables, athena, tmp_path, monkeypatch
):
    inner = "SELECT a FROM (SELECT a FROM t\nORDER BY b\n)"
    (tmp_path / "sorted.sql").write_text(f"{inner}\nORDER BY c\n")
    monkeypatch.setattr("tidemark.client.tables.SAVED", tmp_path)

    ask_saved(tables, "sorted", {"a": 1}, limit=3)

    assert athena.request["QueryString"] == (
        f"SELECT * FROM (\n{inner}\n) WHERE a = ?\nORDER BY c\nLIMIT 3"
    )
