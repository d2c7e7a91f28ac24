"""The compaction test, which loads the files that ingest stored from S3 and merges them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from time import perf_counter
from uuid import UUID, uuid5

from harness import log
from harness.checks import CheckFailedError, check_tally
from harness.configuration import Configuration
from harness.engine import Engine
from harness.records import Tally
from harness.storage import Manifest, Storage

JOBS = UUID("b55a4b3c-3a33-4e35-9c8e-6a1f1b0f6d1e")


def run(engine: Engine, configuration: Configuration, storage: Storage, scratch: Path) -> None:
    """Compact a new copy of the files that ingest stored for each job, or the one store in S3.

    The clock covers the engine's compaction alone.

    Raises
    ------
    CheckFailedError
        If the files are missing or of another configuration, or if a store does not hold exactly
        their records after compaction.
    """
    started = perf_counter()
    manifest = storage.load(scratch / "loaded")
    log.info("Compaction", f"Load {perf_counter() - started:.3f} seconds")
    _check_source(manifest, configuration)
    expected = Tally(manifest.records, manifest.checksum)
    for number in range(configuration.jobs):
        folder = scratch / manifest.store
        shutil.copytree(scratch / "loaded", folder, copy_function=_copy)
        seconds = _compact(engine, folder, expected)
        shutil.rmtree(folder)
        job = uuid5(JOBS, f"{configuration.seed}/{configuration.task}/{number}")
        log.info(
            "Compaction",
            f"Compaction job {job}: compaction read {expected.records} records "
            f"at {expected.records / seconds:.1f} per second",
        )


def _check_source(manifest: Manifest, configuration: Configuration) -> None:
    for name in ("version", "package", "seed", "records"):
        found, expected = getattr(manifest, name), getattr(configuration, name)
        if found != expected:
            raise CheckFailedError(
                f"The stored files are of the {name} {found}: {expected} was expected."
            )


def _copy(source: str, target: str) -> None:
    # RocksDB never changes a table that it has written, so all stores can share the file.
    if source.endswith(".sst"):
        os.link(source, target)
    else:
        shutil.copyfile(source, target)


def _compact(engine: Engine, folder: Path, expected: Tally) -> float:
    """Merge the files of a store; return the seconds that the engine took."""
    store = engine.open_store(folder)
    started = perf_counter()
    store.compact()
    seconds = perf_counter() - started
    check_tally(store.tally(), expected, "The store after compaction")
    store.close()
    if (read := store.records_read()) != expected.records:
        raise CheckFailedError(
            f"{engine.title} read {read} records: {expected.records} were expected."
        )
    return seconds
