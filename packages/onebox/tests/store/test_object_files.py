"""Objects in files, through the loss of power, of the index and of the journal."""

import errno
import os
import sqlite3

import pytest

from onebox.store.errors import DamagedObject, FolderInUse, ObjectFilesError
from onebox.store.journal import Entry, Journal, Position, Removal
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


@pytest.mark.parametrize(
    "harm", [lambda file: file.unlink(), lambda file: file.write_bytes(b""), damage]
)
def test_a_lost_index_is_made_again_from_the_journal(folder, stored, harm):
    harm(folder / "index.sqlite")

    assert contents(folder) == stored
    assert contents(folder) == stored


def change_index(folder, statement):
    index = sqlite3.connect(folder / "index.sqlite")
    index.execute(statement)
    index.commit()
    index.close()


@pytest.mark.parametrize("change", ["position = 77", "position = 'x'", "generation = x'ff'"])
def test_an_index_with_a_wrong_position_in_the_journal_is_made_again(folder, stored, change):
    change_index(folder, f"UPDATE journal SET {change}")

    assert contents(folder) == stored


@pytest.mark.parametrize("column", ["key", "attributes"])
@pytest.mark.parametrize("text", ["x'ff'", "'{'"])
def test_an_index_with_a_damaged_row_is_named_and_made_again(folder, stored, column, text):
    change_index(folder, f"UPDATE objects SET {column} = CAST({text} AS TEXT) WHERE key = 'kept'")

    files = ObjectFiles(folder)
    assert "index" in files.disagreement()
    if (column, text) != ("key", "'{'"):
        with pytest.raises(ObjectFilesError, match=r"index.sqlite is damaged: .*tidemark doctor"):
            files.check_index()
    files.agree()
    files.check_index()
    files.close()

    assert contents(folder) == stored


@pytest.mark.parametrize("lost", ["", "index.sqlite"])
def test_a_folder_that_cannot_be_written_can_be_read(folder, stored, monkeypatch, lost):
    if lost:
        (folder / lost).unlink()
    before = state_of(folder)
    monkeypatch.setattr("onebox.store.index.is_writable", lambda _: False)

    assert contents(folder) == stored
    assert state_of(folder) == before


@pytest.mark.parametrize("name", ["/etc/hostname", "../../cloud.json", "A" * 32, ""])
def test_a_body_elsewhere_is_refused_and_never_read_or_deleted(folder, stored, name):
    journal = Journal(folder / "journal.jsonl")
    end = journal.append([Entry("results", "kept", name, 1, "", "{}")], _end_of(journal))
    journal.append([Removal("results", "replaced")], end)

    with pytest.raises(ObjectFilesError, match=r"journal.jsonl is damaged at byte"):
        contents(folder)


@pytest.mark.parametrize("name", ["/etc/hostname", "../../cloud.json", b"\x00"])
def test_a_body_elsewhere_in_the_index_is_refused(folder, stored, name):
    index = sqlite3.connect(folder / "index.sqlite")
    index.execute("UPDATE objects SET body = ? WHERE key = 'kept'", (name,))
    index.commit()
    index.close()

    with pytest.raises(ObjectFilesError, match=r"index.sqlite is damaged: kept has the body"):
        contents(folder)


@pytest.mark.parametrize("change", [[1, 2, 3], ["a"], [[], [], [], [], [], []]])
def test_an_entry_of_another_form_is_a_damaged_line(folder, stored, change):
    journal = Journal(folder / "journal.jsonl")
    end = journal.append([change], _end_of(journal))
    journal.append([Removal("results", "replaced")], end)

    with pytest.raises(ObjectFilesError, match=r"journal.jsonl is damaged at byte"):
        contents(folder)


def _end_of(journal):
    return Position(journal.generation(), journal.file.stat().st_size)


def test_an_object_that_the_disk_cannot_read_is_damaged(folder, stored):
    files = ObjectFiles(folder)
    body = files.find("results", "kept")
    body.path.unlink()
    body.path.mkdir()

    with pytest.raises(DamagedObject, match=r"kept is damaged: .* cannot be read: .*directory"):
        body.read("kept")
    files.close()


def test_a_damaged_index_is_moved_aside(folder, stored):
    damage(folder / "index.sqlite")
    contents(folder)

    (aside,) = (folder.parent / "damaged" / "objects").iterdir()
    assert aside.name.startswith("index.sqlite.")


def test_an_older_index_gets_the_changes_that_it_lacks(folder, stored):
    older = (folder / "index.sqlite").read_bytes()
    files = ObjectFiles(folder)
    put(files, "new", b"new")
    files.remove("results", "kept")
    files.close()
    (folder / "index.sqlite").write_bytes(older)

    assert contents(folder) == {"replaced": stored["replaced"], "new": (b"new", {})}


def test_an_index_from_before_the_journal_was_written_anew_is_made_again(folder, stored):
    older = (folder / "index.sqlite").read_bytes()
    (folder / "journal.jsonl").unlink()
    files = ObjectFiles(folder)
    put(files, "new", b"new")
    files.close()
    (folder / "index.sqlite").write_bytes(older)

    assert contents(folder) == {**stored, "new": (b"new", {})}


