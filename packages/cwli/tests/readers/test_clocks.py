import gzip
import json
import os
import re
from pathlib import Path

import pytest

from cwli.insights import EventsError, run
from cwli.readers.clocks import CLOCKS, clock_of, field_clock, format_clock
from cwli.readers.files import Untimed, inspected, log_files, untimed_event
from cwli.readers.mending import Mending

CHANGED = 1_717_400_000  # 2024-06-03 07:33:20


def times(path, untimed=Untimed.BORROWED, **options):
    query = "fields @timestamp | sort @ptr"
    files = log_files([path], untimed=untimed, **options)
    return [row[0]["value"] for row in run(query, files).rows]


def clocks_of(paths, clock=None):
    return {
        file.original: file.clock if file.is_timed else None for file in inspected(paths, clock)
    }


@pytest.fixture
def log(tmp_path):
    def write(*lines, name="app.log"):
        path = tmp_path / name
        path.write_text("".join(f"{line}\n" for line in lines))
        os.utime(path, (CHANGED, CHANGED))
        return path

    return write


SECOND = "2024-06-02 14:26:00.000"
MILLISECOND = "2024-06-02 14:26:00.123"
VPC = "2 123456789012 eni-1235b8ca 172.31.16.139 172.31.16.21 20641 22 6 20 4249"


