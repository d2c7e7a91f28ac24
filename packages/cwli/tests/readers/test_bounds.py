"""Small files that grow: what is read of a file at once has a limit, whatever the file holds."""

import gzip
import json
import lzma
import os
import subprocess
import sys
from io import BytesIO

import pytest
from backports import zstd
from click.testing import CliRunner

from cwli.command import command
from cwli.insights import run
from cwli.program import Refused
from cwli.readers import log_file, mending, searching
from cwli.readers.files import log_files
from cwli.readers.lines import utf8_lines
from cwli.readers.mending import Damage, Mending
from cwli.readers.searching import Search

AT = 1_717_338_360_000
ANSWER = {
    "searchedLogStreams": [],
    "events": [
        {"logStreamName": "s", "timestamp": AT + n, "message": f'{{"n": {n}}} ☃ "] }}'}
        for n in range(40)
    ],
}
TRAIL = {
    "Records": [
        {"eventVersion": "1", "eventTime": "2024-06-02T14:26:00Z", "n": n, "é": ["]", {"a": 1.5}]}
        for n in range(40)
    ]
}
QUERY = "fields @message, @timestamp, @logStream | sort @ptr"


@pytest.fixture
def small(monkeypatch):
    """Let documents of more than a kilobyte be large, and be read in parts of some characters."""
    monkeypatch.setattr(log_file, "MOST_AT_ONCE", 1_000)
    monkeypatch.setattr(mending, "_CHUNK", 50)


def rows(path, folder):
    mended = Mending().copies([path], folder)
    found = run(QUERY, log_files([path], copies=mended.copies)).rows
    return [[cell["value"] for cell in row[:3]] for row in found], mended.damage


@pytest.mark.parametrize("most", [4, 10, 100])
def test_a_line_is_cut_where_it_is_too_long(most):
    lines = [b"a" * 3, b"", b"b" * 25, b"c" * 9, b"d" * 40]
    file = BytesIO(b"\n".join(lines))
    found = [line.rstrip(b"\n") for line in utf8_lines(file, most)]
    assert found == [line if len(line) < most else line[: most - 1] + b"\xff" for line in lines]


@pytest.mark.parametrize("document", [ANSWER, TRAIL], ids=["answer", "trail"])
@pytest.mark.parametrize("indent", [None, 4])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstd.compress])
def test_a_large_document_is_read_in_parts(tmp_path, monkeypatch, document, indent, pack):
    path = tmp_path / "file"
    path.write_bytes(pack(json.dumps(document, indent=indent, ensure_ascii=False).encode()))
    whole = rows(path, tmp_path)
    monkeypatch.setattr(log_file, "MOST_AT_ONCE", 1_000)
    monkeypatch.setattr(mending, "_CHUNK", 50)
    assert rows(path, tmp_path) == whole
    assert len(whole[0]) == 40


def test_the_events_before_the_end_of_a_cut_large_document_are_read(tmp_path, small):
    path = tmp_path / "file"
    path.write_text(json.dumps(ANSWER)[:-200])
    found, damage = rows(path, tmp_path)
    assert 30 < len(found) < 40
    assert damage == {Damage.INCOMPLETE: 1}


def test_a_large_answer_of_a_query_is_refused_with_its_reason(tmp_path, small):
    path = tmp_path / "file"
    cells = [{"field": "@message", "value": "x" * 2_000}]
    path.write_text(json.dumps({"results": [cells], "status": "Complete"}))
    with pytest.raises(Refused, match="its rows are not a whole CSV, or JSON of 1,000 bytes"):
        CliRunner().invoke(command, ["stats count(*)", str(path)], catch_exceptions=False)


def test_a_file_that_unpacks_to_a_thousand_times_its_size_is_read_in_part(tmp_path, monkeypatch):
    monkeypatch.setattr(mending, "_LEAST_UNPACKED", 10_000)
    path = tmp_path / "app.log"
    path.write_bytes(zstd.compress(b"2024-06-02T14:26:00Z a\n" * 20_000))
    found, damage = rows(path, tmp_path)
    assert 0 < len(found) < 20_000
    assert damage == {Damage.LARGE: 1}


def test_a_line_of_a_packed_file_is_skipped_however_long_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr(mending, "_MOST_LINE", 2 * MIB)
    path = tmp_path / "app.log"
    path.write_bytes(zstd.compress(b"a\n" + b"x" * 5_000_000 + b"\nb\n"))
    found, damage = rows(path, tmp_path)
    assert [row[0] for row in found] == ["a", "b"]
    assert damage == {Damage.LONG: 1}


