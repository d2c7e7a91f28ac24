import gzip
import json
import os
import random
import re

import pytest
from backports import zstd

from cwli.insights import EventsError, run
from cwli.insights import compile as compile_query
from cwli.readers.files import Untimed, log_files
from cwli.readers.folders import LogFilesError, skipped_below
from cwli.readers.mending import Mending


def rows(*paths, query="fields @message, @timestamp, @log, @logStream | sort @ptr", **window):
    return run(query, log_files(paths, untimed=Untimed.BORROWED), **window).records


def messages(*paths):
    return [row["@message"] for row in rows(*paths)]


@pytest.fixture
def log(tmp_path):
    def write(content, name="it's [a] log.txt"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        os.utime(path, (1_000, 1_000))
        return path

    return write


def test_the_lines_of_a_text_file_are_events_with_its_time(log):
    path = log('first, "x"\n\n\tthird | é #\r\n\'a\0b\\\nNULL')
    events = rows(path)
    assert [row["@message"] for row in events] == [
        'first, "x"', "\tthird | é #", "'a\0b\\", "NULL",
    ]  # fmt: skip
    assert {row["@logStream"] for row in events} == {path.name}
    assert {row["@log"] for row in events} == {str(path)}
    assert {row["@timestamp"] for row in events} == {"1970-01-01 00:16:40.000"}


@pytest.mark.parametrize("seed", range(12))
def test_any_line_ends_separate_the_lines_of_any_text(log, seed):
    chance = random.Random(seed)
    ends = chance.choice([["\n"], ["\r\n"], ["\n", "\r\n"], ["\r\r\n", "\n\n"]])
    text = "".join(
        "".join(chance.choices("ab \"',;\\\t\0#é|=", k=chance.choice([0, 1, 5, 200, 3000])))
        + chance.choice(ends)
        for _ in range(chance.choice([1, 50, 500]))
    )
    path = log(text if chance.random() < 0.5 else text.rstrip("\r\n"))
    assert messages(path) == [line for line in re.split("[\r\n]+", text) if line]


def test_a_window_selects_lines_by_their_times(log):
    path = log("2024-06-02T14:26:00Z a\n2024-06-02T14:26:01Z b\n")
    at = 1_717_338_361
    assert [row["@message"] for row in rows(path, start=at, end=at)] == ["2024-06-02T14:26:01Z b"]
    assert not rows(path, start=0, end=1_000)


def test_every_file_below_a_folder_is_unpacked_and_read_once(log, tmp_path):
    (tmp_path / "b").mkdir()
    log("one\ntwo", "a.log")
    log(gzip.compress(b"three\n"), "b/c.log.gz")
    log(b"binary", "b/d.bin")
    os.utime(tmp_path / "a.log", (2_000, 2_000))
    events = rows(tmp_path, tmp_path / "a.log")
    assert [row["@message"] for row in events] == ["one", "two", "three"]
    assert [row["@logStream"] for row in events] == ["a.log", "a.log", "c.log.gz"]
    assert [row["@timestamp"][14:19] for row in events] == ["33:20", "33:20", "16:40"]


def test_rotated_files_and_files_without_a_suffix_are_logs(log, tmp_path):
    names = ["app.log", "app.log.1", "app.log-20240602", "app.log.2024-06-02", "app.log.2.gz"]
    for name in (*names, "syslog"):
        log(gzip.compress(name.encode()) if name.endswith("gz") else name, name)
    # The last one is not a log, and nothing that a person would miss.
    for name in ("app.py", "photo.jpg", "app.log.swp", ".hidden", "aws-logs-write-test"):
        log(name, name)
    assert sorted(messages(tmp_path)) == sorted([*names, "syslog"])
    assert [path.name for path in skipped_below(tmp_path)] == [
        ".hidden", "app.log.swp", "app.py", "photo.jpg",
    ]  # fmt: skip


def test_a_file_in_utf_16_is_not_counted_by_the_bytes_of_its_lines(log):
    path = log("a\nb\n".encode("utf-16"))
    with pytest.raises(LogFilesError, match="reads no text in UTF-16"):
        rows(path, query="stats count(*)")


EVENTS = [
    {"timestamp": 5_000, "message": "a\nb", "ingestionTime": 6_000, "logStreamName": "s"},
    {"timestamp": 7_000, "message": "2024-06-02T14:26:00Z c", "eventId": "12"},
]


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(map(json.dumps, EVENTS)),
        json.dumps({"events": EVENTS, "searchedLogStreams": []}, indent=4),
    ],
)
@pytest.mark.parametrize("pack", [str.encode, lambda text: gzip.compress(text.encode())])
def test_exported_events_have_their_own_times_and_streams(log, text, pack):
    packed = pack(text)
    path = log(packed, "events.gz" if packed[:2] == b"\x1f\x8b" else "events.json")
    first, second = rows(path, query="fields @message, @timestamp, @logStream, @ingestionTime")[
        ::-1
    ]
    assert first == {
        "@message": "a\nb",
        "@timestamp": "1970-01-01 00:00:05.000",
        "@logStream": "s",
        "@ingestionTime": "1970-01-01 00:00:06.000",
    }
    assert second["@message"] == "2024-06-02T14:26:00Z c"
    assert second["@logStream"] == path.name