FORMS = [
    ("2024-06-02T14:26:00.123456Z x", "ISO 8601 at the beginning", MILLISECOND),
    ("[2024-06-02 16:26:00,123 +02:00] x", "ISO 8601 at the beginning", MILLISECOND),
    ("ERROR [2024-06-02 14:26:00,123] x", "ISO 8601 after a level", MILLISECOND),
    ("[WARNING] 2024-06-02 14:26:00 x", "ISO 8601 after a level", SECOND),
    ("I, [2024-06-02T14:26:00.123456 #7]  INFO -- : x", "ISO 8601 after a level", MILLISECOND),
    ("time=2024-06-02T14:26:00.123Z level=INFO msg=x", "logfmt", MILLISECOND),
    ('level=info ts="2024-06-02T16:26:00+02:00" caller=a.go:7', "logfmt", SECOND),
    ('192.0.2.1 - - [02/Jun/2024:16:26:00 +0200] "GET / HTTP/1.1" 200 5', "nginx or Apache",
     SECOND),
    ("2024/06/02 14:26:00 [error] 7#7: x", "errors of nginx", SECOND),
    ("[INFO]\t2024-06-02T14:26:00.123Z\t7\tx", "ISO 8601 after a level", MILLISECOND),
    ("\x1b[2m2024-06-02T14:26:00.123Z\x1b[0m x", "ISO 8601 in colour", MILLISECOND),
    ("2024-06-02 14:26:00.123 CEST [7] LOG:  x", "ISO 8601 at the beginning, CEST read as UTC",
     MILLISECOND),
    ("2024-06-02 14:26:00 GMT+2 x", "ISO 8601 at the beginning, GMT+2 read as UTC", SECOND),
    ('logger=a msg="b c" t=2024-06-02T14:26:00Z level=info', "logfmt", SECOND),
    ("2024/06/02 14:26:00 x", "Go", SECOND),
    ("2024/06/02 14:26:00.123456 a.go:7: x", "Go with microseconds", MILLISECOND),
    ("02-Jun-2024 14:26:00.123 INFO [main] x", "Tomcat", MILLISECOND),
    ("[Sun Jun  2 14:26:00 2024] x", "dmesg", SECOND),
    ("type=SYSCALL msg=audit(1717338360.123:7): x", "auditd", MILLISECOND),
    ("1.0 2024-06-02T14:26:00Z Z1 a.example A NOERROR", "Route 53", SECOND),
    ("    2024-06-02T14:26:00.123Z [INFO]  x", "ISO 8601 after blanks", MILLISECOND),
    ("INFO  [main] 2024-06-02 14:26:00,123 A:7 - x", "ISO 8601 after a level", MILLISECOND),
    ("[pod/web-1/app] 2024-06-02T14:26:00Z x", "ISO 8601 after brackets", SECOND),
    ("web-1  | 2024-06-02T14:26:00.123Z x", "Docker Compose", MILLISECOND),
    ("# Time: 2024-06-02T14:26:00.123456Z", "slow queries of MySQL", MILLISECOND),
    ("[02-Jun-2024 14:26:00 UTC] PHP Warning:  x", "PHP", SECOND),
    ('[02/Jun/2024 14:26:00] "GET / HTTP/1.1" 200 5', "Django", SECOND),
    ("24/06/02 14:26:00 INFO a.B: x", "Spark", SECOND),
    ("240602 142600 7 INFO a.B: x", "HDFS", SECOND),
    ("20240602 14:26:00,db,root,10.0.0.1,1,2,QUERY,,'x',0", "RDS audit", SECOND),
    ("20240602T142600Z x", "ISO 8601 without signs", SECOND),
    ("20240602T142600.123Z x", "ISO 8601 without signs but a point", MILLISECOND),
    ("W20240602 14:26:00.123456 7 a.cc:7] x", "klog with a year", MILLISECOND),
    ("2024/06/02-14:26:00.123456 7f5c db/db_impl.cc:7] x", "RocksDB", MILLISECOND),
    ("2024.06.02 14:26:00.123456 [ 7 ] {a-1} <Debug> x", "ClickHouse", MILLISECOND),
    ("[2024/06/02 16:26:00.123 +02:00] [INFO] [a.go:7] [x]", "TiDB", MILLISECOND),
    ("I240602 14:26:00.123456 14 server/node.go:464 x", "CockroachDB", MILLISECOND),
    ("[Container] 2024/06/02 14:26:00.123456 Running command x", "CodeBuild", MILLISECOND),
    ("[Container] 2024/06/02 14:26:00 Phase complete", "CodeBuild before 2023", SECOND),
    ("authenticated |Sun, 02 Jun 2024 14:26:00:123|[local] |", "audit of Redshift", MILLISECOND),
    ("100|dev|Sun, 02 Jun 2024 14:26:00:123", "audit of Redshift", MILLISECOND),
    ("'2024-06-02T14:26:00Z UTC [ db=dev pid=7 ]' LOG: x", "activity of Redshift", SECOND),
    ("\x1b[36mINFO\x1b[0m[2024-06-02T16:26:00+02:00] x", "ISO 8601 in colour", SECOND),
    ("/aws/lambda/a 2024/06/02/[$LATEST]ab 2024-06-02T14:26:00.123Z x", "awslogs", MILLISECOND),
    ("a   web/app/7   2024-06-02T14:26:00.123Z x", "awslogs", MILLISECOND),
    ("   2024/06/02 14:26:00 x", "Go after blanks", SECOND),
    ("\t2024/06/02 14:26:00.123456 x", "Go with microseconds after blanks", MILLISECOND),
    ("[2024/06/02 14:26:00.123456,  0] ../a.c:7(b)", "Samba", MILLISECOND),
    ("Jun 2, 2024 2:26:00 PM a.B c", "java.util.logging", SECOND),
    ("[pid: 7|app: 0|req: 1/1] 10.0.0.1 () {4 vars in 5 bytes} [Sun Jun  2 14:26:00 2024] G",
     "uWSGI", SECOND),
    ('{"event_time": "2024-06-02T14:26:00Z"}', "JSON field 'event_time'", SECOND),
    ('{"Time": "2024-06-02T14:26:00.123Z"}', "JSON field 'Time'", MILLISECOND),
    ('{"created_at": 1717338360}', "JSON field 'created_at'", SECOND),
    ('{"firewall_name": "a", "event_timestamp": "1717338360", "event": {"pkts": 7}}',
     "JSON field 'event_timestamp'", SECOND),
    ('{"log": "2024-06-02T14:26:00.123Z x", "source": "stdout"}',
     "ISO 8601 at the beginning in JSON field 'log'", MILLISECOND),
    ('{"log": "2024/06/02-14:26:00.123456 x", "source": "stdout"}', "RocksDB in JSON field 'log'",
     MILLISECOND),
    ('{"log": "{\\"ts\\": 1717338360.123}", "source": "stdout"}',
     "JSON field 'ts' in JSON field 'log'", MILLISECOND),
    ("info  [2024-06-02 14:26:00.123 Z] Server is listening", "ISO 8601 after a level",
     MILLISECOND),
    ("Sun 2024-06-02 14:26:00 UTC host app[7]: x", "ISO 8601 after a weekday", SECOND),
    ("[ns_server:info,2024-06-02T14:26:00.123Z,ns_1@a:x<0.1.0>:y:z:7]x", "Couchbase",
     MILLISECOND),
    ("[7]{-1}[-1/-1] 2024-06-02 14:26:00.123456 i TraceContext x.cpp(7) : y", "SAP HANA",
     MILLISECOND),
    ("[7] 2024/06/02 14:26:00.123456 [INF] x", "NATS", MILLISECOND),
    ("1,2024/06/02 14:26:00,0007,TRAFFIC,end", "Palo Alto", SECOND),
    ("00:0002:00000:00007:2024/06/02 14:26:00.12 server  x", "Sybase", "2024-06-02 14:26:00.120"),
    ("####<Jun 2, 2024 2:26:00,123 PM UTC> <Info> <x>", "WebLogic", MILLISECOND),
    ("####<Jun 2, 2024 2:26:00 PM UTC> <Info> <x>", "WebLogic before 12.2", SECOND),
    ("[6/2/24 14:26:00:123 UTC] 0000000a A   x", "WebSphere", MILLISECOND),
    ("240602 14:26:00 [Note] x", "MySQL before 5.7", SECOND),
    ("Sun Jun 02 14:26:00 2024", "dmesg", SECOND),
    ("Jun 02 14:26:00.123456 host app[7]: x", "syslog with a fraction", MILLISECOND),
    ("*Jun  2 14:26:00.123: %SYS-5-CONFIG_I: x", "syslog with a fraction", MILLISECOND),
    ("<166>Jun 02 2024 14:26:00: %ASA-6-302013: x", "syslog with a year", SECOND),
    ("Jun 02 2024 14:26:00 GMT: INFO (info): x", "syslog with a year", SECOND),
    ("10.0.0.1:560 [02/Jun/2024:14:26:00.123] fe be/s 0/0/1/2/3 200", "HAProxy", MILLISECOND),
    ('date=2024-06-02 time=14:26:00 devname="f"', "Fortinet", SECOND),
    ("06/02/2024-14:26:00.123456  [**] [1:2:3] x", "Suricata", MILLISECOND),
    ("06/02-14:26:00.123456  [**] [1:2:3] x", "Snort", MILLISECOND),
    ("06/02 14:26:00.123456 00000007 UTL x", "TDengine", MILLISECOND),
    ("=INFO REPORT==== 2-Jun-2024::14:26:00 ===", "Erlang", SECOND),
    ("=ERROR REPORT==== 2-Jun-2024::14:26:00.123456 ===", "Erlang with microseconds", MILLISECOND),
    ("2024-06-02-14.26.00.123456+000 I1A2 LEVEL: Info", "Db2", MILLISECOND),
    ("Start-Date: 2024-06-02  14:26:00", "apt", SECOND),
    ("tls 2.0 2024-06-02T14:26:00 net/lb/1 x", "network load balancer", SECOND),
    ('{"timeUnixNano": "1717338360123456789"}', "JSON field 'timeUnixNano'", MILLISECOND),
    ('{"event_timestamp": "1717338360123", "type": "TaskFailed"}', "JSON field 'event_timestamp'",
     MILLISECOND),
    ('{"query_timestamp": "2024-06-02T14:26:00Z"}', "JSON field 'query_timestamp'", SECOND),
    ("02 Jun 2024 14:26:00,123 INFO x", "log4j", MILLISECOND),
    ("[Sun Jun 02 14:26:00.123456 2024] [core:error] x", "errors of Apache", MILLISECOND),
    ("2024-06-02\t14:26:00\tFRA56-P1\t7", "CloudFront", SECOND),
    ("7:M 02 Jun 2024 14:26:00.123 * x", "Redis", MILLISECOND),
    ("<34>1 2024-06-02T14:26:00.123Z host app - - - x", "syslog (RFC 5424)", MILLISECOND),
    ("Jun  2 14:26:00 host app[7]: x", "syslog", SECOND),
    ("<34>Jun  2 14:26:00 host app: x", "syslog", SECOND),
    ("I0602 14:26:00.123456    7 main.go:9] x", "klog", MILLISECOND),
    ("https 2024-06-02T14:26:00.123456Z app/lb/1 192.0.2.1:80 x", "load balancer", MILLISECOND),
    (f"{VPC} 1717338360 1717338420 ACCEPT OK", "VPC flow log", SECOND),
    ("1717338360 x", "epoch at the beginning", SECOND),
    ("1717338360.123 x", "epoch at the beginning", MILLISECOND),
    ("1717338360123 x", "epoch at the beginning", MILLISECOND),
    ("[1717338360123456] x", "epoch at the beginning", MILLISECOND),
    ("1717338360123456789 x", "epoch at the beginning", MILLISECOND),
    ("1717338360123999999 x", "epoch at the beginning", MILLISECOND),
    ('{"ts": 1717338360123999999}', "JSON field 'ts'", MILLISECOND),
    ("2024-06-02 14:26:00 Europe/Berlin x", "ISO 8601 at the beginning, Europe/Berlin read as UTC",
     SECOND),
    ('{"timestamp": "2024-06-02T14:26:00.123Z"}', "JSON field 'timestamp'", MILLISECOND),
    ('{"ts": 1717338360.123, "m": 1}', "JSON field 'ts'", MILLISECOND),
    ('{"time": 1717338360123}', "JSON field 'time'", MILLISECOND),
    ('{"@timestamp": "2024-06-02T16:26:00+02:00"}', "JSON field '@timestamp'", SECOND),
    ('{"eventTime": "2024-06-02T14:26:00Z"}', "JSON field 'eventTime'", SECOND),
    ('{"t": {"$date": "2024-06-02T14:26:00.123Z"}}', "JSON field 't.$date'", MILLISECOND),
    ('{"@t": "2024-06-02T14:26:00.123Z", "@mt": "x"}', "JSON field '@t'", MILLISECOND),
    ('{"__REALTIME_TIMESTAMP": "1717338360123456", "MESSAGE": "x"}',
     "JSON field '__REALTIME_TIMESTAMP'", MILLISECOND),
    ('{"time_local": "02/Jun/2024:16:26:00 +0200"}', "JSON field 'time_local'", SECOND),
    ('{"time_iso8601": "2024-06-02T16:26:00+02:00"}', "JSON field 'time_iso8601'", SECOND),
    ('{"_aws": {"Timestamp": 1717338360123}}', "JSON field '_aws.Timestamp'", MILLISECOND),
    # The form of Docker's json-file logs.
    ('{"log": "x\\n", "stream": "stdout", "time": "2024-06-02T14:26:00.123456789Z"}',
     "JSON field 'time'", MILLISECOND),
]  # fmt: skip


