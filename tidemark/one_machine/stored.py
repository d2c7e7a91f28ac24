"""The results in a state folder, without a cloud: bucket and tables as ports, and a publisher."""

from __future__ import annotations

import mimetypes
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from onebox.athena.catalogue import Catalogue
from onebox.athena.errors import QueryError
from onebox.store.index import DamagedObject
from onebox.store.object_files import ObjectFiles
from onebox.store.table_objects import FileObjects, UndamagedObjects
from tidemark.client.deployed import Stored
from tidemark.client.tables import Answer, StatementFailed, Value, literal
from tidemark.store import keys
from tidemark.store.bucket import Bucket, Damaged, Tagged
from tidemark.store.columns import SCAN_LIMIT_BYTES, TABLES, database_name, table_input

if TYPE_CHECKING:  # a command that asks no statement starts without the engine
    from onebox.athena.execution import Rows, Translation
    from onebox.athena.rows import RowCache
    from onebox.store.translation_cache import TranslationCache

# The one-machine cloud names the bucket after its stack and its place in the CDK app. The last
# characters of the name are a digest. On AWS, too, another place would be another bucket.
_RESULTS, _PLACE = "resultsbucket", "46167c27"
_SUITE = f"{keys.rows('runs')}suite="


class DamagedResult(DamagedObject, Damaged):
    """An object of the results bucket whose file is not what was stored."""


@contextmanager
def stored_in(
    state: Path, stack: str, suites: Sequence[str], reported: Callable[[str], None]
) -> Iterator[Stored]:
    """Yield the results of a stack in a state folder.

    The partitions of its tables are ``suites`` and those that have results, perhaps by a run of
    another folder of suites.
    ``reported`` is called with a sentence about each damaged object that is read.

    Raises
    ------
    FolderInUse
        If another process has the folder open.
    ObjectFilesError
        If the folder cannot be used, or an object that is needed is damaged.

    """
    files = ObjectFiles(state / "objects")
    try:
        name = results_bucket(files, stack)
        bucket, database = FileBucket(files, name, reported), database_name(stack)
        partitions = sorted({*suites, *_suites(bucket)})
        catalogue = {
            database: {
                table: {
                    "DatabaseName": database,
                    **table_input(table, columns, f"s3://{name}/tables", partitions),
                }
                for table, columns in TABLES.items()
            }
        }
        tables = FileTables(files, catalogue, database, state / "tables", reported)
        publisher = InProcessPublisher(bucket, files.transaction)
        yield Stored(bucket, tables, publisher, check=files.check_index)
    finally:
        files.close()


def _suites(bucket: FileBucket) -> Iterator[str]:
    """Yield the suites that have results, with one look at each."""
    last = ""
    while key := next(bucket.keys(_SUITE, after=last), ""):
        suite = key.removeprefix(_SUITE).split("/")[0]
        yield suite
        last = f"{_SUITE}{suite}0"  # 0 follows / in the order of keys


def own_bucket(stack: str) -> str:
    """Return the name of the results bucket that a cloud makes for a stack."""
    return f"{stack}-{_RESULTS}{_PLACE}"[:63].lower()


def results_bucket(files: ObjectFiles, stack: str) -> str:
    """Return the name of a stack's results bucket; the one that a cloud makes if there is none."""
    prefix = f"{stack.lower()}-{_RESULTS}"
    first = next(files.buckets(after=prefix), "")
    return first if first.startswith(prefix) else own_bucket(stack)


class FileBucket:
    """One bucket of a folder of objects; this process alone has the folder.

    ``reported`` is called with a sentence about each damaged object that is read.
    """

    def __init__(
        self, files: ObjectFiles, name: str, reported: Callable[[str], None] = lambda _: None
    ) -> None:
        self._files, self.name, self._reported = files, name, reported

    def read(self, key: str) -> bytes:
        """Return the object's body; LookupError if there is none."""
        if found := self.find(key):
            return found.body
        raise LookupError(f"{key} is not in {self.name}")

    def find(self, key: str) -> Tagged | None:
        """Return the object with its entity tag, None if there is none."""
        body = self._files.find(self.name, key)
        if body is None:
            return None
        try:
            return Tagged(body.read(f"s3://{self.name}/{key}"), body.md5)
        except DamagedObject as error:
            self._reported(str(error))
            raise DamagedResult(str(error)) from None

    def write(self, key: str, body: bytes) -> None:
        """Store an object in place of an existing one, if any."""
        kind = mimetypes.guess_type(key)[0] or "binary/octet-stream"
        attributes = {
            # moto keeps times without a zone, in UTC.
            "last_modified": datetime.now(UTC).replace(tzinfo=None).isoformat(),
            "metadata": {"content-type": kind},
            "tags": {},
        }
        self._files.save(self.name, key, self._files.write([body]), attributes)

    def write_once(self, key: str, body: bytes) -> bool:
        """Store an object unless the key has one; tell whether it was stored."""
        return self.write_over(key, body, None)

    def write_over(self, key: str, body: bytes, etag: str | None) -> bool:
        """Store an object if the key still has this entity tag; tell whether it was stored.

        The tag None means that the key has no object.
        """
        with self._files.transaction():
            if written := self._etag(key) == etag:
                self.write(key, body)
        return written

    def keys(self, prefix: str, at_once: int = 1_000, after: str = "") -> Iterator[str]:
        """Yield the keys that begin with ``prefix`` and follow ``after``, in order."""
        return (key for key, *_ in self._files.listed(self.name, prefix, after))

    def folders(self, prefix: str) -> Iterator[str]:
        """Yield the names of the folders in the folder ``prefix``."""
        below = (key[len(prefix) :].split("/") for key in self.keys(prefix))
        return iter(dict.fromkeys(parts[0] for parts in below if len(parts) > 1))

    def discard(self, key: str) -> None:
        """Delete an object, if there is one."""
        self._files.remove(self.name, key)

    def delete(self, prefix: str) -> None:
        """Delete every object whose key begins with ``prefix``."""
        with self._files.transaction():
            for key in self.keys(prefix):
                self.discard(key)

    def delete_if(self, key: str, etag: str) -> bool:
        """Delete an object if it still has this entity tag; tell whether it was deleted."""
        with self._files.transaction():
            if same := self._etag(key) == etag:
                self.discard(key)
        return same

    def _etag(self, key: str) -> str | None:
        body = self._files.find(self.name, key)
        return body.md5 if body else None