def change_and_lose_index(folder):
    files = ObjectFiles(folder)
    put(files, "new", b"new")
    files.close()
    (folder / "index.sqlite").unlink()


@pytest.mark.parametrize("left", [0, 100])
def test_a_lost_or_shortened_journal_is_written_anew_with_the_next_change(folder, stored, left):
    journal = folder / "journal.jsonl"
    journal.write_bytes(journal.read_bytes()[:left])
    assert contents(folder) == stored

    change_and_lose_index(folder)

    assert contents(folder) == {**stored, "new": (b"new", {})}


def test_a_journal_with_a_damaged_beginning_is_moved_aside_before_the_next_change(folder, stored):
    journal = folder / "journal.jsonl"
    damaged = b"x" + journal.read_bytes()[1:]
    journal.write_bytes(damaged)
    assert contents(folder) == stored

    files = ObjectFiles(folder)
    assert "journal.jsonl is damaged" in files.disagreement()
    put(files, "new", b"new")
    assert files.disagreement() is None
    files.close()

    (aside,) = (folder.parent / "damaged" / "objects").iterdir()
    assert aside.read_bytes() == damaged
    (folder / "index.sqlite").unlink()
    assert contents(folder) == {**stored, "new": (b"new", {})}


def test_a_folder_without_index_and_journal_is_refused_and_left_as_it_is(folder, stored):
    (folder / "index.sqlite").unlink()
    (folder / "journal.jsonl").unlink()
    bodies = state_of(folder / "bodies")

    with pytest.raises(ObjectFilesError, match=r"neither .* journal; .*`tidemark doctor --repa"):
        ObjectFiles(folder)
    assert state_of(folder / "bodies") == bodies


def test_a_damaged_line_of_the_journal_keeps_a_lost_index_from_being_made(folder, stored):
    journal = folder / "journal.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b"kept", b"Kept"))
    assert contents(folder) == stored
    (folder / "index.sqlite").unlink()

    with pytest.raises(ObjectFilesError, match=r"journal.jsonl is damaged at byte \d+; .*doctor"):
        ObjectFiles(folder)


def test_a_cut_off_last_line_of_the_journal_does_not_count(folder, stored):
    journal = folder / "journal.jsonl"
    journal.write_bytes(journal.read_bytes() + b'0badf00d [["results","k"')
    assert contents(folder) == stored

    change_and_lose_index(folder)
    assert contents(folder) == {**stored, "new": (b"new", {})}


def test_the_journal_of_often_replaced_objects_stays_short(folder):
    for _ in range(2):
        files = ObjectFiles(folder)
        for number in range(3):
            put(files, "k", b"%d" % number, text="x" * 1_000_000)
        files.close()

    assert (folder / "journal.jsonl").stat().st_size < 2_000_000
    (folder / "index.sqlite").unlink()
    assert contents(folder)["k"][0] == b"2"


def test_a_store_without_a_journal_is_read_unchanged_and_gets_one_with_its_first_change(
    folder, stored
):
    keys = contents(folder).keys()
    (folder / "journal.jsonl").unlink()
    before = state_of(folder)
    assert contents(folder).keys() == keys
    assert state_of(folder) == before

    change_and_lose_index(folder)

    assert contents(folder).keys() == {*keys, "new"}


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


def test_a_folder_is_of_one_process_at_a_time(folder, stored):
    files = ObjectFiles(folder)
    with pytest.raises(FolderInUse, match=r"index.sqlite is in use by another process\."):
        ObjectFiles(folder)
    files.close()


class FullDisk:
    """Syncs that fail for want of room, from one of them on, until there is room again."""

    def __init__(self, monkeypatch, first):
        self._left, self.is_full = first, True
        for name in ("fsync", "fdatasync"):
            monkeypatch.setattr(os, name, self._checked(getattr(os, name)))

    def _checked(self, sync):
        def checked(descriptor):
            self._left -= 1
            if self.is_full and self._left < 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            sync(descriptor)

        return checked


@pytest.mark.parametrize("first", range(3))
def test_a_change_without_room_changes_nothing_and_succeeds_when_there_is_room(
    folder, stored, monkeypatch, first
):
    files = ObjectFiles(folder)
    before = state_of(folder / "bodies")
    disk = FullDisk(monkeypatch, first)

    with pytest.raises(OSError, match="No space left"):
        put(files, "kept", b"other")
    assert state_of(folder / "bodies").keys() >= before.keys()
    assert files.find("results", "kept").read("kept") == b"first"

    disk.is_full = False
    put(files, "new", b"new")
    files.close()
    assert contents(folder) == {**stored, "new": (b"new", {})}
    (folder / "index.sqlite").unlink()
    assert contents(folder) == {**stored, "new": (b"new", {})}


def test_an_index_without_room_takes_the_change_back_from_the_journal(folder, stored):
    files = ObjectFiles(folder)
    files._index._rows("PRAGMA max_page_count = 1")  # SQLite then reports a full disk

    with pytest.raises(OSError, match="No space left"):
        put(files, "new", b"new", text="x" * 100_000)
    files.close()

    assert contents(folder) == stored
    (folder / "index.sqlite").unlink()
    assert contents(folder) == stored