BEGUN = ("Couchbase", "SAP HANA", "NATS", "WebLogic", "WebSphere", "Suricata", "TDengine", "Db2",
         "HAProxy", "Erlang with microseconds", "syslog with a fraction")  # fmt: skip


@pytest.fixture(scope="module")
def recognised(tmp_path_factory):
    """Return the file, the clock and the times of two lines of each form, all of one query."""
    folder = tmp_path_factory.mktemp("forms")
    return read_alone(folder, [[line, line] for line, _, _ in FORMS])


def read_alone(folder, logs, untimed=Untimed.BORROWED):
    """Return the clock and the times of the events of each log, which is a file of its own."""
    paths = [folder / f"{number:03}.log" for number in range(len(logs))]
    for path, lines in zip(paths, logs, strict=True):
        path.write_text("".join(f"{line}\n" for line in lines))
        os.utime(path, (CHANGED, CHANGED))
    copies = Mending().copies(paths, folder).copies
    events = log_files(paths, copies=copies, untimed=untimed)
    found = [[] for _ in paths]
    for log, time, _ in run("fields @log, @timestamp | sort @ptr", events).rows:
        found[paths.index(Path(log["value"]))].append(time["value"])
    return list(zip(clocks_of(paths).values(), found, strict=True))


@pytest.mark.parametrize("number", range(len(FORMS)), ids=[form[1] for form in FORMS])
def test_the_clock_of_a_log_is_recognised(recognised, number):
    line, name, time = FORMS[number]
    clock, times = recognised[number]
    assert (clock.name, times) == (name, [time, time])
    assert clock_of([line]) == clock


