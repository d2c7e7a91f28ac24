"""Damaged files: each line is right, or it is skipped and counted."""

import bz2
import csv
import gzip
import json
import os
import random
from functools import partial
from io import StringIO

import pytest
from backports import zstd

from cwli.insights import EventsError, run
from cwli.readers.files import Untimed, log_files
from cwli.readers.mending import Damage, Mending

MOST = 4_000


def test_a_file_without_damage_is_not_copied(tmp_path):
    file = tmp_path / "clean.log"
    file.write_text("a\nb ☃\n")
    mended = Mending().copies([file], tmp_path)
    assert (mended.copies, mended.damage) == ({file: file}, {})
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("pack", [bz2.compress, zstd.compress])
def test_a_packed_file_of_cloudtrail_is_one_long_line(tmp_path, pack):
    record = {"eventVersion": "1.08", "eventTime": "2024-06-02T14:26:00Z", "eventName": "x" * 1_000}
    path = tmp_path / "trail.json"
    path.write_bytes(pack(json.dumps({"Records": [record] * 5}).encode()))
    found, mended = events(path, tmp_path, Mending(most_bytes=MOST))
    assert ([at for _, at in found], mended.damage) == ([AT] * 5, {})


def events(path, folder, mending):
    """Return the messages and times of the events in a file, and what was mended."""
    mended = mending.copies([path], folder)
    files = log_files([path], clock=mending.clock, copies=mended.copies, untimed=Untimed.BORROWED)
    rows = run("fields @message, @timestamp | sort @ptr", files).rows
    return [(row[0]["value"], row[1]["value"]) for row in rows], mended


TRACE = (
    "Traceback (most recent call last):\n  File 'a', line 1\n\nValueError: 2024-06-02 is not a day"
)
AT, LATER = "2024-06-02 14:26:00.000", "2024-06-02 14:26:01.000"


@pytest.mark.parametrize(
    ("begin", "next_"),
    [
        ("2024-06-02T14:26:00Z a", "2024-06-02T14:26:01Z b"),
        ("ERROR [2024-06-02 14:26:00,000] a", "ERROR [2024-06-02 14:26:01,000] b"),
        ("<34>1 2024-06-02T14:26:00Z host a", "<34>1 2024-06-02T14:26:01Z host b"),
        ("1717338360 a", "1717338361 b"),
        ("1717338360", "1717338361"),
        ('{"ts": 1717338360}', '{"ts": 1717338361}'),
        ("02 Jun 2024 14:26:00,000 a", "02 Jun 2024 14:26:01,000 b"),
    ],
)
def test_lines_without_a_time_belong_to_the_event_before(tmp_path, begin, next_):
    path = tmp_path / "app.log"
    path.write_text(f"{begin}\n{TRACE}\n\n{next_}\n")
    with pytest.raises(EventsError, match="a line without a time belongs to the event before"):
        run("stats count(*)", log_files([path]))
    found, mended = events(path, tmp_path, Mending())
    assert found == [(f"{begin}\n{TRACE}", AT), (next_, LATER)]
    assert (mended.joined, mended.damage) == (4, {})


def test_lines_before_the_first_time_and_lines_with_times_of_other_forms_are_events(tmp_path):
    lines = [
        "starting", "reading", "2024-06-02T14:26:00Z a", "Jun  2 14:26:00 host x",
        '{"n": 1, "time": "2024-06-02T14:26:00Z"}', "2024-06-02T14:26:00Z b",
    ]  # fmt: skip
    path = tmp_path / "app.log"
    path.write_text("\n".join(lines) + "\n")
    found, mended = events(path, tmp_path, Mending())
    assert [message for message, _ in found] == lines
    assert mended.joined == 0


def test_an_object_without_a_time_is_an_event_among_lines_of_json(tmp_path):
    path = tmp_path / "app.log"
    path.write_text('{"ts": 1717338360}\n{"n": 1}\n')
    assert run("stats count(*)", log_files([path])).rows[0][0]["value"] == "2"


def test_a_message_of_an_export_keeps_its_lines_with_times(tmp_path):
    path = tmp_path / "000000"
    lines = "2024-06-02T14:26:00.000Z a\n2024-06-02 10:00:00 b\n{}\n2024-06-02T14:26:01.000Z c\n"
    path.write_text(lines)
    found, _ = events(path, tmp_path, Mending())
    assert found == [("a\n2024-06-02 10:00:00 b\n{}", AT), ("c", LATER)]


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path):
    path = tmp_path / "app.log"
    path.write_bytes(b"\xef\xbb\xbf2024-06-02T14:26:00Z a\n at b\n")
    assert events(path, tmp_path, Mending())[0] == [("2024-06-02T14:26:00Z a\n at b", AT)]


def test_an_event_that_grows_too_large_goes_on_in_another(tmp_path):
    path = tmp_path / "app.log"
    path.write_text("2024-06-02T14:26:00Z a\n" + "x\n" * 2_000)
    found, mended = events(path, tmp_path, Mending(most_bytes=1_000))
    assert "\n".join(message for message, _ in found) == path.read_text().strip()
    assert max(len(message) for message, _ in found) < 1_000
    assert mended.damage == {}


