"""Files in forms that are not read: each is refused by its name, and none becomes rows."""

import base64
import bz2
import gzip
import json
import lzma
import os
import random
import tarfile
import zipfile
import zlib
from io import BytesIO

import pytest
from backports import zstd

from cwli import duckdb_core as duckdb
from cwli.insights import run
from cwli.readers.files import log_files
from cwli.readers.folders import LogFilesError
from cwli.readers.mending import Damage, Mending

TEXT = b"2024-06-02T14:26:00Z INFO a\n2024-06-02T14:26:01Z ERROR b\n"
DELIVERY = json.dumps({"messageType": "DATA_MESSAGE", "logEvents": [{"message": "ERROR"}]}).encode()
PACKED = base64.b64encode(gzip.compress(DELIVERY)).decode()


def tar(text):
    file = BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        member = tarfile.TarInfo("a.log")
        member.size = len(text)
        archive.addfile(member, BytesIO(text))
    return file.getvalue()


def zip_(text):
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.log", text)
    return file.getvalue()


def parquet(folder):
    path = folder / "parquet"
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT 'ERROR' AS message) TO '{path}' (FORMAT parquet)")
    return path.read_bytes()


def events(*paths, folder):
    mended = Mending().copies(paths, folder)
    rows = run(
        "fields @message, @timestamp | sort @ptr", log_files(paths, copies=mended.copies)
    ).rows
    return [[cell["value"] for cell in row[:2]] for row in rows], mended.damage


def twice(text):
    return gzip.compress(bz2.compress(text))


UNSUPPORTED = {
    "a ZIP archive": zip_(TEXT),
    "a tar archive": tar(TEXT),
    "a 7z archive": b"7z\xbc\xaf\x27\x1c" + bytes(40),
    "a RAR archive": b"Rar!\x1a\x07" + bytes(40),
    "packed by lz4": b"\x04\x22\x4d\x18" + bytes(40),
    "packed by snappy": b"\xff\x06\x00\x00sNaPpY" + bytes(40),
    "packed by lzip": b"LZIP\x01" + bytes(40),
    "packed by compress": b"\x1f\x9d\x90" + bytes(40),
    "packed by zlib": zlib.compress(TEXT),
    "Avro": b"Obj\x01\x04\x16avro.codec",
    "Arrow": b"ARROW1\x00\x00",
    "a database of SQLite": b"SQLite format 3\0" + bytes(40),
    "a journal of systemd": b"LPKSHHRH" + bytes(40),
    "an export of systemd's journal": b"__CURSOR=s=1\n__REALTIME_TIMESTAMP=1717338360123456\nA=b\n",
    "an event log of Windows": b"ElfFile\0" + bytes(40),
    "a program": b"\x7fELF" + bytes(40),
    "a PDF": b"%PDF-1.7\n",
    "a picture": b"\x89PNG\r\n\x1a\n",
    "text in UTF-32": TEXT.decode().encode("utf-32"),
    "no text, or in UTF-16 without": (TEXT * 5).decode().encode("utf-16-le"),
    "no text": random.Random(1).randbytes(4_000),
    "a pointer of Git LFS": b"version https://git-lfs.github.com/spec/v1\noid sha256:ab\n",
    "gzip in base64": PACKED.encode(),
    "JSON with events packed in base64": json.dumps({"awslogs": {"data": PACKED}}).encode(),
    "JSON with events packed in base64, ": json.dumps(
        {"Records": [{"kinesis": {"partitionKey": "7", "data": PACKED}}]}
    ).encode(),
    "what `aws logs` prints with --output text": (
        b"b/3\tf/4\nEVENTS\t1717338360123\tERROR a\t1717338360123\n"
    ),
    "what `aws logs` prints with --output text;": (
        b"EVENTS\t387\t1717338360123\ts\tERROR a\t1717338360123\n"
    ),
    r"a JSON array of texts; `jq -r '.\[\]'` makes": b'[\n    "ERROR \\"a\\"",\n    "INFO"\n]\n',
    "what `aws logs` prints with --output table": b"-------\n|  FilterLogEvents  |\n+-----+\n",
    "what `aws logs` prints with --output yaml": b"events:\n- eventId: '1'\n  message: ERROR\n",
}


