"""RocksDB through the package rocksdict: the operations on a store, and the facts in its log."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from harness.engine import KEY_BYTES, Tally
from harness.task import CheckFailedError
from rocksdict import (
    BottommostLevelCompaction,
    CompactOptions,
    DBCompressionType,
    Options,
    Rdict,
    WriteBatch,
)

# A slice of 50,000 records fills several, so that compaction has overlapping files to merge.
MEMTABLE_BYTES = 2 << 20

# The files that RocksDB keeps beside the data: its logs, the lock of the process that opened it,
# and what it writes anew when it opens a store.
_NOT_DATA = ("LOG", "LOCK", "IDENTITY", "OPTIONS")


class Store:
    """An open store in a folder."""

    def __init__(self, folder: Path) -> None:
        options = Options(raw_mode=True)
        options.create_if_missing(True)
        # Compaction is measured separately: it needs overlapping files that nothing merged before.
        options.set_disable_auto_compactions(True)
        options.set_write_buffer_size(MEMTABLE_BYTES)
        options.set_max_write_buffer_number(4)
        # A compressor cannot shrink random values; it would only cost each version another time.
        options.set_compression_type(DBCompressionType.none())
        self._folder = folder
        self._store = Rdict(str(folder), options=options)

    def batch(self, records: list[bytes]) -> WriteBatch:
        """Return a batch of records, each a key followed by its value."""
        batch = WriteBatch(raw_mode=True)
        for record in records:
            batch.put(record[:KEY_BYTES], record[KEY_BYTES:])
        return batch

    def write(self, batches: Sequence[WriteBatch]) -> None:
        """Write all batches and flush them."""
        for batch in batches:
            self._store.write(batch)
        self._store.flush()

    def compact(self) -> None:
        """Merge all files, reading each record once."""
        options = CompactOptions()
        # By default, RocksDB moves a single file to the next level without reading it.
        options.set_bottommost_level_compaction(BottommostLevelCompaction.force_optimized())
        self._store.compact_range(None, None, options)

    def tally(self) -> Tally:
        """Return the tally of all records."""
        return Tally.of(chain.from_iterable(self._store.items()), pieces=2)

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    def records_read(self) -> int:
        """Return the number of records that compactions read, according to RocksDB's log."""
        counts = re.findall(r'"num_input_records": (\d+)', _log(self._folder))
        return sum(map(int, counts))


class Engine:
    """The version of RocksDB that the installed package carries."""

    title = "RocksDB"

    def __init__(self, place: str) -> None:
        pass

    def open_store(self, folder: Path) -> Store:
        """Open the store in ``folder``; create it if it is missing."""
        return Store(folder)

    def version(self, folder: Path) -> str:
        """Return the version of RocksDB, according to the log of a new store.

        Raises
        ------
        CheckFailedError
            If the log gives no version.
        """
        Store(folder).close()
        match = re.search(r"RocksDB version: (\S+)", _log(folder))
        if match is None:
            raise CheckFailedError(
                "RocksDB's log gives no version: 'RocksDB version: …' was expected."
            )
        return match[1]

    def files(self, folder: Path) -> list[Path]:
        """Return the files that make up the store in ``folder``."""
        return sorted(
            path
            for path in folder.iterdir()
            # An empty file is the log of writes, which the flush has emptied.
            if path.stat().st_size and not path.name.startswith(_NOT_DATA)
        )


def _log(folder: Path) -> str:
    return (folder / "LOG").read_text()