def test_xz_that_needs_too_much_memory_is_refused_by_its_reason(tmp_path):
    path = tmp_path / "app.log"
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 29}]
    path.write_bytes(lzma.compress(b"a\n", filters=filters))
    mended = Mending().copies([path], tmp_path)
    assert "Memory usage limit exceeded" in mended.first[Damage.UNREADABLE]


def test_a_text_is_found_in_a_small_file_that_unpacks_to_many_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(searching, "PEEKED_BYTES", 64)
    for place in range(60, 70):
        path = tmp_path / f"{place}.log"
        path.write_bytes(gzip.compress(b"." * place + b"needle" + b"." * 500))
        assert Search([b"needle"], small=10_000).copies([path], tmp_path) == {}
        assert Search([b"x"], small=10_000).copies([path], tmp_path) == {path: None}


def test_a_regular_expression_of_event_starts_takes_a_time_that_is_linear_in_the_line(tmp_path):
    path = tmp_path / "app.log"
    path.write_text(f"Z {'a' * 60}!\nZ aaa\nb\n")
    arguments = ["stats count(*) as n", str(path), "--event-start", "Z (a|aa)+$", "--format", "csv"]
    result = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert result.stdout == "n\n2\n"


def test_a_regular_expression_of_event_starts_that_re2_lacks_is_refused():
    with pytest.raises(Refused, match="is not a regular expression of RE2: invalid perl operator"):
        CliRunner().invoke(command, ["limit 1", "--event-start", "(?=a)"], catch_exceptions=False)


LINE = b"2024-06-02T14:26:00Z INFO the same line again and again\n"
OBJECT = json.dumps({"time": "2024-06-02T14:26:00Z", "text": "y" * 200}).encode() + b",\n"
EVENT = json.dumps(ANSWER["events"][0], indent=4).encode() + b",\n"
MIB = 1024 * 1024
BOMBS = {
    "one line.zst": (LINE, b"x" * MIB, 1_024, b"\n", 1),
    "lines.gz": (b"", LINE * 20_000, 300, b"", 6_000_000),
    "one line of JSON.gz": (b'{"time": "', b"x" * MIB, 1_024, b'"}\n', 0),
    "array.json.gz": (b"[\n", OBJECT * 4_000, 500, OBJECT[:-2] + b"\n]\n", 2_000_001),
    "answer.json.gz": (b'{"events": [\n', EVENT * 4_000, 200, EVENT[:-2] + b"]}\n", 800_001),
    "brackets.json": (b'{"time": 1717338360, "a": ', b"[" * (MIB // 2), 1, b"\n" + LINE, 2),
    "braces.log": (b"", LINE[:-1] + b"{" * (MIB - 100) + b"\n", 3, b"", 3),
}


@pytest.mark.systems
@pytest.mark.parametrize("name", BOMBS)
def test_no_file_takes_more_than_half_a_gibibyte(tmp_path, name):
    begin, block, times, end, events = BOMBS[name]
    path = tmp_path / name
    opened = {".zst": zstd.open, ".gz": gzip.open}.get(path.suffix, open)
    with opened(path, "wb") as file:
        file.write(begin)
        for _ in range(times):
            file.write(block)
        file.write(end)
    code = "from cwli.command import main; main()"
    command = [sys.executable, "-c", code, "stats count(*) as n, count(a.b)", str(path)]
    with subprocess.Popen([*command, "--format", "csv"], stdout=subprocess.PIPE) as process:
        printed = process.stdout.read()
        _, process.returncode, used = os.wait4(process.pid, 0)
    counts = f"{events},0\n" if events else ""
    assert printed.decode() == f"n,count(a.b)\n{counts}"
    assert used.ru_maxrss < 512 * 1024


LINES = ["a\u2028b\rc☃" * 100_000 + "\r\n", "\n", "the end"]


@pytest.mark.parametrize("form", ["plain", "packed"])
def test_a_line_of_utf_16_ends_at_a_line_feed_alone_however_long_it_is(form):
    content = "".join(LINES).encode("utf-16")
    packed = BytesIO(gzip.compress(content))
    with BytesIO(content) if form == "plain" else gzip.GzipFile(fileobj=packed) as file:
        assert list(utf8_lines(file, 2**20)) == [line.encode() for line in LINES]
        assert not file.closed
