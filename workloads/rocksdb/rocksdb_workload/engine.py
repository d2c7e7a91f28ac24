"""RocksDB, through rocksdict: how the store is opened, and what it says of itself."""

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

# What RocksDB keeps beside the data: its log, and the mark of the process that has it open.
_NOT_DATA = {"LOG", "LOCK"}


def open_store(folder: Path) -> Rdict:
    """Open the store in ``folder``, making it if it is not there."""
    options = Options(raw_mode=True)
    options.create_if_missing(True)
    # Compaction is measured on its own, so it needs overlapping files that nothing merged before.
    options.set_disable_auto_compactions(True)
    options.set_write_buffer_size(MEMTABLE_BYTES)
    options.set_max_write_buffer_number(4)
    # The values are random: a compressor would only find out, for each version in its own way.
    options.set_compression_type(DBCompressionType.none())
    return Rdict(str(folder), options=options)


def write_batch(records: list[bytes]) -> WriteBatch:
    """Put records, each a key followed by its value, into one batch."""
    batch = WriteBatch(raw_mode=True)
    for record in records:
        batch.put(record[:KEY_BYTES], record[KEY_BYTES:])
    return batch


def compact(store: Rdict) -> None:
    """Merge all files of the store, reading each record once."""
    options = CompactOptions()
    # Left to itself, RocksDB moves a lone file to the next level without reading it.
    options.set_bottommost_level_compaction(BottommostLevelCompaction.force_optimized())
    store.compact_range(None, None, options)


def tally(store: Rdict) -> Tally:
    """Read all records of the store."""
    return Tally.of(store.items())


def files(folder: Path) -> list[Path]:
    """Return the files that make up the store in ``folder``."""
    return sorted(path for path in folder.iterdir() if path.name not in _NOT_DATA)


def records_read(folder: Path) -> int:
    """Return how many records RocksDB says that its compactions of the store in ``folder`` read."""
    return sum(int(count) for count in re.findall(r'"num_input_records": (\d+)', _log(folder)))


def version(folder: Path) -> str:
    """Return the version that RocksDB says it is in the store in ``folder``.

    Raises
    ------
    CheckFailedError
        If it gives none.
    """
    found = re.search(r"RocksDB version: (\S+)", _log(folder))
    if found is None:
        raise CheckFailedError("RocksDB's log gives no version: 'RocksDB version: …' was expected.")
    return found[1]


def _log(folder: Path) -> str:
    return (folder / "LOG").read_text()
