"""Tables with the rows of each suite's newest run alone, which saves a read of all other runs."""

from __future__ import annotations

from tidemark.store import keys
from tidemark.store.bucket import Bucket


def keep_latest(bucket: Bucket, table: str, suite: str, run_id: str, rows: bytes) -> None:
    """Replace the rows of older runs in a table; keep the rows of a newer run.

    The run is part of the key, so that a writer that is late or dies half-way never replaces a
    newer run by an older one. It leaves at most one extra object, which queries skip and the
    suite's next run deletes.
    """
    key = keys.table(table, suite, run_id)
    stored = list(bucket.keys(keys.tables(table, suite)))
    if any(stored_key > key for stored_key in stored):
        return
    bucket.write(key, rows)
    for stored_key in stored:
        if stored_key < key:
            bucket.delete(stored_key)
