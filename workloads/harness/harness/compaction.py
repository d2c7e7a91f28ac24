"""The compaction test, which loads the files that ingest stored from S3 and merges them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from uuid import UUID, uuid5

from harness import log
from harness.checks import CheckFailedError, check_tally
from harness.clocks import Done, Took, timed
from harness.configuration import Configuration
from harness.engine import Engine
from harness.records import Tally
from harness.storage import Manifest, Storage

JOBS = UUID("b55a4b3c-3a33-4e35-9c8e-6a1f1b0f6d1e")


class Compaction:
    """The files that ingest stored, or the one store in S3; each job compacts a new copy.

    The clock covers the engine's compaction alone.

    Raises
    ------
    CheckFailedError
        If the files are missing or of another configuration.
    """

    name = "Compaction"

    def __init__(
        self, engine: Engine, configuration: Configuration, storage: Storage, scratch: Path
    ) -> None:
        self._engine, self._scratch, self._configuration = engine, scratch, configuration
        started = perf_counter()
        manifest = storage.load(scratch / "loaded")
        log.info(self.name, f"Load {perf_counter() - started:.3f} seconds")
        _check_source(manifest, configuration)
        self._store = manifest.store
        self._expected = Tally(manifest.records, manifest.checksum)

    def job(self, number: int, units: int = 1) -> Done:
        """Compact so many copies of the store, one after the other; the rates are means.

        Each copy is checked by the records that the engine says it read, and the last one of a
        checked job by all of its records.

        Raises
        ------
        CheckFailedError
            If the checked copy does not hold exactly the records of ingest after compaction.
        """
        folder = self._scratch / self._store
        checked = units - 1 if self._configuration.is_checked(number) else None
        took = Took.mean(
            [self._compact(folder, is_checked=each == checked) for each in range(units)]
        )
        return Done(took.seconds, list(self._lines(number, took)))

    def _lines(self, number: int, took: Took) -> Iterator[str]:
        seed, task = self._configuration.seed, self._configuration.task
        job, records = uuid5(JOBS, f"{seed}/{task}/{number}"), self._expected.records
        done = f"Compaction job {job}: compaction"
        yield f"{done} read {records} records at {records / took.seconds:.1f} per second"
        yield f"{done} used {took.cpu_per(records)} for {records} records"

    def _compact(self, folder: Path, *, is_checked: bool) -> Took:
        """Merge the files of a copy of the store; return the time that the engine took."""
        shutil.copytree(self._scratch / "loaded", folder, copy_function=_copy)
        store = self._engine.open_store(folder)
        took = timed(store.compact)
        if is_checked:
            check_tally(store.tally(), self._expected, "The store after compaction")
        store.close()
        if (read := store.records_read()) != self._expected.records:
            raise CheckFailedError(
                f"{self._engine.title} read {read} records: {self._expected.records} were expected."
            )
        shutil.rmtree(folder)
        return took


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
