"""RocksDB through its Java library, in a Java process that obeys one command a line."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile

from harness.engine import Tally
from harness.task import CheckFailedError

_PREPARED = os.environ.get("TIDEMARK_PREPARED", "")
_CLASSES = f"{_PREPARED}/rocksdbjni.jar:{_PREPARED}"
# The files that RocksDB keeps beside the data: its logs, and the lock of the process.
_NOT_DATA = ("LOG", "LOCK")


class Store:
    """An open store in a folder."""

    def __init__(self, folder: Path) -> None:
        self._java = subprocess.Popen(
            # The library unpacks itself into Java's folder of temporary files; /tmp may be closed.
            ["java", f"-Djava.io.tmpdir={folder.parent}", "-cp", _CLASSES, "RecordStore", folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._scratch = folder.parent
        self._records_read = 0

    def version(self) -> str:
        """Return the version that the library reports."""
        return self._ask("version")

    def batch(self, records: list[bytes]) -> None:
        """Give a batch of records to the Java process, which keeps it."""
        with NamedTemporaryFile(dir=self._scratch) as file:
            file.write(b"".join(records))
            file.flush()
            self._ask(f"batch {file.name}")

    def write(self, batches: Sequence[None]) -> None:
        """Write all batches and flush them."""
        self._ask("write")

    def compact(self) -> None:
        """Merge all files, reading each record once."""
        self._ask("compact")

    def tally(self) -> Tally:
        """Return the tally of all records."""
        records, checksum = self._ask("tally").split()
        return Tally(int(records), int(checksum))

    def close(self) -> None:
        """Close the store and end the process."""
        self._records_read = int(self._ask("read"))
        self._ask("close")
        self._java.communicate()

    def records_read(self) -> int:
        """Return the number of records that compactions read, according to RocksDB's events."""
        return self._records_read

    def _ask(self, command: str) -> str:
        stdin, stdout = self._java.stdin, self._java.stdout
        if stdin is None or stdout is None:
            raise ValueError("the Java process has no pipes")
        print(command, file=stdin, flush=True)
        answer = stdout.readline()
        if not answer:
            name = command.partition(" ")[0]
            code = self._java.wait()
            raise CheckFailedError(f"The Java process ended with exit code {code} at {name}.")
        return answer.strip()


class Engine:
    """The version of RocksDB that was prepared."""

    title = "RocksDB for Java"

    def __init__(self, place: str) -> None:
        pass

    def open_store(self, folder: Path) -> Store:
        """Open the store in ``folder``; create it if it is missing."""
        return Store(folder)

    def version(self, folder: Path) -> str:
        """Return the version that the library reports."""
        store = Store(folder)
        version = store.version()
        store.close()
        return version

    def files(self, folder: Path) -> list[Path]:
        """Return the files that make up the store in ``folder``."""
        return sorted(path for path in folder.iterdir() if not path.name.startswith(_NOT_DATA))
