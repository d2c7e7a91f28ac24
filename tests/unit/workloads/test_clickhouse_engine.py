"""The engine of the suite clickhouse over a fake of chdb's sessions."""

import importlib
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from harness.engine import RECORD_BYTES
from harness.task import CheckFailedError

from tests.unit.workloads.loaded_records import RECORDS, expected, load
from tidemark.model.checkout import ROOT


class Session:
    """A session that obeys the statements of the workload; a database is a list of parts."""

    databases: dict[str, list[bytes]] = {}  # noqa: RUF012 (chdb 2 opens a folder anew each time)
    statements: list[str] = []  # noqa: RUF012
    merges = True

    def __init__(self, folder):
        self._parts = self.databases.setdefault(folder, [])

    def query(self, sql, form):
        answer = b"".join(self._answer(statement) for statement in sql.split(";"))
        return SimpleNamespace(bytes=lambda: answer)

    def _answer(self, sql):
        self.statements.append(sql)
        if inserted := re.search(r"file\('([^']+)', RowBinary", sql):
            self._parts.append(Path(inserted[1]).read_bytes())
        elif sql.startswith("OPTIMIZE") and self.merges:
            self._parts[:] = [b"".join(self._sorted())]
        elif sql.startswith("SELECT count()"):
            records = sum(len(part) for part in self._parts) // RECORD_BYTES
            return f"{len(self._parts)},{records}\n".encode()
        elif sql.startswith("SELECT key, value"):
            return b"".join(self._sorted())
        elif sql == "SELECT version()":
            return b"24.8.4.1\n"
        return b""

    def _sorted(self):
        content = b"".join(self._parts)
        return sorted(
            content[at : at + RECORD_BYTES] for at in range(0, len(content), RECORD_BYTES)
        )


@pytest.fixture
def workload(monkeypatch):
    monkeypatch.setitem(sys.modules, "chdb", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "chdb.session", SimpleNamespace(Session=Session))
    monkeypatch.setattr(Session, "databases", {})
    monkeypatch.setattr(Session, "statements", [])
    monkeypatch.syspath_prepend(ROOT / "workloads" / "clickhouse")
    monkeypatch.delitem(sys.modules, "clickhouse_workload", raising=False)
    yield importlib.import_module("clickhouse_workload")
    del sys.modules["clickhouse_workload"]


@pytest.fixture
def written(workload, tmp_path):
    """Return an open store with 2,500 records, in inserts of 1,000."""
    workload._PART_RECORDS = 1000
    return load(workload.Engine("").open_store(tmp_path / "store"))


def test_the_tally_is_that_of_the_written_records_in_the_order_of_their_keys(written):
    assert written.tally() == expected()


def test_batches_of_one_part_are_inserted_once(workload, tmp_path):
    store = workload.Store(tmp_path / "store")

    load(store)

    assert len([sql for sql in Session.statements if sql.startswith("INSERT")]) == 1
    assert store.tally() == expected()


def test_no_merge_begins_before_the_compaction(written):
    (table,) = [sql for sql in Session.statements if sql.startswith("CREATE TABLE")]

    assert "max_bytes_to_merge_at_min_space_in_pool = 1" in table
    assert "max_bytes_to_merge_at_max_space_in_pool = 1" in table


def test_compaction_reads_every_record_into_one_part_and_loses_none(written):
    written.compact()
    written.close()

    assert written.records_read() == RECORDS
    assert written.tally() == expected()


def test_a_compaction_that_leaves_parts_fails_the_check(written, monkeypatch):
    monkeypatch.setattr(Session, "merges", False)
    written.compact()

    with pytest.raises(CheckFailedError, match=r"^ClickHouse left 3 parts: 1 was expected\.$"):
        written.close()


def test_the_version_is_the_one_that_the_database_answers(workload, tmp_path):
    assert workload.Engine("").version(tmp_path) == "24.8.4.1"