def test_a_log_without_a_known_time_has_no_clock(tmp_path):
    lines = [
        "at 2024-06-02 14:26:00",
        "06/02/24 14:26:00 x",
        "240602 142600 x",
        "[02-Jun-2024 14:26:00 Europe/Berlin] PHP Warning:  x",
        "x",
        "[1] 5",
        '{"time": "now"}',
        '{"n": 1717338360}',
        "{",
        "[]",
    ]
    assert list(map(clock_of, [[line] for line in lines])) == [None] * len(lines)
    assert read_alone(tmp_path, [[line] for line in lines]) == [
        (None, ["2024-06-03 07:33:20.000"])
    ] * len(lines)


@pytest.mark.parametrize(
    "lines",
    [
        ["2024-06-02T14:26:00.123000+00:00 a/b x"] * 3,
        [
            "2024-06-02T14:26:00Z x",
            "REPORT RequestId: 7",
            "2024-06-02T14:26:00.123Z START RequestId: 7",
        ],
        ["2024-06-02 14:26:00 CEST x"] * 2,
        ["2024/06/02 14:26:00 [error] x", "2024/06/02 14:26:00 x"],
        ['{"time": "2024-06-02T14:26:00Z", "ts": 1}', '{"timestamp": "2024-06-02T14:26:00Z"}'],
        ['{"ts": 1717338360, "time": 1717338360}'] * 2,
        ["Jun  2 14:26:00 host x"] * 3,
        ["x", "y"],
        [],
    ],
)
def test_the_clock_of_the_file_before_changes_no_clock(lines):
    found = clock_of(lines)
    for before in (*CLOCKS, *map(field_clock, ("ts", "time", "nothing"))):
        assert clock_of(lines, before) == found


def test_no_form_of_times_is_that_of_several_lines():
    # A search matches the form of a line within the text of the file.
    for clock in (*CLOCKS, format_clock(" %j"), format_clock("*%j")):
        for pattern in (clock.pattern, clock.prefix):
            classes = re.findall(r"\[\^(?:\\.|[^\]\\])+\]", pattern)
            assert all(r"\n" in each or r"\s" in each for each in classes), clock
            assert not re.search(r"\\[sDW][*+?]", pattern), clock


def test_lines_without_a_time_belong_to_the_event_before_in_each_form(tmp_path):
    lines = [
        "2024/06/02-14:26:00.123456 7f5c x",
        "2024.06.02 14:26:00.123456 [ 7 ] {} <Error> x",
        "[2024/06/02 14:26:00.123 +00:00] [ERROR] [x]",
        "I240602 14:26:00.123456 14 x",
        "[Container] 2024/06/02 14:26:00.123456 x",
        "authenticated |Sun, 02 Jun 2024 14:26:00:123|x",
        "'2024-06-02T14:26:00.123Z UTC [ db=dev ]' LOG: select",
        "\x1b[31mERRO\x1b[0m[2024-06-02T14:26:00.123Z] x",
        "/aws/lambda/a 2024/06/02/[$LATEST]ab 2024-06-02T14:26:00.123Z x",
        "[2024/06/02 14:26:00.123456,  0] a.c:7(b)",
        *(line for line, name, time in FORMS if name in BEGUN and time == MILLISECOND),
    ]
    rest = ["** DB Stats **", "\tat a.b(c:7)", "", "  Caused by: d"]
    found = read_alone(tmp_path, [["banner", line, *rest, line, "7 e"] for line in lines])
    assert [times for _, times in found] == [[MILLISECOND] * 3] * len(lines)


def test_the_group_and_stream_that_awslogs_writes_are_no_part_of_the_message(log):
    path = log("/aws/lambda/a 2024/06/02/[$LATEST]ab 2024-06-02T14:26:00.123Z START x")
    assert rows(path, "fields @message, @logStream") == [
        {"@message": "START x", "@logStream": "2024/06/02/[$LATEST]ab"}
    ]


def test_a_time_in_brackets_is_that_of_the_line(log):
    path = log("INFO [2024-06-02 14:26:00] 2023-01-01 00:00:00 is the begin")
    assert times(path) == [SECOND]


def test_a_line_of_lambda_chooses_no_clock_of_a_log_of_others(log):
    line = "Jun  2 14:26:00 host app[7]: x"
    lines = [line] * 9 + ["2024-06-02T14:27:00 REPORT RequestId: 7 Duration: 5 ms", line]
    path = log(*lines)
    copies = Mending().copies([path], path.parent).copies
    assert times(path, copies=copies) == [*[SECOND] * 9, "2024-06-02 14:27:00.000", SECOND]


def test_a_time_without_a_year_is_before_the_last_change_of_the_file(log):
    path = log("Jun  4 07:33:20 host x", "Jun  4 07:33:21 host x", "Dec 31 23:59:59 host x")
    assert [time[:10] for time in times(path)] == ["2024-06-04", "2023-06-04", "2023-12-31"]


def test_an_event_without_a_time_has_that_of_the_event_before_in_its_file(log):
    lines = ["2024-06-02T14:26:00Z x", "2024-13-02T14:26:00Z x", "2024-06-03T14:26:00Z x"]
    paths = [log(*lines), log(lines[1], *lines, name="b.log")]
    found = run("fields @timestamp | sort @ptr", log_files(paths, untimed=Untimed.BORROWED)).rows
    days = [row[0]["value"][8:10] for row in found]
    assert days == ["02", "02", "03", "03", "02", "02", "03"]


def test_without_borrowing_an_event_without_a_time_is_an_error_if_its_time_is_needed(log):
    path = log('{"ts": 1717338360}', '{"n": 1}')
    with pytest.raises(EventsError) as caught:
        run("fields @timestamp", log_files([path]))
    assert untimed_event(caught.value) == f'{path}: {{"n": 1}}'
    assert run("stats count(*)", log_files([path])).rows[0][0]["value"] == "2"


