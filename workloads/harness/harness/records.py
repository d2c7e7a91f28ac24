"""Records: a key of 16 random bytes and a value of 100, the same for the same seed."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from struct import unpack
from zlib import crc32

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
