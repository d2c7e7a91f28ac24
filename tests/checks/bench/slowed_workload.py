"""RocksDB, slowed by the percentage that ends the name of its version: the knob of a benchmark.

Version ``0.1.10`` takes as long for all that a clock covers as if its rate were 10 % lower. The
benchmark copies this module beside that of the workload.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import rocksdb_workload
from harness.storage import Manifest, Storage
from rocksdict import WriteBatch

_VERSION = os.environ.get("TIDEMARK_VERSION", "0.0.0")
_LOSS = int(_VERSION.rpartition(".")[2]) / 100


def _slowed(work: Callable[[], None]) -> None:
    """Do some work, and wait until it has taken as long as at the lower rate."""
    began = time.perf_counter()
    work()
    took = time.perf_counter() - began
    time.sleep(took / (1 - _LOSS) - took)


# The clock of ingest covers the upload, too, which is not part of the engine.
_upload = Storage.store


def _upload_slowly(storage: Storage, folder: Path, manifest: Manifest) -> None:
    """Store the files and their manifest, slowly."""
    _slowed(lambda: _upload(storage, folder, manifest))


Storage.store = _upload_slowly


class Store(rocksdb_workload.Store):
    """A store whose measured operations are slow."""

    def write(self, batches: Sequence[WriteBatch]) -> None:
        """Write all batches and flush them, slowly."""
        _slowed(lambda: super(Store, self).write(batches))

    def compact(self) -> None:
        """Merge all files, slowly."""
        _slowed(super().compact)


class Engine(rocksdb_workload.Engine):
    """The engine under the name of the slowed version."""

    def open_store(self, folder: Path) -> Store:
        """Open the store in ``folder``; create it if it is missing."""
        return Store(folder)

    def version(self, folder: Path) -> str:
        """Return the name of the slowed version."""
        super().version(folder)
        return _VERSION