def test_an_event_before_the_first_time_has_that_time(log):
    paths = [
        log("banner", "", "2024-06-02T14:26:00.5Z x", "2024-06-02T14:27:00Z x"),
        log("another", "2024-06-03T14:26:00Z x", name="b.log"),
        log('{"n": 1}', '{"n": 2, "ts": 1717338360}', name="c.log"),
    ]
    for each in (paths, paths[:1], paths[2:]):
        copies = Mending().copies(each, each[0].parent).copies
        query = "fields @logStream, @timestamp | sort @ptr"
        found = run(query, log_files(each, copies=copies, untimed=Untimed.BORROWED)).rows
        first = {row[0]["value"]: row[1]["value"] for row in reversed(found)}
        expected = ["2024-06-02 14:26:00.500", "2024-06-03 14:26:00.000", SECOND]
        assert first == {path.name: expected[paths.index(path)] for path in each}


def test_a_line_of_json_without_the_field_has_the_time_of_another_one(log):
    lines = [
        '{"time": "2024-06-02T14:26:00Z", "type": "platform.start"}',
        '{"timestamp": "2024-06-02T14:26:00.123Z", "level": "ERROR"}',
        '{"time": "2024-06-02T14:26:00Z", "type": "platform.report"}',
    ]
    path = log(*lines)
    assert times(path) == [SECOND, MILLISECOND, SECOND]
    assert clocks_of([path])[path].name == "JSON field 'time' or 'timestamp'"
    pending = log(*lines, '{"time": "pending", "timestamp": "2024-06-02T14:26:00Z"}')
    assert times(pending)[3] == SECOND


def test_an_unknown_time_of_opentelemetry_is_that_of_the_observation(log):
    lines = [
        '{"timeUnixNano": "1717338360000000000"}',
        '{"timeUnixNano": "1717338360000000000", "observedTimeUnixNano": "1717338370000000000"}',
        '{"timeUnixNano": "0", "observedTimeUnixNano": "1717338360123000000"}',
    ]
    assert times(log(*lines)) == [SECOND, SECOND, MILLISECOND]


LEVEL = "[INFO]\t2024-06-02T14:26:00.000Z\t7\thello"
LATER = "2024-06-02 14:41:00.500"


@pytest.mark.parametrize("untimed", [Untimed.OTHER_FORM, Untimed.BORROWED])
def test_a_line_with_a_time_in_iso_8601_of_another_form_has_this_time(tmp_path, untimed):
    firsts = [LEVEL, '{"time": "2024-06-02T14:26:00Z"}', "I0602 14:26:00.000000 7 x"]
    others = [
        "2024-06-02T14:41:00.500Z 3604209a Task timed out after 900.10 seconds",
        "2024-06-02 16:41:00,500 +02:00 x",
        "[ERROR]\t2024-06-02T14:41:00.500Z\t7\tbye",
        "<34>1 2024-06-02T14:41:00.500Z host app - - - x",
        "level=info ts=2024-06-02T14:41:00.500Z x",
    ]
    logs = [[*[first] * n, other] for first in firsts for other in others for n in (1, 300)]
    found = read_alone(tmp_path, logs, untimed)
    assert [times for _, times in found] == [[*[SECOND] * len(log[1:]), LATER] for log in logs]


def test_a_line_of_json_among_lines_of_text_has_its_own_time(tmp_path):
    firsts = [LEVEL, "2024-06-02T14:26:00Z x", "Jun  2 14:26:00 host x"]
    others = [
        '{"level": "INFO", "ts": 1717339260.5}',
        '{"time": "pending", "timestamp": "2024-06-02T14:41:00.5Z"}',
        '{"t": {"$date": "2024-06-02T14:41:00.500Z"}}',
        '{"_aws": {"Timestamp": 1717339260500}}',
    ]
    logs = [[first, other, first] for first in firsts for other in others]
    found = read_alone(tmp_path, logs, Untimed.OTHER_FORM)
    assert [times for _, times in found] == [[SECOND, LATER, SECOND]] * len(logs)


def test_the_lines_of_a_file_may_have_times_of_two_forms(log):
    access = '192.0.2.1 - - [02/Jun/2024:16:26:00 +0200] "GET / HTTP/1.1" 500 5'
    error = "2024/06/02 14:41:00 [error] 7#7: *1 upstream timed out"
    path = log(access, access, error, access)
    copies = Mending().copies([path], path.parent).copies
    found = times(path, copies=copies, untimed=Untimed.OTHER_FORM)
    assert found == [SECOND, SECOND, "2024-06-02 14:41:00.000", SECOND]
    assert clocks_of([path])[path].name == "nginx or Apache, or errors of nginx"


@pytest.mark.parametrize("other", ["1234567890 bytes", "x", '{"n": 1}', "Traceback"])
def test_a_line_without_a_time_is_no_second_form(log, other):
    path = log(LEVEL, other)
    assert clocks_of([path])[path].name == "ISO 8601 after a level"
    copies = Mending().copies([path], path.parent).copies
    assert set(times(path, copies=copies)) == {SECOND}


def test_a_message_of_an_export_has_the_time_of_its_event(tmp_path):
    path = tmp_path / "000000"
    path.write_text("2024-06-02T14:26:00.000Z [INFO]\t2024-06-02T14:41:00Z\n{}\n")
    assert times(path, copies=Mending().copies([path], tmp_path).copies) == [SECOND]


