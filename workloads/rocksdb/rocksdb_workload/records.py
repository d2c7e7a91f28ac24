"""Records: a key of 16 random bytes and a value of 100, the same for the same seed."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any
from zlib import crc32

KEY_BYTES = 16
VALUE_BYTES = 100
RECORD_BYTES = KEY_BYTES + VALUE_BYTES
BATCH_RECORDS = 1000


@dataclass(frozen=True)
class Tally:
    """What a store must hold.

    Attributes
    ----------
    records
        How many there are.
    checksum
        The CRC-32 of all keys, each followed by its value, in the order of the keys.
    """

    records: int
    checksum: int

    @classmethod
    def of(cls, records: Iterable[tuple[Any, ...]]) -> Tally:
        """Take the tally of records in the order of their keys, each in one piece or several."""
        left = iter(records)
        count = checksum = 0
        # Many records at a time: the check takes longer than what it checks as it is.
        while block := list(islice(left, BATCH_RECORDS)):
            count += len(block)
            checksum = crc32(b"".join(chain.from_iterable(block)), checksum)
        return cls(count, checksum)


def batches(seed: int, task: int, records: int) -> Iterator[list[bytes]]:
    """Make the records of one task, in batches sorted by key.

    Yields
    ------
    list of bytes
        At most ``BATCH_RECORDS`` records of ``RECORD_BYTES``, each a key followed by its value.
    """
    source = random.Random(f"{seed}/{task}")  # noqa: S311 (repeatable data, not a secret)
    for start in range(0, records, BATCH_RECORDS):
        # One draw for the whole batch: drawing each record alone would take longer than RocksDB.
        block = source.randbytes(min(BATCH_RECORDS, records - start) * RECORD_BYTES)
        yield sorted(block[at : at + RECORD_BYTES] for at in range(0, len(block), RECORD_BYTES))
