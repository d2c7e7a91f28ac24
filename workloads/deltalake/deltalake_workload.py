"""Delta Lake through the package deltalake: a table in S3, appended to and then compacted."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

# Delta Lake warns of each column of bytes in each file, and reads this when it is loaded.
os.environ.setdefault("RUST_LOG", "error")

import deltalake
import pyarrow as pa
from botocore.session import Session
from deltalake import DeltaTable, write_deltalake
from harness.engine import BATCH_RECORDS, KEY_BYTES, Tally
from harness.task import ConfigurationError
from pyarrow.parquet import read_metadata, read_table

_SCHEMA = pa.schema([("key", pa.binary()), ("value", pa.binary())])
# An append makes a file and a commit: a million records have twenty of them.
_APPENDED_BATCHES = 50_000 // BATCH_RECORDS
# A compaction fills files up to this size [B] and does not read a file that is left over, so all
# files of a table become one.
_COMPACTED_BYTES = 1 << 30


def _options() -> dict[str, str]:
    """Return how S3 is reached, with the credentials of the task.

    Raises
    ------
    ConfigurationError
        If the task has no credentials.
    """
    # Delta Lake 0.20 would ask ECS for credentials before nearly every request: 31 in a try.
    found = Session().get_credentials()
    if found is None:
        raise ConfigurationError("The task has no AWS credentials: its tables are in S3.")
    credentials = found.get_frozen_credentials()
    # Only the one-machine cloud has an address without TLS.
    plain = os.environ.get("AWS_ENDPOINT_URL", "").startswith("http:")
    options = {
        "aws_access_key_id": credentials.access_key,
        "aws_secret_access_key": credentials.secret_key,
        "aws_session_token": credentials.token,
        # S3 refuses the second writer of a commit, so that no lock in DynamoDB is needed.
        "aws_conditional_put": "etag",
        "aws_allow_http": str(plain).lower(),
    }
    return {name: value for name, value in options.items() if value}


class Store:
    """A table at an address in S3."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._options = _options()
        self._compacted_version = -1

    def batch(self, records: list[bytes]) -> pa.Table:
        """Return records as a table of two columns."""
        keys = pa.array([record[:KEY_BYTES] for record in records], pa.binary())
        values = pa.array([record[KEY_BYTES:] for record in records], pa.binary())
        return pa.table([keys, values], schema=_SCHEMA)

    def write(self, batches: Sequence[pa.Table]) -> None:
        """Append all batches, fifty at a time."""
        for start in range(0, len(batches), _APPENDED_BATCHES):
            table = pa.concat_tables(batches[start : start + _APPENDED_BATCHES])
            write_deltalake(self._address, table, mode="append", storage_options=self._options)

    def compact(self) -> None:
        """Merge the files of the table."""
        table = self._table()
        self._compacted_version = table.version()
        table.optimize.compact(target_size=_COMPACTED_BYTES)

    def tally(self) -> Tally:
        """Return the tally of all records, in the order of their keys."""
        files = _contents(self._table().file_uris())
        table = pa.concat_tables([read_table(file).cast(_SCHEMA) for file in files]).sort_by("key")
        columns = (table.column(name).to_pylist() for name in _SCHEMA.names)
        return Tally.of(chain.from_iterable(zip(*columns, strict=True)), pieces=2)

    def close(self) -> None:
        """Restore the table that was compacted: the next compaction has the same files."""
        if self._compacted_version >= 0:
            self._table().restore(self._compacted_version)

    def records_read(self) -> int:
        """Return the number of records in the files that compaction took out of the table."""
        before = self._table(self._compacted_version).file_uris()
        after = self._table(self._compacted_version + 1).file_uris()
        taken_out = [file for file in before if file not in after]
        return sum(read_metadata(file).num_rows for file in _contents(taken_out))

    def _table(self, version: int | None = None) -> DeltaTable:
        return DeltaTable(self._address, version=version, storage_options=self._options)


def _contents(files: Iterable[str]) -> Iterator[pa.BufferReader]:
    """Yield the content of each file, by its address in S3."""
    # Delta Lake would give pyarrow's threads a file system in Python. One of them may still use it
    # when Python ends, and that ends the process by SIGABRT.
    client = Session().create_client("s3")
    for file in files:
        _, _, bucket, key = file.split("/", 3)
        yield pa.BufferReader(client.get_object(Bucket=bucket, Key=key)["Body"].read())


class Engine:
    """The version of Delta Lake that is installed; its tables are below an address in S3."""

    title = "Delta Lake"

    def __init__(self, place: str) -> None:
        self._place = place

    def open_store(self, folder: Path) -> Store:
        """Return the table of the folder's name; the first append creates it."""
        return Store(f"{self._place}{folder.name}")

    def version(self, folder: Path) -> str:
        """Return the version that the loaded library gives itself."""
        version: str = deltalake.__version__
        return version

    def files(self, folder: Path) -> list[Path]:
        """Return no files: the table is in S3 already."""
        return []