def test_json_lines_of_an_application_are_messages(log):
    lines = [
        '{"timestamp": 1, "message": "m", "level": "info"}',
        '{"timestamp": "1", "message": "m"}',
    ]
    assert messages(log("\n".join(lines), "a.jsonl"), log(lines[1], "b.jsonl")) == [
        *lines,
        lines[1],
    ]


OBJECTS = [{"time": f"2024-06-02T14:26:0{n}Z", "n": n, "a": {"b": [n]}} for n in range(3)]


TEXTS_OF_OBJECTS = [
    json.dumps(OBJECTS),
    json.dumps(OBJECTS, indent=2),
    "[\n" + ",\n".join(map(json.dumps, OBJECTS)) + "\n]\n",
    "".join(json.dumps(each, indent=4) + "\n" for each in OBJECTS),
    "".join(json.dumps(each, indent=1).replace("\n", "\r\n") + "\r\n" for each in OBJECTS),
]


@pytest.mark.parametrize(
    ("text", "pack"),
    [
        *((text, bytes) for text in TEXTS_OF_OBJECTS),
        (TEXTS_OF_OBJECTS[0], gzip.compress),
        (TEXTS_OF_OBJECTS[1], zstd.compress),
    ],
)
def test_json_objects_over_lines_and_in_arrays_are_events(log, tmp_path, text, pack):
    path = log(pack(text.encode()), "a.json")
    copies = {} if pack is not zstd.compress else Mending().copies([path], tmp_path).copies
    events = run("fields n, a.b.0, @timestamp | sort n", log_files([path], copies=copies)).rows
    assert [[cell["value"] for cell in row[:3]] for row in events] == [
        [f"{n}", f"{n}", f"2024-06-02 14:26:0{n}.000"] for n in range(3)
    ]


@pytest.mark.parametrize("text", ['[{"a": 1}] x\ny\n', '[{"a": 1}]\n[{"a": 2}]\n', "{\nx\n"])
def test_lines_that_only_begin_as_json_objects_are_text(log, text):
    assert [row["@message"] for row in rows(log(text))] == text.splitlines()


def test_an_array_that_ends_in_its_first_object_is_no_other_error(log):
    path = log('[{"a": ')
    assert log_files([path])
    with pytest.raises(EventsError):
        rows(path)


def test_an_object_without_a_time_in_an_array_has_that_of_the_one_before(log):
    path = log(json.dumps([OBJECTS[1], {"n": 7}]))
    (before, borrowed) = rows(path)
    assert before["@timestamp"] == borrowed["@timestamp"] == "2024-06-02 14:26:01.000"


def delivery(kind, stream, *events):
    group = {"owner": "111122223333", "logGroup": "/aws/lambda/g"}
    fields = {"messageType": kind, **group, "logStream": stream, "subscriptionFilters": ["f"]}
    return json.dumps(fields | {"logEvents": [{"id": "7"} | event for event in events]})


