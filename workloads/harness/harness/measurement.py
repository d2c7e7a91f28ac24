"""The measuring process: ``python -m harness.measurement MODULE ingest|compaction SCRATCH``.

It runs in the environment of one version, with the tools of the harness. The ingest test writes
records in sorted batches and stores them in S3; the compaction test loads the files that ingest
stored and merges them.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from importlib import import_module
from itertools import chain
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import NamedTuple
from uuid import UUID, uuid5

from botocore.exceptions import BotoCoreError, ClientError
from botocore.session import Session

from harness import log
from harness.clocks import Took, timed
from harness.engine import Engine, Tally, batches, check_tally
from harness.machine import log_environment
from harness.rounds import ROUND, do_asked
from harness.storage import Manifest, Storage, digest
from harness.task import CheckFailedError, Configuration


def main(module: str, test: str, scratch: Path) -> int:
    """Run ``test`` in the empty folder ``scratch``; return the exit code."""
    configuration = Configuration.from_environment(os.environ)
    try:
        engine = import_module(module).Engine(configuration.place)
        log_environment(engine, configuration, scratch)
        # boto3 would import a fifth more, for transfers that no test makes.
        client = Session().create_client("s3")
        storage = Storage(client, configuration.bucket, configuration.prefix)
        work = TESTS[test](engine, configuration, storage, scratch)
        if ROUND in os.environ:
            do_asked(partial(_do, work), os.environ, sys.stdin)
        else:
            for number in range(1, configuration.jobs + 1):
                _do(work, number)
    except CheckFailedError as failure:
        log.error("Check", str(failure))
        return 1
    except (BotoCoreError, ClientError) as failure:
        log.error("Storage", f"S3 refused: {failure}")
        return 1
    return 0


def _do(work: Ingest | Compaction, number: int, units: int = 1) -> float:
    """Do a job and log its rates; return the seconds of the engine for one unit of its work."""
    done = work.job(number, units)
    if number:  # job 0 warms a version up
        for line in done.lines:
            log.info(work.name, line)
    return done.seconds


def name_failure(
    kind: type[BaseException], failure: BaseException, traceback: TracebackType | None
) -> None:
    """Log an engine's own exception as the reason why the task ends, after its traceback."""
    sys.__excepthook__(kind, failure, traceback)
    log.error("Task", f"{kind.__name__}: {' '.join(str(failure).split())}")


class Done(NamedTuple):
    """A job that was done."""

    seconds: float
    """The time of the engine for one unit of the work [s]."""
    lines: Sequence[str]
    """The lines of the log with the rates."""


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
        """Ingest the records into ``units`` new stores and upload one; the rates are means.

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
        """Compact ``units`` copies of the store, one after the other; the rates are means.

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


TESTS = {"ingest": Ingest, "compaction": Compaction}


if __name__ == "__main__":
    # Each engine has exceptions of its own: a full disk, a corrupt file.
    sys.excepthook = name_failure
    sys.exit(main(sys.argv[1], sys.argv[2], Path(sys.argv[3])))
