"""The ingest test, which writes records in sorted batches and stores them in S3."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from harness.checks import check_tally
from harness.clocks import Done, Took, timed
from harness.configuration import Configuration
from harness.engine import Engine
from harness.records import Tally, batches
from harness.storage import Manifest, Storage, digest


class Ingest:
    """The same records, which each job ingests into a new store.

    One clock runs while the engine writes and flushes, another while Tidemark uploads its files. A
    system that writes to S3 by itself has no files to upload.
    """

    name = "Ingest"

    def __init__(
        self, engine: Engine, configuration: Configuration, storage: Storage, scratch: Path
    ) -> None:
        self._engine, self._storage, self._scratch = engine, storage, scratch
        self._configuration = configuration
        records = batches(configuration.seed, configuration.task, configuration.records)
        self._data = list(records)
        self._expected = Tally.of(sorted(chain.from_iterable(self._data)))

    def job(self, number: int, units: int = 1) -> Done:
        """Ingest the records into so many new stores; the rates are means, and one is uploaded.

        The last store is checked, if any. In a round the first measured slice uploads alone, since
        an upload takes longer than the engine.

        Raises
        ------
        CheckFailedError
            If the checked store does not hold exactly the records that were written.
        """
        *others, folder = [self._scratch / f"store-{number}-{unit}" for unit in range(units)]
        is_checked = self._configuration.is_checked(number)
        times = [*map(self._written_once, others), self._write(folder, is_checked=is_checked)]
        engine = Took.mean(times)
        lines = [*self._of_engine(engine)]
        if number == 1 or not self._configuration.in_round:
            manifest = self._manifest(folder)
            upload = timed(lambda: self._storage.store(folder, manifest))
            lines += self._of_upload(engine, upload, manifest)
        shutil.rmtree(folder)
        return Done(engine.seconds, lines)

    def _of_engine(self, engine: Took) -> Iterator[str]:
        records = self._expected.records
        yield _rate(f"Engine ingested {records} records in {engine.seconds:.3f}", records, engine)
        yield f"Engine used {engine.cpu_per(records)} for {records} records"

    def _of_upload(self, engine: Took, upload: Took, manifest: Manifest) -> Iterator[str]:
        records, seconds = self._expected.records, engine.seconds + upload.seconds
        if manifest.files:
            yield _rate(f"Uploaded {records} records in {upload.seconds:.3f}", records, upload)
        both = Took(seconds, engine.cpu_seconds + upload.cpu_seconds)
        yield _rate(f"Wrote {records} records to S3 in {seconds:.1f}", records, both)

    def _written_once(self, folder: Path) -> Took:
        """Write all records into a store that nobody needs; return the time of the engine."""
        took = self._write(folder, is_checked=False)
        shutil.rmtree(folder)
        return took

    def _write(self, folder: Path, *, is_checked: bool) -> Took:
        """Write all records until they are durable; return the time that the engine took."""
        folder.mkdir()
        store = self._engine.open_store(folder)
        prepared = [store.batch(records) for records in self._data]
        took = timed(lambda: store.write(prepared))
        if is_checked:
            check_tally(store.tally(), self._expected, "The store after ingest")
        store.close()
        return took

    def _manifest(self, folder: Path) -> Manifest:
        files = self._engine.files(folder)
        return Manifest(
            version=self._configuration.version,
            package=self._configuration.package,
            seed=self._configuration.seed,
            records=self._expected.records,
            checksum=self._expected.checksum,
            store=folder.name,
            files={str(path.relative_to(folder)): digest(path) for path in files},
        )


def _rate(done: str, records: int, took: Took) -> str:
    return f"{done} seconds at {records / took.seconds:.1f} per second"
