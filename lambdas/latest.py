"""The rates of the newest run of each suite, found without reading those of all others."""

from __future__ import annotations

from lambdas.aws import Bucket
from suites import keys

_TABLE = "latest_rates"


def keep_latest(bucket: Bucket, suite: str, run_id: str, rows: bytes) -> None:
    """Store a run's rows of ``latest_rates`` in place of older runs'; a newer run's stand.

    The run is part of the key, so that nobody who writes late or dies half-way can put an older
    run in the place of a newer one: what stays behind is an object too many, which whoever asks
    passes over and the suite's next run deletes.
    """
    key = keys.table(_TABLE, suite, run_id)
    stored = list(bucket.keys(keys.tables(_TABLE, suite)))
    if any(other > key for other in stored):
        return
    bucket.write(key, rows)
    for older in stored:
        if older < key:
            bucket.delete(older)
