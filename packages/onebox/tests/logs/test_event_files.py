"""The JSON lines of events and their checksums, and Parquet files on a full disk."""

import errno
import json
import os

import pytest

from cwli import duckdb_core as duckdb
from cwli.insights import run
from onebox.logs.event_files import LogEvent, cursor, event_of, is_whole, line_of, parquet_of
from onebox.logs.store import LogStore, LogStoreError

EVENT = LogEvent("1", 2, 3, "stream", 'a "message", "crc32": 7}')


def changed_lines(folder):
    """Change one bit of the message of the second line of the only segment; return its file."""
    (file,) = (folder / "g").glob("*.ndjson")
    file.write_bytes(file.read_bytes().replace(b'"rate 2"', b'"rate 3"'))
    return file


def store_with_changed_line(folder):
    writer = LogStore(folder)
    writer.append("g", "s", [(1, "rate 1"), (2, "rate 2")], 0)
    return writer, changed_lines(folder)


def test_a_line_gives_its_event_back_and_a_changed_bit_is_seen():
    line = line_of(EVENT)

    assert event_of(line) == EVENT
    for place in range(line.index(b', "crc32": ')):
        changed = bytearray(line)
        changed[place] ^= 1
        assert not is_whole(bytes(changed)), place
    with pytest.raises(ValueError, match="checksum"):
        event_of(line.replace(b"message", b"massage"))


def test_a_line_without_a_checksum_is_damaged():
    with pytest.raises(ValueError, match="the line does not have its checksum"):
        event_of(json.dumps(EVENT._asdict()).encode())


def test_a_changed_line_of_an_open_segment_is_named_by_each_reader(tmp_path):
    _writer, file = store_with_changed_line(tmp_path)
    named = f"{file} is damaged: line 2 changed; `tidemark doctor`"

    with pytest.raises(LogStoreError, match=named):
        LogStore(tmp_path).events(["g"])
    with pytest.raises(LogStoreError, match=f"{file}, line 2: not an event; `tidemark doctor`"):
        LogStore(tmp_path).read("g")


def test_lines_that_are_written_later_are_compared_too(tmp_path):
    writer, reader = LogStore(tmp_path), LogStore(tmp_path)
    writer.append("g", "s", [(1, "rate 1")], 0)
    assert run("stats count(*) as n", reader.events(["g"])).rows[0][0]["value"] == "1"

    writer.append("g", "s", [(2, "rate 2")], 0)
    changed_lines(tmp_path)

    with pytest.raises(LogStoreError, match="line 2 changed"):
        reader.events(["g"])


def test_a_changed_line_gets_no_digest_with_its_segment(tmp_path):
    writer, file = store_with_changed_line(tmp_path)
    writer.close()

    assert list(file.parent.glob("*.parquet")) == []
    with pytest.raises(LogStoreError, match="line 2 changed"):
        LogStore(tmp_path).fold()


@pytest.mark.parametrize("error", [duckdb.FatalException, duckdb.InternalException])
def test_a_database_that_broke_is_opened_anew(error):
    with cursor() as connection:
        connection.execute("CREATE TABLE of_the_broken (place INTEGER)")

    with pytest.raises(error), cursor():
        raise error("database has been invalidated")

    with cursor() as connection:
        assert connection.execute("SHOW TABLES").fetchall() == []


def test_a_parquet_file_without_room_on_the_disk_is_the_system_s_error(tmp_path):
    file = tmp_path / "events.tmp"
    file.symlink_to("/dev/full")
    with pytest.raises(OSError) as failed, parquet_of("SELECT 1", file, threads=1):  # noqa: PT011
        pass

    assert str(failed.value) == f"[Errno {errno.ENOSPC}] {os.strerror(errno.ENOSPC)}: '{file}'"
    assert not file.is_symlink()