@pytest.mark.parametrize("separator", ["", "\n"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_events_that_a_subscription_delivers_have_their_own_times_and_streams(log, separator, pack):
    check = delivery("CONTROL_MESSAGE", "", {"timestamp": 1, "message": "CWL CONTROL MESSAGE"})
    first = delivery("DATA_MESSAGE", "a", *({"timestamp": n, "message": f"m{n}"} for n in (5, 6)))
    second = delivery("DATA_MESSAGE", "b", {"timestamp": 7, "message": "m7"})
    # Firehose writes packed records one after the other.
    path = log(b"".join(pack((each + separator).encode()) for each in (check, first, second)))
    assert [(r["@message"], r["@logStream"], r["@timestamp"][-3:]) for r in rows(path)] == [
        ("m5", "a", "005"), ("m6", "a", "006"), ("m7", "b", "007"),
    ]  # fmt: skip
    assert {row["@log"] for row in rows(path)} == {"111122223333:/aws/lambda/g"}


def test_a_delivery_is_recognised_whatever_the_order_of_its_members(log):
    members = json.loads(delivery("DATA_MESSAGE", "a", {"timestamp": 5, "message": "m"}))
    events = members.pop("logEvents")
    path = log(json.dumps(dict(reversed(members.items())) | {"logEvents": events}))
    assert [(row["@message"], row["@logStream"]) for row in rows(path)] == [("m", "a")]


def test_a_delivery_without_an_owner_has_the_path_as_its_log(log):
    path = log('{"messageType": "DATA_MESSAGE", "logEvents": [{"timestamp": 1, "message": "m"}]}')
    assert [(row["@log"], row["@logStream"]) for row in rows(path)] == [(str(path), path.name)]


@pytest.mark.parametrize("indent", [None, 4])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstd.compress])
def test_an_array_of_events_has_their_messages_times_and_streams(log, tmp_path, indent, pack):
    # `--query events` of the AWS CLI gives it.
    path = log(pack(json.dumps(EVENTS, indent=indent).encode()), "events.json")
    copies = Mending().copies([path], tmp_path).copies if pack is zstd.compress else {}
    found = run(
        "fields @message, @logStream, @timestamp | sort @timestamp",
        log_files([path], copies=copies),
    ).rows
    assert [[cell["value"] for cell in row[:3]] for row in found] == [
        ["a\nb", "s", "1970-01-01 00:00:05.000"],
        ["2024-06-02T14:26:00Z c", "events.json", "1970-01-01 00:00:07.000"],
    ]


def test_an_answer_with_its_token_first_has_its_events(log):
    path = log(json.dumps({"nextForwardToken": "f/3", "events": EVENTS}, indent=4))
    assert messages(path) == [event["message"] for event in EVENTS]


def test_events_of_another_service_are_no_events_of_cloudwatch_logs(log):
    # aws stepfunctions get-execution-history
    history = {"events": [{"timestamp": "2024-06-02T14:26:00+00:00", "type": "A", "id": 1}]}
    (row,) = rows(log(json.dumps(history, indent=4)))
    assert json.loads(row["@message"]) == history


def test_files_of_all_kinds_are_queried_together(log):
    text, events = log("line", "a.log"), log(json.dumps(EVENTS[0]), "b.jsonl")
    answer = log(json.dumps({"events": EVENTS}), "c.json")
    assert len({str(row) for row in rows(text, events, answer, query="fields @ptr")}) == 1
    result = run("fields @message", log_files([text, events, answer])).rows
    assert len({row[-1]["value"] for row in result}) == 4


def test_an_error_names_the_path_without_logs(tmp_path, log):
    with pytest.raises(LogFilesError, match=r"none\.log: this file cannot be read: No such file"):
        log_files([tmp_path / "none.log"])
    with pytest.raises(LogFilesError, match=r"folder holds no logs; a log ends in \.log, \.txt"):
        log_files([tmp_path])
    cut = gzip.compress(b"x" * 9_000)[:20]
    with pytest.raises(
        LogFilesError, match=r"cut\.gz: this file cannot be read: Compressed file e"
    ):
        log_files([log(cut, "cut.gz")])
    for magic in (b"BZh91AY", b"\x28\xb5\x2f\xfdx"):
        with pytest.raises(LogFilesError, match=r"packed\.log: this file cannot be read: "):
            log_files([log(magic, "packed.log")])


def test_a_file_is_unpacked_by_its_first_bytes_not_by_its_name(log):
    paths = [log("plain", "a.gz"), log(gzip.compress(b"packed"), "b.log")]
    assert messages(*paths) == ["plain", "packed"]
    event = json.dumps(EVENTS[0])
    assert messages(log(gzip.compress(event.encode()), "c.json")) == [EVENTS[0]["message"]]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"a\n\xff\n", r"bad\.log, line 2: this is not text in UTF-8"),
        (b"a\xf4\x8f\xbf\xbfb\n", r"U\+10FFFF, which is not a character"),
        (b"a\n" + b"x" * 1_048_576 + b"\n", r"bad\.log, line 2: this line has more than 1,048,576"),
        (json.dumps(EVENTS[0]).encode() + b'\n{"timestamp": \n', r"bad\.log"),
    ],
)
def test_an_error_names_the_file_and_line_that_cannot_be_read(log, content, reason):
    events = log_files([log("good", "good.log"), log(content, "bad.log")])
    with pytest.raises(EventsError, match=f"^the events cannot be read: .*{reason}") as raised:
        run("stats count(*), max(@message)", events)
    assert "\n" not in str(raised.value)


