"""The ingest test, which writes records in sorted batches and stores them in S3."""

from __future__ import annotations

import shutil
from itertools import chain
from pathlib import Path
from time import perf_counter

from harness import log
from harness.checks import check_tally
from harness.configuration import Configuration
from harness.engine import Engine
from harness.records import Tally, batches
from harness.storage import Manifest, Storage, digest


def run(engine: Engine, configuration: Configuration, storage: Storage, scratch: Path) -> None:
    """Ingest the same records into a new store for each job.

    One clock runs while the engine writes and flushes, another while Tidemark uploads its files. A
    system that writes to S3 by itself has no files to upload.

    Raises
    ------
    CheckFailedError
        If the store does not hold exactly the records that were written.
    """
    data = list(batches(configuration.seed, configuration.task, configuration.records))
    expected = Tally.of(sorted(chain.from_iterable(data)))
    for number in range(configuration.jobs):
        folder = scratch / f"store-{number}"
        folder.mkdir()
        engine_seconds = _write(engine, data, folder, expected)
        manifest = Manifest(
            version=configuration.version,
            package=configuration.package,
            seed=configuration.seed,
            records=expected.records,
            checksum=expected.checksum,
            store=folder.name,
            files={str(path.relative_to(folder)): digest(path) for path in engine.files(folder)},
        )
        started = perf_counter()
        storage.store(folder, manifest)
        upload_seconds = perf_counter() - started
        shutil.rmtree(folder)
        _log(expected.records, engine_seconds, upload_seconds, uploads=bool(manifest.files))


def _write(engine: Engine, data: list[list[bytes]], folder: Path, expected: Tally) -> float:
    """Write all records until they are durable; return the seconds that the engine took."""
    store = engine.open_store(folder)
    prepared = [store.batch(records) for records in data]
    started = perf_counter()
    store.write(prepared)
    seconds = perf_counter() - started
    check_tally(store.tally(), expected, "The store after ingest")
    store.close()
    return seconds


def _log(records: int, engine_seconds: float, upload_seconds: float, *, uploads: bool) -> None:
    _rate(f"Engine ingested {records} records in {engine_seconds:.3f}", records / engine_seconds)
    if uploads:
        _rate(f"Uploaded {records} records in {upload_seconds:.3f}", records / upload_seconds)
    seconds = engine_seconds + upload_seconds
    _rate(f"Wrote {records} records to S3 in {seconds:.1f}", records / seconds)


def _rate(done: str, rate: float) -> None:
    log.info("Ingest", f"{done} seconds at {rate:.1f} per second")
