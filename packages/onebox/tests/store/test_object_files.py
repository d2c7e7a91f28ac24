"""Objects in files, through a full disk, a killed process and the loss of their index."""

import errno
import os
import shutil
import sqlite3
import tempfile
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import pytest

from onebox.store.index import (
    DamagedIndex,
    DamagedObject,
    Entry,
    FolderInUse,
    Index,
    ObjectFilesError,
    readable,
)
from onebox.store.object_files import ObjectFiles


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "objects"


def put(files, key, content, **attributes):
    files.save("results", key, files.write([content]), attributes)


def contents(folder):
    """Return the contents of all objects by key, as a new process reads them."""
    files = ObjectFiles(folder)
    try:
        return {
            key: (body.read(key), attributes)
            for bucket in files.buckets()
            for key, body, attributes in files.objects(bucket)
        }
    finally:
        files.close()


@pytest.fixture
def stored(folder):
    """Fill the folder with three objects, one of them replaced, and a removed one."""
    files = ObjectFiles(folder)
    for key in ("kept", "replaced", "removed"):
        put(files, key, b"first", tags={})
    put(files, "replaced", b"second", tags={"a": "1"})
    files.remove("results", "removed")
    files.close()
    return {"kept": (b"first", {"tags": {}}), "replaced": (b"second", {"tags": {"a": "1"}})}


