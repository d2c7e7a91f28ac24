"""The engine of the suite deltalake over fakes of the packages deltalake and pyarrow."""

import importlib
import sys
from itertools import chain
from pathlib import Path
from types import SimpleNamespace

import pytest
from harness.engine import BATCH_RECORDS, RECORD_BYTES, batches
from harness.task import ConfigurationError

from tests.unit.workloads.loaded_records import RECORDS, expected, load
from tidemark.model.checkout import ROOT
from tidemark.model.suite_files import read_suites
from tidemark.store.keys import DATA


class Table:
    """Rows of a key and a value, as pyarrow has them in columns."""

    def __init__(self, rows):
        self.rows = rows

    def cast(self, schema):
        assert schema.names == ["key", "value"]
        return self

    def sort_by(self, name):
        assert name == "key"
        return Table(sorted(self.rows))

    def column(self, name):
        place = ("key", "value").index(name)
        return SimpleNamespace(to_pylist=lambda: [row[place] for row in self.rows])


class Lake:
    """Tables by address: the files of each version, and the rows of each file."""

    def __init__(self):
        self.versions = {}
        self.files = {}
        self.options = []
        self.token = "token"

    def append(self, address, table, *, mode, storage_options):
        assert mode == "append"
        self.options.append(storage_options)
        file = self._file(table.rows)
        self._commit(address, [*self.versions.get(address, [[]])[-1], file])

    def table(self, address, *, version=None, storage_options):
        self.options.append(storage_options)
        versions = self.versions[address]
        current = len(versions) - 1 if version is None else version
        files = versions[current]

        def compact(*, target_size):
            merged = [self._merged(each) for each in self._bins(files, target_size)]
            self._commit(address, merged)

        return SimpleNamespace(
            version=lambda: current,
            optimize=SimpleNamespace(compact=compact),
            restore=lambda version: self._commit(address, versions[version]),
            file_uris=lambda: [f"{address}/{file}" for file in files],
        )

    def session(self):
        """Return botocore's session in a task of ECS, whose S3 has the files of the tables."""
        key = SimpleNamespace(access_key="id", secret_key="secret", token=self.token)

        def get_object(Bucket, Key):  # noqa: N803 (the names of S3)
            assert Bucket == "results"
            return {"Body": SimpleNamespace(read=lambda: Key.rpartition("/")[2])}

        return SimpleNamespace(
            get_credentials=lambda: SimpleNamespace(get_frozen_credentials=lambda: key),
            create_client=lambda _: SimpleNamespace(get_object=get_object),
        )

    def _bins(self, files, target_size):
        """Return the files in groups of at most the target size, in their order."""
        groups, size = [[]], 0
        for file in files:
            own = sum(map(len, chain.from_iterable(self.files[file])))
            if size + own > target_size:
                groups, size = [*groups, []], 0
            groups[-1].append(file)
            size += own
        return groups

    def _merged(self, files):
        """Return the one file of a group; Delta Lake does not read a file without company."""
        rows = [row for file in files for row in self.files[file]]
        return self._file(rows) if len(files) > 1 else files[0]

    def _commit(self, address, files):
        self.versions.setdefault(address, []).append(files)

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
        BufferReader=lambda body: body,
        concat_tables=lambda tables: Table([row for table in tables for row in table.rows]),
    )
    parquet = SimpleNamespace(
        read_metadata=lambda name: SimpleNamespace(num_rows=len(lake.files[name])),
        read_table=lambda name: Table(lake.files[name]),
    )
    monkeypatch.setattr("botocore.session.Session", lake.session)
    monkeypatch.setitem(sys.modules, "deltalake", deltalake)
    monkeypatch.setitem(sys.modules, "pyarrow", pyarrow)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", parquet)
    monkeypatch.setenv("RUST_LOG", "error")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    monkeypatch.syspath_prepend(ROOT / "workloads" / "deltalake")
    yield importlib.import_module("deltalake_workload")
    del sys.modules["deltalake_workload"]