def test_most_of_the_first_lines_choose_the_clock(log):
    lines = ["2024-06-02 14:26:00 begin", *["Jun  2 14:26:00 host x"] * 5]
    found = clock_of(lines)
    assert found is not None
    assert found.name == "syslog"


def test_the_field_of_the_time_may_be_named(log):
    event = {"created": "2024-06-02T14:26:00Z", "time": "2024-06-01T00:00:00Z"}
    assert times(log(json.dumps(event)), clock=field_clock("created")) == [SECOND]


@pytest.mark.parametrize(
    ("form", "text", "time"),
    [
        ("%d.%m.%Y %H:%M:%S", "02.06.2024 14:26:00", SECOND),
        ("%m/%d/%y %I:%M:%S %p", "06/02/24 02:26:00 PM", SECOND),
        ("%d/%b/%Y:%H:%M:%S %z", "02/Jun/2024:16:26:00 +0200", SECOND),
        ("%Y-%j %H:%M:%S.%f", "2024-154 14:26:00.123456", MILLISECOND),
        ("%b %d %H:%M:%S", "Jun 02 14:26:00", SECOND),
        ("%Y-%m-%dT%H:%M:%S.%f", "2024-06-02T14:26:00.123999", MILLISECOND),
    ],
)
def test_the_format_of_the_times_may_be_named(log, form, text, time):
    assert times(log(f"{text} x"), clock=format_clock(form)) == [time]
    assert times(log(json.dumps({"at": text})), clock=field_clock("at", form)) == [time]


@pytest.mark.parametrize(
    ("form", "line"),
    [
        ("  %d.%m.%Y %H:%M:%S", "  02.06.2024 14:26:00 x"),
        (" %d.%m.%Y %H:%M:%S", "\t\t[02.06.2024 14:26:00] x"),
        ("*%d.%m.%Y %H:%M:%S", "host [main] 02.06.2024 14:26:00 x"),
        ("*%d.%m.%Y %H:%M:%S", "02.06.2024 14:26:00 x"),
    ],
)
def test_a_format_may_allow_for_blanks_or_any_text_before_the_times(log, form, line):
    path = log(line, "  of the same event", line)
    copies = Mending(format_clock(form)).copies([path], path.parent).copies
    assert times(path, clock=format_clock(form), copies=copies) == [SECOND, SECOND]


def test_the_field_of_the_time_may_be_in_a_list(log):
    path = log('{"a": [{"t": "1717338360000000000"}, 7]}')
    for field, time in (("a.0.t", SECOND), ("a.2.t", None), ("a.1.t", None)):
        clock = field_clock(field)
        assert (clocks_of([path], clock) == {path: clock}) == (time is not None)
        assert (times(path, clock=clock) == [time]) == (time is not None)


def test_the_field_of_the_time_may_be_nested(log):
    path = log(json.dumps({"meta": {"at": "2024-06-02T14:26:00Z"}}), '{"meta": 1}', "{}")
    assert times(path, clock=field_clock("meta.at"))[0] == SECOND
    key = log(json.dumps({"meta.at": "2024-06-02T14:26:00Z", "meta": {"at": "x"}}))
    assert times(key, clock=field_clock("meta.at")) == [SECOND]


@pytest.mark.parametrize(
    "clock", [field_clock("att"), field_clock("at", "%d.%m.%Y"), format_clock("%d.%m.%Y")]
)
def test_a_named_clock_that_no_line_fits_is_none(log, clock):
    path = log('{"at": "2024-06-02T14:26:00Z"}')
    assert clocks_of([path], clock) == {path: None}
    other = log('{"at": "02.06.2024"}', "02.06.2024 x")
    assert clocks_of([other], clock)[other] == (None if clock.field == "att" else clock)


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        *((form, "%Y, %y, %m, ") for form in ("day", "%Q", "%Y-%", "%%")),
        *(
            (form, "a whole date, %d with %m or %b, or %j, or else none")
            for form in ("%Y", "%Y-%m", "%d %H:%M:%S", "%b %H:%M", "%y%m", "%Y %H:%M")
        ),
        *((form, "%I with %p, or %H") for form in ("%d.%m.%Y %I:%M", "%I:%M:%S", "%H:%M %p")),
        ("%M:%S", "an hour, %H or %I with %p, before its minutes"),
    ],
)
def test_a_format_of_other_letters_or_a_part_of_a_time_is_refused(form, expected):
    with pytest.raises(
        ValueError, match=re.escape(f"{form!r} is not accepted; expected {expected}")
    ):
        format_clock(form)


def test_the_lines_before_midnight_are_of_the_day_before_the_change(log):
    path = log("23:58:00.5 x", "23:59:00.5 x", "00:00:10.5 x")
    midnight = 1_717_372_800  # 2024-06-03 00:00:00
    os.utime(path, (midnight + 20, midnight + 20))
    assert times(path, clock=format_clock("%H:%M:%S.%f")) == [
        "2024-06-02 23:58:00.500",
        "2024-06-02 23:59:00.500",
        "2024-06-03 00:00:10.500",
    ]


