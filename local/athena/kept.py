"""The rows of partitions, kept so that their objects are not read again for every query.

Objects of runs that are over do not change. The rows of a partition of many objects are kept as
Parquet; the name of the file is a digest of the objects' places and entity tags and of how they
were read, so that what is kept is never out of date.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import duckdb

WORTHWHILE_OBJECTS = 100
"""Of how many objects on the rows of a partition are kept."""


class KeptRows:
    """Rows of partitions in a folder, one file for each; one process has it.

    Parameters
    ----------
    folder : Path
        Where the files are; made when the first is kept. It may be removed between queries.
    worthwhile_objects : int
        Of how many objects on the rows of a partition are kept.
    """

    def __init__(self, folder: Path, worthwhile_objects: int = WORTHWHILE_OBJECTS) -> None:
        self._folder = folder
        self._worthwhile_objects = worthwhile_objects
        self._lock = threading.Lock()

    def worth(self, objects: Sequence[object]) -> bool:
        """Return whether the rows of a partition of these objects are kept."""
        return len(objects) >= self._worthwhile_objects

    def file(self, partition: str, objects: str, write: Callable[[Path], None]) -> Path:
        """Return the file with the rows of a partition, written now if it is not there.

        Parameters
        ----------
        partition : str
            The partition's place; of each only the rows of its present objects are kept.
        objects : str
            What the rows depend on.
        write : callable
            Writes the rows as Parquet into a file.
        """
        folder = self._folder / _digest(partition)
        kept = folder / f"{_digest(f'{duckdb.__version__} {objects}')}.parquet"
        with self._lock:
            if not kept.exists():
                folder.mkdir(parents=True, exist_ok=True)
                for stale in folder.iterdir():
                    stale.unlink()
                unfinished = kept.with_suffix(f".{os.getpid()}")
                write(unfinished)
                unfinished.replace(kept)
        return kept


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