@pytest.mark.parametrize(
    ("form", "pack"),
    [*((form, bytes) for form in UNSUPPORTED), ("a PDF", gzip.compress), ("Avro", twice)],
)
def test_a_file_of_another_form_is_refused_by_its_name(tmp_path, form, pack):
    path = tmp_path / "logs"
    path.write_bytes(pack(UNSUPPORTED[form]))
    with pytest.raises(LogFilesError, match=rf"logs: this file cannot be read: it is {form}"):
        log_files([path])
    mended = Mending().copies([path], tmp_path)
    assert (mended.copies, mended.damage) == ({path: None}, {Damage.UNREADABLE: 1})
    assert mended.first[Damage.UNREADABLE].startswith(f"{path}: it is {form}".replace("\\", ""))


def test_parquet_without_a_suffix_is_refused(tmp_path):
    path = tmp_path / "logs"
    path.write_bytes(parquet(tmp_path))
    with pytest.raises(LogFilesError, match="it is Parquet; DuckDB reads it"):
        log_files([path])


@pytest.mark.parametrize(
    "text",
    [
        "a\0b\x1b[1m\b\a\tc\x0bd\fe",
        "8=FIX.4.2\x019=178\x0135=8\x01" * 50,
        "\0" * 2_000 + "emptied while it was written",
        "PAR1 of 2, x is 7z and x\x9dy",
        '{"data": "H4sIAAAAAAAA/wEAAP//AAAAAAAAAAA="}',
        "EVENTS\tof the day",
        "é\u0301☃" * 300,
    ],
)
def test_a_text_with_odd_characters_is_read(tmp_path, text):
    path = tmp_path / "odd.log"
    path.write_text(f"{text}\nb\n", "utf-8")
    ((first, _), _), damage = events(path, folder=tmp_path)
    assert (first, damage) == (text, {})


def test_a_text_in_another_encoding_is_damaged_and_no_other_form(tmp_path):
    path = tmp_path / "odd.log"
    path.write_bytes("日志文件\n".encode("gbk") * 50)
    found, damage = events(path, folder=tmp_path)
    assert (len(found), damage) == (50, {Damage.BYTES: 50})


PACKS = [gzip.compress, bz2.compress, zstd.compress, lzma.compress]


@pytest.mark.parametrize("outer", PACKS)
@pytest.mark.parametrize("inner", [bytes, *PACKS])
def test_a_file_that_is_packed_twice_is_unpacked_twice(tmp_path, outer, inner):
    path = tmp_path / "a.gz"
    # Firehose writes packed records one after the other, and packs the file.
    path.write_bytes(outer(inner(TEXT[:28]) + inner(TEXT[28:])))
    found, damage = events(path, folder=tmp_path)
    assert found == [
        ["2024-06-02T14:26:00Z INFO a", "2024-06-02 14:26:00.000"],
        ["2024-06-02T14:26:01Z ERROR b", "2024-06-02 14:26:01.000"],
    ]
    assert not damage


def test_a_file_that_is_packed_three_times_is_refused(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(gzip.compress(gzip.compress(TEXT))))
    with pytest.raises(LogFilesError, match="it is packed more than 2 times; unpack it once"):
        log_files([path])


def test_of_a_file_that_is_packed_twice_and_cut_the_whole_lines_are_read(tmp_path):
    path = tmp_path / "a.gz"
    text = "".join(f"{random.Random(n).getrandbits(200)}\n" for n in range(9_000)).encode()
    packed = gzip.compress(gzip.compress(text))
    path.write_bytes(packed[: len(packed) // 2])
    os.utime(path, (1_000, 1_000))
    found, damage = events(path, folder=tmp_path)
    lines = [message for message, _ in found][:-1]
    assert len(lines) > 1_000
    assert lines == text.decode().splitlines()[: len(lines)]
    assert damage == {Damage.INCOMPLETE: 1}