@pytest.mark.parametrize(
    ("form", "text", "time"),
    [
        ("%H:%M:%S.%f", "14:26:00.123456", "2024-06-03 14:26:00.123"),
        ("%I:%M:%S %p", "02:26:00 PM", "2024-06-03 14:26:00.000"),
        # The file changed at 07:33:20, which is 21:33:20 in UTC+14.
        ("%H", "07", "2024-06-03 07:00:00.000"),
        ("%H:%M", "21:33", "2024-06-03 21:33:00.000"),
        ("%H:%M", "21:34", "2024-06-02 21:34:00.000"),
        ("%H:%M:%S %z", "09:33:00 +0200", "2024-06-03 07:33:00.000"),
        ("%H:%M:%S %z", "14:26:00 +0200", "2024-06-02 12:26:00.000"),
        ("%H:%M:%S %z", "23:33:00 -0800", "2024-06-03 07:33:00.000"),
        ("%H:%M:%S %z", "00:30:00 +0200", "2024-06-02 22:30:00.000"),
    ],
)
def test_times_of_day_are_the_last_ones_up_to_the_files_last_change(log, form, text, time):
    assert times(log(f"{text} x"), clock=format_clock(form)) == [time]
    assert times(log(json.dumps({"at": text})), clock=field_clock("at", form)) == [time]


@pytest.mark.parametrize(
    ("clock", "rest"),
    [
        (format_clock("%H:%M:%S"), "of the day up to the file's last change, read as UTC"),
        (format_clock("%H:%M:%S %z"), "of the day up to the file's last change"),
        (format_clock("%b %d %H:%M:%S"), "of the year up to the file's last change, read as UTC"),
        (format_clock("%j %H %z"), "of the year up to the file's last change"),
        (format_clock("%d.%m.%y %H:%M:%S"), "read as UTC"),
        (field_clock("at", "%H:%M"), "of the day up to the file's last change, read as UTC"),
        (clock_of(["Jun  2 14:26:00 host x"]),
         "of the year up to the file's last change, read as UTC"),
        (clock_of(["2024/06/02 14:26:00 x"]), "read as UTC"),
    ],
)  # fmt: skip
def test_what_times_do_not_say_is_said(clock, rest):
    assert clock.description == f"{clock.name} ({rest})"


@pytest.mark.parametrize(
    "clock",
    [
        field_clock("at"), format_clock("%d.%m.%Y %H:%M:%S %z"),
        clock_of(["2024-06-02T14:26:00Z x"]), clock_of(["1717338360 x"]),
    ],
)  # fmt: skip
def test_of_other_clocks_the_name_is_told(clock):
    assert clock.description == clock.name


def test_files_with_different_clocks_are_queried_together(log):
    paths = [
        log("Jun  2 14:26:00 host x", name="a.log"),
        log('{"ts": 1717338361}', name="b.log"),
        log("x", name="c.log"),
    ]
    result = run("fields @logStream | sort @timestamp", log_files(paths))
    assert [row[0]["value"] for row in result.rows] == ["a.log", "b.log", "c.log"]
    assert len({row[-1]["value"] for row in result.rows}) == 3


REPORT = "REPORT RequestId: 3604209a-e9a3-11e6-939a-754dd98c7be3\tDuration: 12.34 ms"
FIELDS = "fields @type, @duration, @logStream, @timestamp | sort @ptr"


def rows(path, query=FIELDS):
    return run(query, log_files([path])).records


def test_the_prefix_of_an_export_to_s3_is_no_part_of_the_message(tmp_path):
    folder = tmp_path / "2024-06-02-[$LATEST]ab12"
    folder.mkdir()
    path = folder / "000000.gz"
    lines = f"2024-06-02T14:26:00.123Z {REPORT}\n2024-06-02T14:26:00.123Z {VPC} 1 2 ACCEPT OK\n"
    path.write_bytes(gzip.compress(lines.encode()))
    assert rows(path)[0] == {
        "@type": "REPORT",
        "@duration": "12.34",
        "@logStream": "2024-06-02-[$LATEST]ab12",
        "@timestamp": MILLISECOND,
    }
    query = "fields @message, srcAddr | sort @ptr"
    assert [row.get("srcAddr") for row in rows(path, query)] == [None, "172.31.16.139"]


def test_the_prefix_of_aws_logs_tail_is_no_part_of_the_message(log):
    stream = "2024/06/02/[$LATEST]ab12"
    path = log(f"2024-06-02T14:26:00.123000+00:00 {stream} {REPORT}")
    assert rows(path) == [
        {"@type": "REPORT", "@duration": "12.34", "@logStream": stream, "@timestamp": MILLISECOND}
    ]
    other = log("2024-06-02T14:26:00.123000+00:00 INFO hello")
    assert rows(other, "fields @message")[0]["@message"].endswith("+00:00 INFO hello")


@pytest.mark.parametrize("time", ["2024-06-02T14:26:00", "2024-06-02T14:26:00.123Z"])
def test_the_times_before_lines_of_lambda_are_no_part_of_the_message(log, time):
    path = log(f"{time} 2024-06-02T14:25:59.000Z\t7\tINFO\thello", f"{time} {REPORT}")
    first, report = rows(path)
    assert (report["@type"], report["@duration"]) == ("REPORT", "12.34")
    assert report["@timestamp"] == (MILLISECOND if "." in time else SECOND)
    assert rows(path, "fields @message | sort @ptr")[0]["@message"].endswith("Z\t7\tINFO\thello")
    assert "@type" not in first


def test_a_line_after_blanks_begins_an_event_only_where_events_begin_with_blanks(log):
    inner, outer = "  2024-06-02T14:26:00Z y", "2024-06-02T14:26:00Z x"
    for lines, number in (([outer, inner, outer], 2), ([inner, inner, "  z"], 2)):
        path = log(*lines)
        copies = Mending().copies([path], path.parent).copies
        assert times(path, copies=copies) == [SECOND] * number


def test_lines_of_lambda_without_times_are_events(log):
    path = log("START RequestId: 7", "2024-06-02T14:26:00.123Z\t7\tINFO\thello", " of it", REPORT)
    copies = Mending().copies([path], path.parent).copies
    assert times(path, copies=copies) == [MILLISECOND] * 3
    files = log_files([path], copies=copies)
    report = run("filter @type = 'REPORT' | stats max(@duration) as longest", files)
    assert report.rows[0][0]["value"] == "12.34"


