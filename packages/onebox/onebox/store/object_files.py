"""Objects of buckets in a folder: a file for each body, a journal of all changes and their index.

An object exists from the moment on at which the journal's line about it is on the disk, and so is
its body by then. A process that dies, or a machine whose power fails, leaves the old object or the
new one. A file is removed only after the journal has said on the disk that no object needs it.

- ``uploads`` has the bodies that no object has yet; a process that writes removes those of dead
  processes.
- ``bodies`` has the bodies of objects.
- ``journal.jsonl`` and ``index.sqlite`` can each be made from the other.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from threading import RLock
from typing import Any
from uuid import uuid4

from onebox.disk import make_folder, quarantine, read_regular, sync_folder
from onebox.store.errors import DOCTOR, DamagedIndex, DamagedJournal, DamagedObject, NamelessBodies
from onebox.store.index import Index, Listed
from onebox.store.journal import Change, Entry, Journal, Position, Removal, is_body

# A process that ends writes a journal anew that is longer than so many times its index, and so many
# bytes more.
_MOST_TIMES, _MOST_BYTES = 2, 1 << 20


@dataclass
class Body:
    """The bytes of an object: a file that never changes.

    Attributes
    ----------
    path
        The file.
    size
        Its length in bytes.
    md5
        Its MD5 in hexadecimal, which is the entity tag of an object put in one part.
    owned
        Whether an object or a part has this body; a refused request leaves a body without owner.
    whole
        Whether this process has written the file, or compared it with its digest.
    """

    path: Path
    size: int
    md5: str
    owned: bool = False
    whole: bool = False

    def read(self, name: str) -> bytes:
        """Return the bytes of the object with this name, for messages.

        Raises
        ------
        DamagedObject
            If the file is missing or is not what was stored.
        """
        try:
            content = read_regular(self.path)
        except FileNotFoundError:
            raise DamagedObject(f"{name} is damaged: {self.path} is missing; {DOCTOR}.") from None
        except (OSError, ValueError) as error:  # an error of the disk; a name that is no name
            reason = f"{self.path} cannot be read: {error}"
            raise DamagedObject(f"{name} is damaged: {reason}; {DOCTOR}.") from None
        if not self.whole and _md5(content) != self.md5:
            raise DamagedObject(
                f"{name} is damaged: {self.path} has {len(content):,} bytes that are not the "
                f"{self.size:,} bytes that were stored; {DOCTOR}."
            )
        self.whole = True
        return content


class ObjectFiles:
    """A folder with the bodies of objects, their journal and its index.

    Attributes
    ----------
    folder
        The folder.
    """

    def __init__(self, folder: Path, *, skip_damaged: bool = False) -> None:
        """Open ``folder``; make the folder if it does not exist.

        A folder that this process may not write can be read.

        An index is made from a journal with damaged lines only if these are to be skipped.

        Raises
        ------
        FolderInUse
            If another process has the folder open.
        NamelessBodies
            If neither the journal nor the index says what the bodies are.
        """
        self.folder, self._bodies, self._uploads = folder, folder / "bodies", folder / "uploads"
        if not self._bodies.is_dir():
            make_folder(self._bodies)
        self._lock = RLock()
        self._depth = 0
        self._writes = False
        self._changes: dict[tuple[str, str], Change] = {}
        self._added: list[Path] = []
        self._replaced: list[Path] = []
        self._whole: dict[tuple[str, str], Sequence[Listed]] = {}
        self._journal = Journal(folder / "journal.jsonl")
        self._index = self._open_index()
        try:
            self._end = self._caught_up(skip_damaged=skip_damaged)
        except BaseException:
            self._index.close()
            raise

    def close(self) -> None:
        """Let another process open the folder."""
        # A longer journal is no harm: the disk may be full.
        with suppress(OSError):
            if self._writes and self._journal_is_long():
                self._write_journal()
        self._index.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run the block as one transaction, alone among threads; transactions may be nested.

        Raises
        ------
        OSError
            If its changes cannot be written; nothing has changed then.
        """
        with self._lock:
            if self._depth == 0:
                self._index.begin()
            self._depth += 1
            try:
                yield
            except OSError:
                _unlink(self._undo())
                raise
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self._end_transaction()

    def write(self, chunks: Iterable[bytes], *, part: bool = False) -> Body:
        """Write a body that no object has yet; a ``part`` of one need not outlive the process."""
        self._begin_writing()
        path = self._uploads / uuid4().hex
        digest = hashlib.md5(usedforsecurity=False)
        size = 0
        try:
            with path.open("wb") as file:
                for chunk in chunks:
                    digest.update(chunk)
                    size += file.write(chunk)
                if not part:
                    file.flush()
                    os.fsync(file.fileno())
        except BaseException:  # a client may go away, or the disk be full
            path.unlink(missing_ok=True)
            raise
        return Body(path, size, digest.hexdigest(), whole=True)

    def save(self, bucket: str, key: str, body: Body, attributes: dict[str, Any]) -> None:
        """Store an object with this body, in place of an earlier object with the key."""
        self._begin_writing()
        with self.transaction():
            if body.path.parent == self._uploads:
                body.path = body.path.rename(self._bodies / body.path.name)
                self._added.append(body.path)
            text = json.dumps(attributes)
            self._change(Entry(bucket, key, body.path.name, body.size, body.md5, text))

    def remove(self, bucket: str, key: str) -> None:
        """Remove an object, if there is one."""
        if self.find(bucket, key):
            self._begin_writing()
            with self.transaction():
                self._change(Removal(bucket, key))

    def find(self, bucket: str, key: str) -> Body | None:
        """Return the body of an object, None if there is no such object."""
        entry = self._index.find(bucket, key)
        return self._body(entry) if entry else None

    def buckets(self, after: str = "") -> Iterator[str]:
        """Yield the names behind ``after`` of the buckets that hold objects, in order."""
        while name := self._index.next_bucket(after):
            yield name
            after = name

    def objects(self, bucket: str) -> Iterator[tuple[str, Body, dict[str, Any]]]:
        """Yield the key, the body and the attributes of each object of a bucket."""
        for entry in self._index.entries(bucket):
            yield entry.key, self._body(entry), self._attributes(entry)

    def check_index(self) -> None:
        """Raise DamagedIndex if an object in the index cannot be read."""
        for bucket in self.buckets():
            deque(self.objects(bucket), maxlen=0)

    def whole_listing(self, bucket: str, prefix: str) -> Sequence[Listed]:
        """Return what ``listed`` returns; the list is the same until an object in it changes."""
        with self._lock:
            if (bucket, prefix) not in self._whole:
                self._whole[bucket, prefix] = self.listed(bucket, prefix)
            return self._whole[bucket, prefix]

    def listed(
        self, bucket: str, prefix: str, after: str = "", most: int | None = None
    ) -> list[Listed]:
        """Return key, size and MD5 of each object whose key begins with ``prefix``, in order.

        The list has the first ``most`` keys that follow ``after``.
        """
        return self._index.listed(bucket, prefix, after, most)

    def unowned(self) -> list[Path]:
        """Return the bodies that no object has: a process died before it had stored an object."""
        owned = {entry.body for entry in self._entries()}
        return sorted(path for path in self._bodies.iterdir() if path.name not in owned)

    def disagreement(self) -> str | None:
        """Return what is wrong with the index or the journal, None if they are whole and agree."""
        if problem := self._index.problem():
            return problem
        try:
            indexed = {(entry.bucket, entry.key): entry for entry in self._entries()}
        except DamagedIndex as error:
            return str(error)
        if not self._journal.file.exists():
            return None  # an earlier version wrote none, and the next change does
        if not self._journal.reaches(self._end):
            return f"{self._journal.file} is damaged: it lacks changes that the index has"
        try:
            told = self._journal.entries()
        except DamagedJournal as error:
            return str(error)
        count = sum(indexed.get(name) != told.get(name) for name in {*indexed, *told})
        return f"{self.folder}: index and journal differ in {count:,} objects" if count else None

    def agree(self) -> None:
        """Make the index again from the journal, or a damaged journal from the index.

        The replaced file is moved aside.

        Raises
        ------
        ObjectFilesError
            If neither is whole.
        """
        if not self._journal_is_whole():
            self._renew_journal()
            return
        self._index.close()
        self._set_index_aside()
        self._index = self._open_index()
        self._end = self._caught_up()

    def quarantine_if_damaged(self, bucket: str, key: str) -> None:
        """Move the file of a damaged object aside, and remove the object."""
        body = self.find(bucket, key)
        if body is None:
            return
        try:
            body.read(key)
        except DamagedObject:
            with suppress(FileNotFoundError):
                quarantine(body.path, self.folder.parent)
            self.remove(bucket, key)

    def _entries(self) -> Iterator[Entry]:
        return chain.from_iterable(map(self._index.entries, self.buckets()))

    def _body(self, entry: Entry) -> Body:
        if not is_body(entry.body):
            raise self._index.damaged(f"{entry.key} has the body {entry.body!r}")
        return Body(self._bodies / entry.body, entry.size, entry.md5, owned=True)

    def _attributes(self, entry: Entry) -> dict[str, Any]:
        try:
            attributes: dict[str, Any] = json.loads(entry.attributes)
        except ValueError as error:
            raise self._index.damaged(f"{entry.key}: {error}") from None
        return attributes

    def _change(self, change: Change) -> None:
        previous = self.find(change.bucket, change.key)
        self._index.apply([change])
        self._changes[change.bucket, change.key] = change
        if previous and not (isinstance(change, Entry) and previous.path.name == change.body):
            self._replaced.append(previous.path)
        for bucket, prefix in list(self._whole):
            if bucket == change.bucket and change.key.startswith(prefix):
                del self._whole[bucket, prefix]

    def _end_transaction(self) -> None:
        """Commit the changes: first on the disk, then in the index; then unlink what they replace.

        A failure undoes them.
        """
        before = self._end
        try:
            if self._added:
                sync_folder(self._bodies)
            if self._changes:
                self._end = self._journal.append([*self._changes.values()], before)
                self._index.reach(self._end)
            self._index.commit()
        except BaseException:
            self._end, changes = before, len(self._changes)
            added = self._undo()
            if changes:
                self._journal.cut(before)
            _unlink(added)
            raise
        _unlink(self._replaced)
        self._changes, self._added, self._replaced = {}, [], []

    def _undo(self) -> list[Path]:
        """Forget the changes of the transaction; return the bodies that no object needs then."""
        self._index.rollback()
        self._whole.clear()
        added = self._added
        self._changes, self._added, self._replaced = {}, [], []
        return added

    def _open_index(self) -> Index:
        """Open the index, or a new one if SQLite cannot read it and the journal has its objects."""
        file = self.folder / "index.sqlite"
        try:
            return Index(file)
        except DamagedIndex:
            if not self._journal.generation():
                raise
            self._set_index_aside()
            return Index(file)

    def _set_index_aside(self) -> None:
        for file in self.folder.glob("index.sqlite*"):
            quarantine(file, self.folder.parent)

    def _caught_up(self, *, skip_damaged: bool = False) -> Position:
        """Apply what the journal has and the index lacks; return the position of the index."""
        end, generation = self._index.position(), self._journal.generation()
        start = Position(generation, 0)
        if generation > end.generation:
            end = self._replayed(start, skip_damaged=skip_damaged)
        elif self._journal.reaches(end):
            try:
                end = self._replayed(end, skip_damaged=False)
            except DamagedJournal:
                # Perhaps it is the index that is damaged, and its position with it.
                end = self._replayed(end if skip_damaged else start, skip_damaged=skip_damaged)
        elif end.generation == 0 and not any(self.buckets()) and any(self._bodies.iterdir()):
            raise NamelessBodies(
                f"{self.folder} has bodies of objects but neither their index nor their journal; "
                "restore index.sqlite or journal.jsonl from a backup, or let `tidemark doctor "
                "--repair` name runs and trials by what their files say."
            )
        return end

    def _replayed(self, after: Position, *, skip_damaged: bool) -> Position:
        """Apply what the journal has after a position; return the end of its last transaction."""
        self._index.begin()
        try:
            if after.offset == 0:
                self._index.clear()
            for after, changes in self._journal.transactions(  # noqa: B020, PLR1704
                after, skip_damaged=skip_damaged
            ):
                self._index.apply(changes)
                self._index.reach(after)
        except BaseException:
            self._index.rollback()
            raise
        self._index.commit()
        return after

    def _begin_writing(self) -> None:
        """Remove the uploads of dead processes, and have a journal, before the first change."""
        if self._writes:
            return
        with self._lock:
            if self._writes:  # another thread was first
                return
            make_folder(self._uploads)
            _unlink(self._uploads.iterdir())
            if not self._journal.reaches(self._end):
                self._renew_journal()
            self._writes = True

    def _journal_is_whole(self) -> bool:
        try:
            self._journal.entries()
        except DamagedJournal:
            return False
        return self._journal.reaches(self._end)

    def _renew_journal(self) -> None:
        """Write the journal from the index; move aside what there was."""
        if self._journal.file.exists():
            quarantine(self._journal.file, self.folder.parent)
        self._write_journal()

    def _write_journal(self) -> None:
        """Write a new journal from the index."""
        generation = 1 + max(self._journal.generation(), self._end.generation)
        self._end = self._journal.rewrite(self._entries(), generation)
        self._index.reach(self._end)

    def _journal_is_long(self) -> bool:
        # An index is about as long as a journal that has every object once.
        index = (self.folder / "index.sqlite").stat().st_size
        return self._end.offset > _MOST_TIMES * index + _MOST_BYTES


def _unlink(paths: Iterable[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)


def _md5(content: bytes) -> str:
    return hashlib.md5(content, usedforsecurity=False).hexdigest()