def state_of(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def damage(file):
    file.write_bytes(b"\0" * file.stat().st_size)


def test_an_object_that_the_disk_cannot_read_is_damaged(folder, stored):
    files = ObjectFiles(folder)
    body = files.find("results", "kept")
    body.path.unlink()
    body.path.mkdir()

    with pytest.raises(DamagedObject, match=r"kept is damaged: .* cannot be read: .*directory"):
        body.read("kept")
    files.close()


def test_a_damaged_object_is_named_when_it_is_read(folder, stored):
    files = ObjectFiles(folder)
    body = files.find("results", "kept")
    body.path.write_bytes(b"other")
    with pytest.raises(DamagedObject, match=r"^s3://results/kept is damaged: .*tidemark doctor"):
        body.read("s3://results/kept")
    body.path.unlink()
    with pytest.raises(DamagedObject, match=r"kept is damaged: .* is missing"):
        body.read("kept")

    assert files.find("results", "replaced").read("replaced") == b"second"
    files.close()


def test_reading_changes_no_file(folder, stored):
    before = state_of(folder)

    contents(folder)

    assert state_of(folder) == before


def test_a_commit_is_on_the_disk_before_it_returns(folder):
    files = ObjectFiles(folder)

    assert files._index._rows("PRAGMA synchronous") == [(2,)]  # FULL: the log is synced
    assert files._index._rows("PRAGMA journal_mode") == [("wal",)]
    files.close()


def test_an_index_that_could_not_be_made_keeps_no_lock(folder, monkeypatch):
    no_room = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with monkeypatch.context() as full:
        full.setattr(Index, "create", Mock(side_effect=no_room))
        with pytest.raises(OSError, match="No space") as failed:
            ObjectFiles(folder)

    assert contents(folder) == {}
    assert failed.tb  # keeps the first attempt's objects alive


def test_a_folder_is_of_one_process_at_a_time(folder, stored):
    files = ObjectFiles(folder)
    with pytest.raises(FolderInUse, match=r"index.sqlite is in use by another process\."):
        ObjectFiles(folder)
    files.close()


@pytest.mark.parametrize("harm", [lambda file: file.write_bytes(b"x" * 5_000), damage])
def test_a_damaged_index_is_named_and_left_as_it_is(folder, stored, harm):
    harm(folder / "index.sqlite")
    before = state_of(folder)

    with pytest.raises(ObjectFilesError, match=r"index.sqlite is damaged: .*tidemark doctor"):
        ObjectFiles(folder)
    assert state_of(folder) == before


@pytest.mark.parametrize("harm", [Path.unlink, lambda file: file.write_bytes(b"")])
def test_a_folder_without_its_index_is_refused_and_keeps_its_bodies(folder, stored, harm):
    harm(folder / "index.sqlite")
    bodies = state_of(folder / "bodies")

    for _ in range(2):
        with pytest.raises(ObjectFilesError, match=r"not their index; .*`tidemark doctor --repa"):
            ObjectFiles(folder)
    assert state_of(folder / "bodies") == bodies


def without_checksums(folder):
    """Make the index one of an earlier version, whose journal was moved away."""
    index = sqlite3.connect(folder / "index.sqlite")
    index.execute("ALTER TABLE objects DROP COLUMN crc32")
    index.close()


@pytest.mark.parametrize(
    "change", [lambda folder: (folder / "journal.jsonl").touch(), without_checksums]
)
def test_a_folder_of_an_earlier_version_is_refused_and_left_as_it_is(folder, stored, change):
    change(folder)
    before = state_of(folder)

    with pytest.raises(ObjectFilesError, match=r"objects is of an earlier version: .*restore`\.$"):
        ObjectFiles(folder)
    assert state_of(folder) == before


def change_row(folder, changes):
    index = sqlite3.connect(folder / "index.sqlite")
    index.execute(f"UPDATE objects SET {changes} WHERE key = 'kept'")
    index.commit()
    index.close()


@pytest.mark.parametrize(
    "change",
    [
        *("key = 'Kept'", "key = CAST(x'ff' AS TEXT)", "key = x'00'", "size = 7", "size = 'x'"),
        *("attributes = '{'", "body = x'00'", "crc32 = NULL"),
    ],
)
def test_a_changed_row_is_named_and_all_others_can_be_read(folder, stored, change):
    change_row(folder, change)

    files = ObjectFiles(folder)
    with pytest.raises(ObjectFilesError, match=r"index.sqlite is damaged: .*tidemark doctor"):
        files.check_index()
    with pytest.raises(ObjectFilesError, match=r"index.sqlite is damaged: .*tidemark doctor"):
        list(files.objects("results"))
    files.close()
    assert "replaced" in {entry.key for entry in readable(folder / "index.sqlite")}


def test_a_transaction_that_finds_a_damaged_row_changes_nothing(folder, stored):
    change_row(folder, "size = 7")
    files = ObjectFiles(folder)
    bodies = state_of(folder / "bodies")

    def change():
        with files.transaction():
            put(files, "replaced", b"third")
            put(files, "kept", b"other")

    with pytest.raises(DamagedIndex, match="the row of kept is"):
        change()
    assert state_of(folder / "bodies") == bodies
    assert files.find("results", "replaced").read("replaced") == b"second"
    files.close()


@pytest.mark.parametrize("name", ["/etc/hostname", "../../cloud.json", "A" * 32, ""])
def test_a_body_elsewhere_is_refused_and_never_read_or_deleted(folder, stored, name):
    checksum = Entry("results", "kept", name, 5, "", "{}").checksum()
    change_row(folder, f"body = '{name}', md5 = '', attributes = '{{}}', crc32 = {checksum}")

    files = ObjectFiles(folder)
    for act in (files.find, files.remove):
        with pytest.raises(ObjectFilesError, match=r"index.sqlite is damaged: the row of kept is"):
            act("results", "kept")
    files.close()


class BadSector:
    """A connection to an index that has a page which the disk cannot read."""

    def __init__(self, code):
        self._code, self.close = code, lambda: None

    def execute(self, *_):
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorcode = self._code
        raise error


@pytest.mark.parametrize("code", [sqlite3.SQLITE_IOERR_READ, sqlite3.SQLITE_IOERR_CORRUPTFS])
def test_a_bad_sector_of_an_index_is_damage_at_its_opening_and_at_each_reading(
    folder, stored, monkeypatch, code
):
    files = ObjectFiles(folder)
    files._index._database.close()
    files._index._database = BadSector(code)
    monkeypatch.setattr("onebox.store.index._connected", lambda *_, **__: BadSector(code))

    find = partial(files.find, "results", "kept")
    for read in (files.check_index, find, partial(contents, folder)):
        with pytest.raises(DamagedIndex, match=r"sqlite is damaged: disk I/O error; `tidemark doc"):
            read()


def test_an_index_that_cannot_be_copied_is_read_in_its_place(folder, stored, monkeypatch):
    def copyfile(*_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    killed_after_a_change(folder)
    monkeypatch.setattr(shutil, "copyfile", copyfile)
    before = state_of(folder)

    assert {entry.key for entry in readable(folder / "index.sqlite")} >= {"kept", "replaced"}
    assert state_of(folder) == before


def test_the_objects_on_the_whole_pages_of_a_damaged_index_can_be_read(folder):
    files = ObjectFiles(folder)
    with files.transaction():
        for number in range(400):
            body = files.write([b""], part=True)
            files.save("results", f"{number:03}", body, {"text": "x" * 100})
    files.close()
    index = folder / "index.sqlite"
    content = bytearray(index.read_bytes())
    middle = len(content) // 4096 // 2 * 4096
    content[middle : middle + 4096] = bytes(4096)
    index.write_bytes(content)

    keys = {entry.key for entry in readable(index)}

    assert {"000", "399"} <= keys
    assert 200 < len(keys) < 400


def killed_after_a_change(folder):
    """Let a process change a folder and end without closing it."""
    child = os.fork()
    if not child:
        files = ObjectFiles(folder)
        put(files, "new", b"new")
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


def forbid_writing(monkeypatch):
    for module in ("index", "object_files"):
        monkeypatch.setattr(f"onebox.store.{module}.is_writable", lambda _: False)


@pytest.mark.parametrize("is_damaged", [False, True])
def test_an_index_that_changes_while_it_is_copied_is_in_use(
    folder, stored, monkeypatch, is_damaged
):
    def copyfile(source, target, copy=shutil.copyfile):
        copy(source, target)
        owner.write_bytes(owner.read_bytes() + b"later")
        if is_damaged:
            raise sqlite3.DatabaseError("malformed")

    killed_after_a_change(folder)
    owner = folder / "index.sqlite-wal"
    forbid_writing(monkeypatch)
    with monkeypatch.context() as busy:
        busy.setattr(shutil, "copyfile", copyfile)
        with pytest.raises(FolderInUse, match=r"index.sqlite is in use by another process"):
            ObjectFiles(folder)

    assert contents(folder).keys() > stored.keys()


def test_a_folder_is_read_where_no_folder_can_be_written_at_all(folder, stored, monkeypatch):
    no_room = FileNotFoundError("No usable temporary directory found")
    monkeypatch.setattr(tempfile, "TemporaryDirectory", Mock(side_effect=no_room))
    before = state_of(folder)
    with monkeypatch.context() as forbidden:
        forbid_writing(forbidden)
        assert contents(folder) == stored
    assert state_of(folder) == before

    killed_after_a_change(folder)
    forbid_writing(monkeypatch)
    with pytest.raises(ObjectFilesError, match=r"index.sqlite and its log cannot be copied: No us"):
        ObjectFiles(folder)


def test_a_folder_that_cannot_be_written_can_be_read_with_the_last_changes(
    folder, stored, monkeypatch
):
    killed_after_a_change(folder)
    before = state_of(folder)
    forbid_writing(monkeypatch)

    assert contents(folder) == {**stored, "new": (b"new", {})}
    files = ObjectFiles(folder)
    for change in (lambda: put(files, "new", b""), lambda: files.remove("results", "new")):
        with pytest.raises(PermissionError):
            change()
    files.close()
    assert state_of(folder) == before


@pytest.mark.parametrize("first", range(2))
def test_a_change_without_room_changes_nothing_and_succeeds_when_there_is_room(
    folder, stored, monkeypatch, first
):
    def sync(descriptor, calls=iter(range(9))):  # noqa: B008
        if next(calls) >= first:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        original(descriptor)

    original = os.fsync
    files = ObjectFiles(folder)
    before = state_of(folder / "bodies")
    with monkeypatch.context() as full:
        full.setattr(os, "fsync", sync)
        with pytest.raises(OSError, match="No space left"):
            put(files, "kept", b"other")
    assert state_of(folder / "bodies").items() >= before.items()
    assert files.find("results", "kept").read("kept") == b"first"

    put(files, "new", b"new")
    files.close()
    assert contents(folder) == {**stored, "new": (b"new", {})}


@pytest.mark.parametrize("linking", [True, False])
def test_a_body_of_another_folder_is_linked_or_else_copied(
    folder, stored, tmp_path, monkeypatch, linking
):
    if not linking:
        monkeypatch.setattr(os, "link", Mock(side_effect=PermissionError))
    files, others = ObjectFiles(folder), ObjectFiles(tmp_path / "others")
    body = files.find("results", "kept")
    others.save("results", "linked", others.link(body), {})

    assert others.find("results", "linked").read("linked") == b"first"
    assert others.find("results", "linked").path.samefile(body.path) == linking
    files.remove("results", "kept")
    files.close()
    others.close()
    assert contents(tmp_path / "others") == {"linked": (b"first", {})}


def test_an_index_without_room_changes_nothing(folder, stored):
    files = ObjectFiles(folder)
    files._index._rows("PRAGMA max_page_count = 1")  # SQLite then reports a full disk

    with pytest.raises(OSError, match="No space left"):
        put(files, "new", b"new", text="x" * 100_000)
    files.close()

    assert contents(folder) == stored
