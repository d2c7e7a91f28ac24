"""The parts of a system under test that a workload provides; the harness does the rest."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from harness.records import Tally


class Store(Protocol):
    """An open store of records."""

    def batch(self, records: list[bytes]) -> Any:  # noqa: ANN401 (each engine has its own)
        """Return records in the form that the engine writes; no clock runs."""

    def write(self, batches: Sequence[Any]) -> None:
        """Write all batches until they are durable; the clock runs."""

    def compact(self) -> None:
        """Merge all that was written, reading each record once; the clock runs."""

    def tally(self) -> Tally:
        """Return the tally of all records in the store."""

    def close(self) -> None:
        """Close the store; one that lies in S3 is then as it was before its compaction."""

    def records_read(self) -> int:
        """Return the number of records that compactions read, as the engine itself counts them.

        The store is closed. If it lies in S3, ``close`` has restored it.
        """


class Engine(Protocol):
    """One version of a system. A workload's module has a class ``Engine`` of this form.

    Its constructor takes the place of the task in S3, such as ``s3://bucket/prefix/task-0000/``.
    """

    title: str
    """The name of the system in sentences."""

    def open_store(self, folder: Path) -> Store:
        """Open the store in ``folder``; create it if it is missing."""

    def version(self, folder: Path) -> str:
        """Return the version that the system itself reports; ``folder`` is empty."""

    def files(self, folder: Path) -> list[Path]:
        """Return the files that make up the closed store in ``folder``, sorted.

        A system that writes to S3 by itself has none.
        """
