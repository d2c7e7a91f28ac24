"""The engine of the suite deltalake over fakes of the packages deltalake and pyarrow."""

import importlib
import sys
from types import SimpleNamespace

import pytest
from harness.records import BATCH_RECORDS, batches

from tests.unit.workloads.loaded_records import RECORDS, expected, load
from tidemark.model.checkout import ROOT
from tidemark.model.suite_files import read_suites


class Table:
    """Rows of a key and a value, as pyarrow has them in columns."""

    def __init__(self, rows):
        self.rows = rows

    def sort_by(self, name):
        assert name == "key"
        return Table(sorted(self.rows))

    def column(self, name):
        place = ("key", "value").index(name)
        return SimpleNamespace(to_pylist=lambda: [row[place] for row in self.rows])


class Lake:
    """Tables by place: the files of each version, and the rows of each file."""

    def __init__(self):
        self.versions = {}
        self.files = {}

    def append(self, place, table, *, mode):
        assert mode == "append"
        self._commit(place, [*self.versions.get(place, [[]])[-1], self._file(table.rows)])

    def table(self, place, version=None):
        versions = self.versions[place]
        current = len(versions) - 1 if version is None else version

        def compact():
            rows = [row for file in versions[-1] for row in self.files[file]]
            self._commit(place, [self._file(rows)])

        return SimpleNamespace(
            version=lambda: current,
            file_uris=lambda: list(versions[current]),
            optimize=SimpleNamespace(compact=compact),
            to_pyarrow_table=lambda: Table(
                [row for file in versions[current] for row in self.files[file]]
            ),
        )

    def metadata(self, file):
        return SimpleNamespace(num_rows=len(self.files[file]))

    def _commit(self, place, files):
        self.versions.setdefault(place, []).append(files)

    def _file(self, rows):
        name = f"part-{len(self.files)}.parquet"
        self.files[name] = rows
        return name


@pytest.fixture
def lake():
    return Lake()


@pytest.fixture
def workload(lake, monkeypatch):
    deltalake = SimpleNamespace(
        __version__="0.20.2", DeltaTable=lake.table, write_deltalake=lake.append
    )
    pyarrow = SimpleNamespace(
        array=lambda values, _: values,
        binary=lambda: "binary",
        schema=lambda fields: SimpleNamespace(names=[name for name, _ in fields]),
        table=lambda columns, schema: Table(list(zip(*columns, strict=True))),
        concat_tables=lambda tables: Table([row for table in tables for row in table.rows]),
    )
    parquet = SimpleNamespace(read_metadata=lake.metadata)
    monkeypatch.setitem(sys.modules, "deltalake", deltalake)
    monkeypatch.setitem(sys.modules, "pyarrow", pyarrow)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", parquet)
    monkeypatch.setenv("RUST_LOG", "error")
    monkeypatch.syspath_prepend(ROOT / "workloads" / "deltalake")
    yield importlib.import_module("deltalake_workload")
    del sys.modules["deltalake_workload"]


@pytest.fixture
def written(workload, tmp_path):
    """Return a table with 2,500 records, in appends of 2,000."""
    workload._APPENDED_BATCHES = 2
    return load(workload.Engine("").open_store(tmp_path / "store"))


def test_an_append_joins_batches_up_to_its_size(written, lake):
    assert [len(rows) for rows in lake.files.values()] == [2000, 500]


def test_a_compaction_reads_every_record_once_and_loses_none(written):
    written.compact()
    written.close()

    assert written.records_read() == RECORDS
    assert written.tally() == expected()


def test_a_file_that_stays_in_the_table_was_not_read(workload, lake, tmp_path):
    store = workload.Engine("").open_store(tmp_path / "store")
    large, *small = [store.batch(records) for records in batches(1, 0, 3000)]
    for batch in (large, *small):
        store.write([batch])
    store.compact()
    place = str(tmp_path / "store")
    merged = lake.versions[place][-1]
    lake.versions[place][-1] = ["part-0.parquet", *merged]

    assert store.records_read() == 2000


def test_the_fewest_records_that_the_suite_accepts_make_files_to_compact(workload):
    fewest = read_suites()["deltalake"].parameters["records"].least

    assert fewest > workload._APPENDED_BATCHES * BATCH_RECORDS


def test_the_version_is_the_one_of_the_loaded_library(workload, tmp_path):
    assert workload.Engine("").version(tmp_path) == "0.20.2"


def test_the_files_of_a_table_include_those_of_its_log(workload, tmp_path):
    (tmp_path / "_delta_log").mkdir()
    for name in ("part-0.parquet", "_delta_log/0.json"):
        (tmp_path / name).touch()

    files = workload.Engine("").files(tmp_path)

    assert [str(file.relative_to(tmp_path)) for file in files] == [
        "_delta_log/0.json",
        "part-0.parquet",
    ]