COUNTING_QUERIES = (
    "stats count(*)",
    "filter @message like 'a' | stats count(*) by @logStream",
    "filter @message like 'a'",
    "stats count(*) as n | filter n > 9",
    "filter @message like 'a' | dedup @message",
)


@pytest.mark.parametrize("query", COUNTING_QUERIES)
@pytest.mark.parametrize("window", [{}, {"start": 0}])
def test_lines_are_counted_alike_with_and_without_stats(log, query, window):
    path = log("a\n\n\nb\r\n\r\nc\nad")
    statistics = run(query, log_files([path]), **window).statistics
    matched = 2.0 if "filter @message" in query else 4.0
    assert statistics == {"recordsMatched": matched, "recordsScanned": 4.0, "bytesScanned": 13.0}


def test_lines_are_counted_in_files_of_all_kinds_and_sizes(log):
    paths = [log("a\n" * 5_000, f"{number}.log") for number in range(3)]
    event = log('{"timestamp": 1, "message": "a"}\n', "events.json")
    for files in (paths, [*paths, event]):
        statistics = run("filter @message like 'a' | stats count(*)", log_files(files)).statistics
        size = sum(file.stat().st_size for file in files)
        records = 15_000 + len(files) - len(paths)
        assert statistics == {
            "recordsMatched": records, "recordsScanned": records, "bytesScanned": size,
        }  # fmt: skip


@pytest.mark.parametrize(
    ("query", "matched"),
    [
        ("fields @message", 300),
        ("filter @message like /7/ | sort @message", 57),
        ("filter @message like /7/ | limit 2 | filter @message like /no/", 57),
        ("filter @message like /no/", 0),
        ("parse @message 'line *' as n | filter n >= 290 | sort n desc | limit 3", 10),
        ("filter @message like /7/ | stats count(*) by bin(1d)", 57),
    ],
)
def test_a_text_is_read_once(log, query, matched):
    compiled = compile_query(query)
    again = "SELECT error('the text is read again')"
    once = compiled._replace(statements=compiled.statements._replace(statistics=again))
    counts = run(once, log_files([log("".join(f"line {n}\n" for n in range(300)))])).statistics
    assert (counts["recordsScanned"], counts["recordsMatched"]) == (300, matched)


@pytest.mark.parametrize(
    ("query", "matched"),
    [
        ("stats count(*)", 3), ("sort @message | limit 1", 3), ("fields @message", 3),
        ("filter @message like /b/ | stats count(*)", 1), ("limit 2 | filter @message like /b/", 3),
        ("dedup @logStream", 3),
    ],
)  # fmt: skip
def test_the_events_of_a_time_range_are_counted(tmp_path, query, matched):
    path = tmp_path / "app.log"
    path.write_text("".join(f"2024-06-02T14:26:0{n}Z {'abcde'[n]}\n" for n in range(5)))
    counts = run(query, log_files([path]), 1_717_338_360, 1_717_338_362).statistics
    assert (counts["recordsScanned"], counts["recordsMatched"]) == (3, matched)


def test_many_small_files_have_the_events_that_each_has_alone(tmp_path):
    texts = [
        f"2024-06-02T14:26:00Z {number}\n\n{line}2024-06-02T14:27:00Z last".encode()
        for number, line in enumerate(["", "2024-06-02T14:26:30Z é\n"] * 10)
    ]
    texts[1] = b"\xef\xbb\xbf" + texts[1]
    texts[2] = texts[2].replace(b"\n", b"\r\n")
    texts[3] = b""
    paths = [tmp_path / f"{number:02}.log" for number in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_bytes(text)
    query = "fields @timestamp, @log, @logStream, @message | sort @ptr"
    alone = [row[:4] for path in paths for row in run(query, log_files([path])).rows]
    result = run(query, log_files(paths))
    assert sorted(map(str, (row[:4] for row in result.rows))) == sorted(map(str, alone))
    assert result.statistics["recordsScanned"] == len(alone) == 47
    counted = run("stats count(*)", log_files(paths)).statistics
    assert counted["recordsScanned"] == counted["recordsMatched"] == len(alone)


def test_many_small_files_with_a_line_that_needs_a_copy_are_refused(tmp_path):
    paths = [tmp_path / f"{number:02}.log" for number in range(16)]
    for path in paths:
        path.write_text("x\n")
    for text, reason in {"\U0010ffff": "not a character", "\udcff": "valid UTF-8"}.items():
        paths[7].write_text(f"x{text}\n", errors="surrogateescape")
        with pytest.raises(EventsError, match=reason):
            run("stats count(*)", log_files(paths))