class FileTables:
    """The tables of one database; ``folder`` keeps rows and translations between queries.

    An answer leaves out the rows of damaged objects, and ``reported`` is called with a sentence
    about each of these objects.
    """

    def __init__(
        self,
        files: ObjectFiles,
        catalogue: Catalogue,
        database: str,
        folder: Path,
        reported: Callable[[str], None],
    ) -> None:
        self._objects, self._catalogue = UndamagedObjects(FileObjects(files), reported), catalogue
        self._database, self._folder = database, folder

    @cached_property
    def _kept(self) -> RowCache:
        from onebox.athena.rows import RowCache  # noqa: PLC0415

        return RowCache(self._folder)

    @cached_property
    def _translations(self) -> TranslationCache:
        from onebox.store.translation_cache import TranslationCache  # noqa: PLC0415

        return TranslationCache(self._folder / "translations", self._catalogue, self._database)

    def ask(self, statement: str, parameters: Sequence[Value] = ()) -> Answer:
        """Return the answer to a statement; each ``?`` in it stands for a parameter.

        Raises
        ------
        StatementFailed
            If the statement is refused or fails; the message is the engine's reason.

        """
        began = time.monotonic()
        try:
            translation = self._translations.of(statement, [literal(one) for one in parameters])
            found = self._objects.answer(partial(self._execute, translation))
        except QueryError as error:
            raise StatementFailed(str(error)) from None
        columns = [column.name for column in translation.columns]
        milliseconds = round(1000 * (time.monotonic() - began))
        return Answer(columns, found.rows, found.scanned_bytes, milliseconds)

    def _execute(self, translation: Translation, objects: UndamagedObjects) -> Rows:
        from cwli.cancellation import interruptible  # noqa: PLC0415
        from onebox.athena.execution import MOST_SECONDS, execute  # noqa: PLC0415

        return interruptible(
            lambda ending: execute(
                translation, objects, self._catalogue, SCAN_LIMIT_BYTES, self._kept, ending
            ),
            MOST_SECONDS,
        )


_MOST_REPORTS = 20
_AT_ONCE = 50
"""The imports whose rows are one transaction."""


class InProcessPublisher:
    """A publisher that runs the code of the functions.

    ``together`` makes one transaction of many writes, which saves their wait for the disk.
    """

    def __init__(
        self, bucket: Bucket, together: Callable[[], AbstractContextManager[None]] = nullcontext
    ) -> None:
        self._bucket, self._together = bucket, together

    # The imports are inner, because a reading command needs neither reports nor statistics.

    def rates(self, run_id: str) -> None:
        """Write a run's rows of the tables again."""
        from tidemark.run.record_rates import record_rates  # noqa: PLC0415

        record_rates(self._bucket, run_id)

    def report(self, run_id: str) -> None:
        """Write a run's report and its comparisons again."""
        from tidemark.report.run_report.publishing import publish_report  # noqa: PLC0415

        publish_report(self._bucket, run_id)

    def imported(self, run_ids: Sequence[str]) -> None:
        """Write what follows from new imports; their rates come last and complete them.

        Many imports get no reports, which take most of the time: `tidemark report` writes any.
        """
        from tidemark.report.run_report.publishing import publish_report  # noqa: PLC0415
        from tidemark.store.history import record_imports  # noqa: PLC0415

        with self._together():
            record_imports(self._bucket, run_ids)
        if len(run_ids) <= _MOST_REPORTS:
            for run_id in run_ids:
                publish_report(self._bucket, run_id, into_history=False)
        for start in range(0, len(run_ids), _AT_ONCE):
            with self._together():
                for run_id in run_ids[start : start + _AT_ONCE]:
                    self.rates(run_id)

    def comparison(self, suite: str, base: str, new: str) -> dict[str, str]:
        """Write the comparison of two sides; return the key of each form."""
        from tidemark.report.comparison.publishing import publish_comparison  # noqa: PLC0415

        return publish_comparison(self._bucket, suite, base, new)

    def refresh(self) -> None:
        """Do nothing, because QuickSight needs an account."""
