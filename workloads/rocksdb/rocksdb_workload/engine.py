"""RocksDB through rocksdict: the operations on a store, and the facts in its log."""

from __future__ import annotations

import re
from pathlib import Path

from rocksdict import (
    BottommostLevelCompaction,
    CompactOptions,
    DBCompressionType,
    Options,
    Rdict,
    WriteBatch,
)

from rocksdb_workload.checks import CheckFailedError
from rocksdb_workload.records import KEY_BYTES, Tally

MEMTABLE_BYTES = 16 << 20

# The files that RocksDB keeps beside the data: its log, and the lock of the process that opened it.
_NOT_DATA = {"LOG", "LOCK"}


def open_store(folder: Path) -> Rdict:
    """Open the store in ``folder``; create it if it is missing."""
    options = Options(raw_mode=True)
    options.create_if_missing(True)
    # Compaction is measured separately, so it needs overlapping files that nothing merged before.
    options.set_disable_auto_compactions(True)
    options.set_write_buffer_size(MEMTABLE_BYTES)
    options.set_max_write_buffer_number(4)
    # A compressor cannot shrink random values; it would only cost each version another time.
    options.set_compression_type(DBCompressionType.none())
    return Rdict(str(folder), options=options)


def write_batch(records: list[bytes]) -> WriteBatch:
    """Return a batch of records, each a key followed by its value."""
    batch = WriteBatch(raw_mode=True)
    for record in records:
        batch.put(record[:KEY_BYTES], record[KEY_BYTES:])
    return batch


def compact(store: Rdict) -> None:
    """Merge all files of the store, reading each record once."""
    options = CompactOptions()
    # By default, RocksDB moves a single file to the next level without reading it.
    options.set_bottommost_level_compaction(BottommostLevelCompaction.force_optimized())
    store.compact_range(None, None, options)


def tally(store: Rdict) -> Tally:
    """Return the tally of all records in the store."""
    return Tally.of(store.items())


def files(folder: Path) -> list[Path]:
    """Return the files that make up the store in ``folder``."""
    return sorted(path for path in folder.iterdir() if path.name not in _NOT_DATA)


def records_read(folder: Path) -> int:
    """Return the number of records that compactions of a store read, according to its log."""
    return sum(int(count) for count in re.findall(r'"num_input_records": (\d+)', _log(folder)))


def version(folder: Path) -> str:
    """Return the version of RocksDB, according to the log of the store in ``folder``.

    Raises
    ------
    CheckFailedError
        If the log gives no version.
    """
    match = re.search(r"RocksDB version: (\S+)", _log(folder))
    if match is None:
        raise CheckFailedError("RocksDB's log gives no version: 'RocksDB version: …' was expected.")
    return match[1]


def _log(folder: Path) -> str:
    return (folder / "LOG").read_text()
