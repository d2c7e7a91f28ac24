"""The ingest test, which writes records in sorted batches and stores their files in S3."""

from __future__ import annotations

import shutil
from itertools import chain
from pathlib import Path
from time import perf_counter

from rocksdb_workload import engine, log
from rocksdb_workload.checks import check_tally
from rocksdb_workload.configuration import Configuration
from rocksdb_workload.records import Tally, batches
from rocksdb_workload.storage import Manifest, Storage, digest


def run(configuration: Configuration, storage: Storage, scratch: Path) -> None:
    """Ingest the same records into a new store for each job.

    The clock covers all that a user of the store waits for: writing, flushing, and storing files.

    Raises
    ------
    CheckFailedError
        If the store does not hold exactly the records that were written.
    """
    data = list(batches(configuration.seed, configuration.task, configuration.records))
    expected = Tally.of(zip(sorted(chain.from_iterable(data)), strict=True))
    for _ in range(configuration.jobs):
        store = scratch / "store"
        engine_seconds = _write(data, store, expected)
        manifest = Manifest(
            version=configuration.version,
            package=configuration.package,
            seed=configuration.seed,
            records=expected.records,
            checksum=expected.checksum,
            files={path.name: digest(path) for path in engine.files(store)},
        )
        started = perf_counter()
        storage.store(store, manifest)
        upload_seconds = perf_counter() - started
        shutil.rmtree(store)
        _log(expected.records, engine_seconds, upload_seconds)


def _write(data: list[list[bytes]], folder: Path, expected: Tally) -> float:
    """Write all records and flush them; return the seconds that the engine took."""
    store = engine.open_store(folder)
    prepared = [engine.write_batch(records) for records in data]
    started = perf_counter()
    for batch in prepared:
        store.write(batch)
    store.flush()
    seconds = perf_counter() - started
    check_tally(engine.tally(store), expected, "The store after ingest")
    store.close()
    return seconds


def _log(records: int, engine_seconds: float, upload_seconds: float) -> None:
    seconds = engine_seconds + upload_seconds
    log.info("Ingest", f"Engine {engine_seconds:.3f} seconds, upload {upload_seconds:.3f} seconds")
    log.info(
        "Ingest",
        f"Wrote {records} records to S3 in {seconds:.1f} seconds "
        f"at {records / seconds:.1f} per second",
    )