PLACE = f"s3://results/{DATA}run/001/secret/task-0000/"


@pytest.fixture
def open_store(workload):
    """Return a new store of the folder ``store-0``; its appends have 2,000 records at most."""
    workload._APPENDED_BATCHES = 2
    return lambda: workload.Engine(PLACE).open_store(Path("/scratch/store-0"))


@pytest.fixture
def written(open_store):
    """Return a table with 2,500 records."""
    return load(open_store())


def test_a_table_lies_below_the_place_of_the_task(written, lake):
    assert lake.versions.keys() == {f"{PLACE}store-0"}


def test_an_append_joins_batches_up_to_its_size(written, lake):
    assert [len(rows) for rows in lake.files.values()] == [2000, 500]


def test_a_compaction_reads_every_record_once_and_loses_none(written):
    written.compact()

    assert written.records_read() == RECORDS
    assert written.tally() == expected()


def test_each_compaction_has_the_same_files(written, open_store, lake):
    written.close()
    for _ in range(2):
        store = open_store()
        store.compact()
        store.close()

        assert store.records_read() == RECORDS

    appended, once, restored, twice, restored_again = lake.versions[f"{PLACE}store-0"][1:]
    assert appended == restored == restored_again
    assert len(once) == len(twice) == 1


def test_a_file_that_stays_in_the_table_was_not_read(open_store, lake):
    store = open_store()
    large, *small = [store.batch(records) for records in batches(1, 0, 3000)]
    for batch in (large, *small):
        store.write([batch])
    store.compact()
    merged = lake.versions[f"{PLACE}store-0"][-1]
    lake.versions[f"{PLACE}store-0"][-1] = ["part-0.parquet", *merged]

    assert store.records_read() == 2000


def test_a_table_is_reached_with_the_credentials_of_the_task_and_conditional_commits(written, lake):
    written.tally()

    credentials = {"access_key_id": "id", "secret_access_key": "secret", "session_token": "token"}
    options = {f"aws_{name}": value for name, value in credentials.items()}
    options |= {"aws_conditional_put": "etag", "aws_allow_http": "false"}
    assert lake.options == [options] * 3


def test_credentials_of_one_machine_have_no_session(open_store, lake):
    lake.token = None
    load(open_store())

    assert all("aws_session_token" not in each for each in lake.options)


@pytest.mark.parametrize(
    ("endpoint", "allowed"), [("http://127.0.0.1:1", "true"), ("https://s3.example", "false")]
)
def test_s3_is_read_without_tls_on_one_machine_alone(
    open_store, lake, monkeypatch, endpoint, allowed
):
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    load(open_store())

    assert {each["aws_allow_http"] for each in lake.options} == {allowed}


def test_a_compaction_of_the_most_records_leaves_no_file_over(workload):
    most = read_suites()["deltalake"].parameters["records"].most

    # Random bytes do not shrink; offsets and pages take less than a fifth.
    assert 1.2 * most * RECORD_BYTES < workload._COMPACTED_BYTES


def test_the_fewest_records_that_the_suite_accepts_make_files_to_compact(workload):
    fewest = read_suites()["deltalake"].parameters["records"].least

    assert fewest > workload._APPENDED_BATCHES * BATCH_RECORDS


def test_the_version_is_the_one_of_the_loaded_library(workload, tmp_path):
    assert workload.Engine("").version(tmp_path) == "0.20.2"


def test_the_harness_stores_no_files_of_a_table(workload, tmp_path):
    (tmp_path / "a").touch()

    assert workload.Engine(PLACE).files(tmp_path) == []


def test_a_task_without_credentials_is_refused(open_store, monkeypatch, workload):
    monkeypatch.setattr(workload, "Session", lambda: SimpleNamespace(get_credentials=lambda: None))

    with pytest.raises(ConfigurationError, match="The task has no AWS credentials"):
        open_store()