@pytest.mark.parametrize("begin", ["a", "2024-06-02T14:26:00Z a", "a\r\nb"])
def test_a_carriage_return_within_a_line_ends_no_event(tmp_path, begin):
    path = tmp_path / "app.log"
    text = f"{begin} 10 %\r 20 %\r\r 99 %"
    path.write_text(f"{text}\r\r\n")
    found, mended = events(path, tmp_path, Mending())
    assert "\n".join(message for message, _ in found) == text.replace("\r\nb", "\nb")
    assert mended.damage == {}


@pytest.mark.parametrize(
    "pack", [gzip.compress, partial(bz2.compress, compresslevel=1), zstd.compress]
)
def test_packed_files_are_unpacked_as_far_as_they_can_be(tmp_path, pack):
    chance = random.Random(1)
    lines = [f"{number} {chance.getrandbits(200)}" for number in range(6_000)]
    packed = pack("".join(f"{line}\n" for line in lines).encode())
    for number, (content, damage) in enumerate(
        [(packed, {}), (packed[: len(packed) // 4 * 3], {Damage.INCOMPLETE: 1})]
    ):
        path = tmp_path / f"{number}.log"
        path.write_bytes(content)
        found, mended = events(path, tmp_path, Mending())
        whole = [message for message, _ in found][:-1]
        assert whole == lines[: len(whole)]
        assert len(whole) > 1_000
        assert mended.damage == damage


def test_json_that_ends_early_is_skipped_and_counted(tmp_path):
    texts = {
        "trail": '{"Records": [{"eventVersion": "1.08", "eventName": "A"}, {"eventVer',
        "answer": '{"events": [{"timestamp": 1, "message": "a"}, {"times',
        "lines": '{"timestamp": 1, "message": "a"}\n{"timestamp": 2, "mess',
    }
    paths = [tmp_path / name for name in texts]
    for path, text in zip(paths, texts.values(), strict=True):
        path.write_text(text)
    mended = Mending().copies(paths, tmp_path)
    assert mended.damage == {Damage.UNREADABLE: 2, Damage.NO_EVENT: 1}
    rows = run("fields @message", log_files(paths, copies=mended.copies)).rows
    assert [row[0]["value"] for row in rows] == ["a"]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_file_in_utf_16_is_read_as_its_byte_order_mark_tells(tmp_path, encoding):
    path = tmp_path / "windows.log"
    text = "\ufeff2024-06-02T14:26:00Z ☃\r\n  at a\n2024-06-02T14:26:01Z \U0001f600\r\n"
    path.write_bytes(text.encode(encoding))
    found, mended = events(path, tmp_path, Mending())
    assert found == [
        ("2024-06-02T14:26:00Z ☃\n  at a", AT), ("2024-06-02T14:26:01Z \U0001f600", LATER),
    ]  # fmt: skip
    assert not mended.damage


def test_a_cut_character_of_utf_16_is_replaced_and_counted(tmp_path):
    path = tmp_path / "windows.log"
    path.write_bytes("a\nb☃".encode("utf-16")[:-1])
    found, mended = events(path, tmp_path, Mending())
    assert [message for message, _ in found] == ["a", "b\ufffd"]
    assert mended.damage == {Damage.BYTES: 1}


HEAD = "timestamp,message"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstd.compress])
def test_the_csv_that_the_console_downloads_has_events(tmp_path, end, pack):
    report = "REPORT RequestId: 7\tDuration: 12.5 ms\t"
    lines = [HEAD, f"1717338360123,{report}", '1717338361000,"{""level"": ""INFO"", ""n"": 7}"']
    path = tmp_path / "log-events-viewer-result.csv"
    path.write_bytes(pack(end.join([*lines, '1717338362000,"a\nb, ""c"""', ""]).encode()))
    mended = Mending().copies([path], tmp_path)
    query = "fields @message, @timestamp, @type, @duration, level | sort @timestamp"
    rows = run(query, log_files([path], copies=mended.copies)).records
    assert rows[0] == {
        "@message": report,
        "@timestamp": "2024-06-02 14:26:00.123",
        "@type": "REPORT",
        "@duration": "12.5",
    }
    assert (rows[1]["@message"], rows[1]["level"]) == ('{"level": "INFO", "n": 7}', "INFO")
    assert rows[2]["@message"] == 'a\nb, "c"'
    assert (len(rows), mended.damage) == (3, {})


@pytest.mark.parametrize(
    ("lines", "messages", "damage"),
    [
        ([HEAD], [], {}),
        ([HEAD, "1,a", "2,b,c", "3", "x,d", "", "4,e"], ["a", "e"], {Damage.NO_EVENT: 3}),
        ([HEAD, "1,a", '2,"b', "3,c"], ["a"], {Damage.INCOMPLETE: 1}),
        ([HEAD, '1,a "b"', '2,"c" d', "3,e"], ['a "b"'], {Damage.INCOMPLETE: 1}),
        ([HEAD, "1,\udcff", f"2,{'x' * 500_000}"], ["\ufffd", "x" * 500_000], {Damage.BYTES: 1}),
    ],
)
def test_what_can_be_read_of_a_damaged_csv_is_read(tmp_path, lines, messages, damage):
    path = tmp_path / "events.csv"
    path.write_text("\n".join(lines), errors="surrogateescape")
    mended = Mending().copies([path], tmp_path)
    rows = run("fields @message | sort @timestamp", log_files([path], copies=mended.copies)).rows
    assert [row[0]["value"] for row in rows] == messages
    assert mended.damage == damage


def rows_of(path, folder, query="fields @timestamp, @message, @logStream, @log | sort @timestamp"):
    mended = Mending().copies([path], folder)
    return run(query, log_files([path], copies=mended.copies)).records, mended


ANSWERED = [
    {
        "@timestamp": "2024-06-02 14:26:00.123", "@message": "INFO a", "@logStream": "s",
        "@log": "111122223333:/aws/lambda/a",
    },
    {
        "@timestamp": "2024-06-02 14:26:05.456", "@message": 'ERROR b, "q"\n  at x',
        "@logStream": "s", "@log": "111122223333:/aws/lambda/a",
    },
]  # fmt: skip


def as_csv(rows, end):
    text = StringIO()
    writer = csv.DictWriter(text, rows[0], lineterminator=end)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def as_answer(rows, indent=4):
    fields = [[{"field": f, "value": v} for f, v in (row | {"@ptr": "Cm"}).items()] for row in rows]
    answer = {"queryLanguage": "CWLI", "results": fields, "status": "Complete"}
    return json.dumps(answer, indent=indent)


WRITERS = [
    partial(as_csv, end="\n"),
    partial(as_csv, end="\r\n"),
    lambda rows: "\ufeff" + as_csv(rows, "\n"),
    as_answer,
    partial(as_answer, indent=None),
    json.dumps,
    partial(json.dumps, indent=2),
]


@pytest.mark.parametrize(
    ("write", "pack"),
    [
        *((write, bytes) for write in WRITERS),
        (json.dumps, gzip.compress),
        (as_answer, zstd.compress),
    ],
)
def test_the_rows_that_logs_insights_gave_are_events(tmp_path, write, pack):
    path = tmp_path / "rows"
    path.write_bytes(pack(write(ANSWERED[::-1]).encode()))
    found, mended = rows_of(path, tmp_path)
    assert (found, mended.damage) == (ANSWERED, {})


def test_the_counts_that_logs_insights_gave_are_events_with_fields(tmp_path):
    path = tmp_path / "counts.csv"
    path.write_text("bin(5m),count(*)\n2024-06-02 14:25:00.000,5\n2024-06-02 14:30:00.000,7\n")
    query = "stats sum(`count(*)`) as n, min(@timestamp) as first"
    ((total,), mended) = rows_of(path, tmp_path, query)
    assert total == {"n": "12", "first": "2024-06-02 14:25:00.000"}
    assert mended.damage == {}


def test_rows_without_times_are_counted(tmp_path):
    path = tmp_path / "levels.csv"
    path.write_text("level,count(*)\nINFO,5\nERROR,7\n")
    os.utime(path, (1_717_338_360, 1_717_338_360))
    found, mended = rows_of(path, tmp_path, "fields level, @timestamp | sort level")
    assert found == [{"level": each, "@timestamp": AT} for each in ("ERROR", "INFO")]
    assert mended.damage == {Damage.NO_TIME: 2}
    assert mended.first == {Damage.NO_TIME: f"{path}, line 2"}


def test_an_answer_of_a_query_that_had_not_ended_is_incomplete(tmp_path):
    path = tmp_path / "rows.json"
    path.write_text(as_answer(ANSWERED).replace("Complete", "Running"))
    found, mended = rows_of(path, tmp_path)
    assert (found, mended.damage) == (ANSWERED, {Damage.INCOMPLETE: 1})


@pytest.mark.parametrize(
    ("cells", "damage"),
    [
        ([{"field": "@timestamp", "value": "noon"}], {Damage.NO_EVENT: 1}),
        ([{"value": "2024"}], {Damage.NO_EVENT: 1}),
        ("x", {Damage.NO_EVENT: 1}),
    ],
)
def test_a_row_of_another_form_is_no_event(tmp_path, cells, damage):
    path = tmp_path / "rows.json"
    answer = json.loads(as_answer(ANSWERED))
    path.write_text(json.dumps(answer | {"results": [*answer["results"], cells]}))
    found, mended = rows_of(path, tmp_path)
    assert (found, mended.damage) == (ANSWERED, damage)


def test_an_answer_that_is_cut_off_cannot_be_read(tmp_path):
    path = tmp_path / "rows.json"
    path.write_text(as_answer(ANSWERED)[:-90])
    assert Mending().copies([path], tmp_path).damage == {Damage.UNREADABLE: 1}
