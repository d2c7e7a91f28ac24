"""The parts of a system under test that a workload provides, and the records that it stores.

The harness does the rest: it makes the records, and compares what a store holds with them.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from struct import unpack
from typing import Any, Protocol
from zlib import crc32

from harness.task import CheckFailedError


class Store(Protocol):
    """An open store of records."""

    def batch(self, records: list[bytes]) -> Any:  # noqa: ANN401 (each engine has its own)
        """Return records in the form that the engine writes; no clock runs."""

    def write(self, batches: Sequence[Any]) -> None:
        """Write all batches until they are durable; the clock runs."""

    def compact(self) -> None:
        """Merge all that was written, reading each record once; the clock runs."""

    def tally(self) -> Tally:
        """Return the tally of all records in the store."""

    def close(self) -> None:
        """Close the store; one that lies in S3 is then as it was before its compaction."""

    def records_read(self) -> int:
        """Return the number of records that compactions read, as the engine itself counts them.

        The store is closed. If it lies in S3, ``close`` has restored it.
        """


class Engine(Protocol):
    """One version of a system. A workload's module has a class ``Engine`` of this form.

    Its constructor takes the place of the task in S3, such as ``s3://bucket/prefix/task-0000/``.
    """

    title: str
    """The name of the system in sentences."""

    def open_store(self, folder: Path) -> Store:
        """Open the store in ``folder``; create it if it is missing."""

    def version(self, folder: Path) -> str:
        """Return the version that the system itself reports; ``folder`` is empty."""

    def files(self, folder: Path) -> list[Path]:
        """Return the files that make up the closed store in ``folder``, sorted.

        A system that writes to S3 by itself has none.
        """


# A record is a key of random bytes and its value.
KEY_BYTES = 16
VALUE_BYTES = 100
RECORD_BYTES = KEY_BYTES + VALUE_BYTES
BATCH_RECORDS = 1000


@dataclass(frozen=True)
class Tally:
    """The number and the checksum of the records in a store.

    Attributes
    ----------
    records
        The number of records.
    checksum
        The CRC-32 of all keys, each followed by its value, in the order of the keys.
    """

    records: int
    checksum: int

    @classmethod
    def of(cls, records: Iterable[bytes], pieces: int = 1) -> Tally:
        """Return the tally of records in the order of their keys, each in as many ``pieces``."""
        remaining = iter(records)
        count = checksum = 0
        # Many records at a time, because the check already takes longer than the measured work.
        while block := list(islice(remaining, BATCH_RECORDS * pieces)):
            count += len(block)
            checksum = crc32(b"".join(block), checksum)
        return cls(count // pieces, checksum)


def batches(seed: int, task: int, records: int) -> Iterator[list[bytes]]:
    """Yield the records of one task, in batches sorted by key.

    Yields
    ------
    list of bytes
        At most ``BATCH_RECORDS`` records of ``RECORD_BYTES``, each a key followed by its value.
    """
    source = random.Random(f"{seed}/{task}")  # noqa: S311 (repeatable data, not a secret)
    for start in range(0, records, BATCH_RECORDS):
        # One draw for the whole batch: drawing each record alone would take longer than RocksDB.
        count = min(BATCH_RECORDS, records - start)
        yield sorted(unpack(f"{RECORD_BYTES}s" * count, source.randbytes(count * RECORD_BYTES)))


def check_tally(found: Tally, expected: Tally, where: str) -> None:
    """Compare the records that the engine holds with those that were written.

    Raises
    ------
    CheckFailedError
        If a record was lost, added or changed.
    """
    if found.records != expected.records:
        raise CheckFailedError(
            f"{where} holds {found.records} records: {expected.records} were expected."
        )
    if found.checksum != expected.checksum:
        raise CheckFailedError(
            f"{where} has the checksum {found.checksum}: {expected.checksum} was expected."
        )
