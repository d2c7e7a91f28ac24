"""The tables of results over the files of the one-machine cloud, queried without the cloud."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from cwli.cancellation import interruptible
from onebox.athena.catalogue import Catalogue
from onebox.athena.errors import QueryError
from onebox.athena.execution import MOST_SECONDS, Rows, Translation, execute
from onebox.athena.kept import KeptRows
from onebox.athena.objects import StoredObject
from onebox.store.object_files import ObjectFiles
from onebox.store.translations import KeptTranslations
from onebox.store.undamaged import UndamagedObjects
from tidemark.client.tables import Answer, StatementFailed, Value, literal
from tidemark.store.catalogue import SCAN_LIMIT_BYTES


class FileObjects:
    """The objects of all buckets, for the Athena engine."""

    def __init__(self, files: ObjectFiles) -> None:
        self._files = files

    def list(self, location: str) -> Sequence[StoredObject]:
        """Return the objects whose location begins with ``location``."""
        bucket, prefix = _bucket_and_key(location)
        root = f"s3://{bucket}/"
        return [
            StoredObject(root + key, size, md5)
            for key, size, md5 in self._files.listed(bucket, prefix)
        ]

    def read(self, location: str) -> bytes:
        """Return the body of an object."""
        body = self._files.find(*_bucket_and_key(location))
        if body is None:
            raise QueryError("HIVE_CANNOT_OPEN_SPLIT", f"{location} is no longer there")
        return body.read(location)


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
        self._kept = KeptRows(folder)
        self._translations = KeptTranslations(folder / "translations", catalogue, database)

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
        return interruptible(
            lambda ending: execute(
                translation, objects, self._catalogue, SCAN_LIMIT_BYTES, self._kept, ending
            ),
            MOST_SECONDS,
        )


def _bucket_and_key(location: str) -> tuple[str, str]:
    bucket, _, key = location.removeprefix("s3://").partition("/")
    return bucket, key