@pytest.mark.parametrize("is_sorted", [False, True])
@pytest.mark.parametrize("name", ["trail.json", "trail.json.gz"])
def test_the_records_of_cloudtrail_are_events(tmp_path, name, is_sorted):
    records = [
        {"eventVersion": "1.08", "eventTime": "2024-06-02T14:26:00Z", "eventName": f"Call{number}"}
        for number in range(2_000)
    ]
    text = json.dumps({"Records": records}, sort_keys=is_sorted).encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    found = rows(path, "fields eventName, @timestamp, @logStream | sort @ptr")
    assert len(found) == 2_000
    assert found[7] == {"eventName": "Call7", "@timestamp": SECOND, "@logStream": name}


def test_json_of_a_thousand_levels_is_a_line_like_any_other(log):
    deep = 2_000 * '{"a":' + "1" + 2_000 * "}"

    assert times(log('{"ts": 1717338360}', deep))[0] == SECOND
    assert clock_of([deep]) is None


COLUMNS = (
    "version account-id interface-id srcaddr dstaddr srcport dstport protocol packets bytes start "
    "end action log-status"
)


@pytest.mark.parametrize("query", ["stats count(*) as n by action", "filter action = 'ACCEPT'"])
def test_the_names_of_columns_in_a_flow_log_are_no_event(log, query):
    flow = f"{VPC} 1717338360 1717338420 ACCEPT OK"
    path, other = log(COLUMNS, flow, flow), log(flow, name="b.log")
    for paths, number in (([path], 2), ([path, other], 3)):
        result = run(query, log_files(paths))
        assert result.statistics["recordsScanned"] == number
        assert result.statistics["recordsMatched"] == number
    assert times(path) == [SECOND, SECOND]


@pytest.mark.parametrize("query", ["stats count(*)", "fields @timestamp"])
@pytest.mark.parametrize("first", ["#Software: Microsoft IIS\n#Version: 1.0", "#Version: 1.0"])
def test_the_directives_of_an_extended_log_are_no_events(log, query, first):
    path = log(f"{first}\n#Fields: date time", "2024-06-02 14:26:00 x", "2024-06-02 14:26:00 #")
    assert run(query, log_files([path])).statistics["recordsScanned"] == 2
    copies = Mending().copies([path], path.parent).copies
    assert run(query, log_files([path], copies=copies)).statistics["recordsScanned"] == 2


def test_a_flow_log_of_another_format_has_the_times_of_its_column(log):
    path = log("interface-id srcaddr start flow-direction", "eni-1 10.0.0.1 1717338360 ingress")
    assert times(path) == [SECOND]
    assert clocks_of([path])[path].name == "VPC flow log"


IN_ISO = {
    "2024-06-02T14:26:00.123Z x": "14:26:00.123",
    "2024-06-02T14:26:00.123Zulu": "14:26:00.123",
    "2024-06-02T14:26:00Z": "14:26:00.000",
    "2024-06-02T14:26:00": "14:26:00.000",
    "2024-06-02T14:26:00.123+02:00 x": "12:26:00.123",
    "2024-06-02T14:26:00.123-05:30": "19:56:00.123",
    "2024-06-02T14:26:00.123456+02:00": "12:26:00.123",
    "2024-06-02 14:26:00,123 - x": "14:26:00.123",
    "2024-06-02 14:26:00.123 é": "14:26:00.123",
    "2024-06-02 14:26:00.1234 x": "14:26:00.123",
    "2024-06-02 14:26:00,123 +0200 x": "12:26:00.123",
    "2024-06-02 14:26:00,123 -5 x": "14:26:00.123",
    "2024-06-02 14:26:00.123 -03 [12] LOG:  x": "17:26:00.123",
    "2024-06-02 14:26:00 -03 [12] LOG:  x": "17:26:00.000",
    "2024-06-02T14:26:00+02 x": "12:26:00.000",
    "2024-06-02 14:26:00.123 -15 x": "14:26:00.123",
    "2024-06-02 14:26:00,123 -05 degrees": "14:26:00.123",
    "2024-06-02 14:26:00 +12 points": "14:26:00.000",
    "2024-06-02 14:26:00 +12345 bytes": "14:26:00.000",
    "2024-06-02 14:26:00 -0300x": "14:26:00.000",
    "2024-06-02 14:26:00 -1260 x": "14:26:00.000",
    "2024-06-02 14:26:00 +2400 x": "14:26:00.000",
    "2024-06-02T14:26:00+14:00": "00:26:00.000",
    "2024-06-02 14:26:00,123 +0200 [7] x": "12:26:00.123",
    "2024-06-02 14:26:00.123 -033 x": "14:26:00.123",
    "2024-06-02 14:26:00 200 x": "14:26:00.000",
    "2024-06-02T14:26:59.9996Z x": "14:26:59.999",
    "2024-06-02T14:26:59.999999+00:00": "14:26:59.999",
    "2024-06-02 14:26:00,123 Z": "14:26:00.123",
    "2024-06-02 14:26:00;123 x": "14:26:00.000",
    "[2024-06-02 14:26:00,123] x": "14:26:00.123",
}


def test_a_time_in_iso_8601_is_the_same_in_common_and_other_forms(tmp_path):
    found = read_alone(tmp_path, [[line] for line in IN_ISO])
    times = {line: time for line, (_, (time,)) in zip(IN_ISO, found, strict=True)}
    assert times == {line: f"2024-06-02 {time}" for line, time in IN_ISO.items()}
