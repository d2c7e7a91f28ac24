"""Discovered fields. Source: AWS documentation, CloudWatch Logs: supported logs and fields."""

import json

import pytest

from cwli import insights
from cwli.insights import engine

EVENT = json.dumps(
    {
        "eventName": "StartInstances",
        "status": 200,
        "size": 1.5,
        "ok": True,
        "off": False,
        "nothing": None,
        "quoted": "true",
        "requestParameters": {"instancesSet": {"items": [{"instanceId": "i-1"}, "x"]}},
        "service.name": "flat",
        "resource": {"service.name": "half"},
        "odd key": 1,
        "a/b~c": "escaped",
        "@mark": "at",
        "action": "BLOCK",
    }
)


FIELDS = [
    ("eventName", "StartInstances"),
    ("status", "200"),
    ("size + 1", "2.5"),
    ("requestParameters.instancesSet.items.0.instanceId", "i-1"),
    ("requestParameters.instancesSet.items[0].instanceId", "i-1"),
    ("requestParameters.instancesSet.items[1]", "x"),
    ("requestParameters.instancesSet.items.2", None),
    ("`odd key`", "1"),
    ("`a/b~c`", "escaped"),
    ("@@mark", "at"),
    ("action", "BLOCK"),
    ("nothing", None),
    ("gone.too", None),
    # Not documented: true and false are 1 and 0, as for conditions. A key may contain dots. The
    # value of a map or list is its JSON.
    ("ok", "1"),
    ("off", "0"),
    ("quoted", "true"),
    ("service.name", "flat"),
    ("resource.service.name", "half"),
    ("requestParameters.instancesSet.items.0", '{"instanceId":"i-1"}'),
]


@pytest.mark.parametrize(("field", "value"), FIELDS)
def test_fields_of_a_json_message_have_dotted_names(ask, field, value):
    (row,) = ask(f"fields {field} as x | display x", EVENT)
    assert row.get("x") == value


def test_many_fields_of_a_json_message_are_the_same(values_of):
    assert list(values_of([field for field, _ in FIELDS], EVENT).items()) == FIELDS


@pytest.mark.parametrize("message", ['{"a": 1', "{a}", '{a} {"a": 2', "a=1", "", "[1]", "1"])
def test_a_message_without_a_json_object_has_no_fields_and_causes_no_error(ask, message):
    query = "filter ispresent(@message) | stats count(*) as n, count(a) as a, sum(a) as s"
    assert ask(query, message, '{"a": 5}') == [{"n": "2", "a": "1", "s": "5"}]


def test_the_json_in_a_line_of_text_is_found(ask):
    # AWS documents this for Lambda: its runtimes write the time and the request before the JSON.
    line = '2026-01-02T03:04:05.006Z\t6bc28136-xmpl\tINFO\t{"user": {"id": 7}}\n'
    assert ask("filter user.id = 7 | display user.id", line, "{x} no") == [{"user.id": "7"}]


TWINS = (
    '{"j": {"user": {"id": "nested"}, "user.id": "whole"}, "j.user.id": "flat", "a.b": {"c": 1}}'
)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("j.`user.id`", "whole"),
        ("j.user.id", "nested"),
        ("`j.user.id`", "nested"),
        ("`a.b`.c", "1"),
        ("`a.b.c`", "1"),
        ("a.b.c", "1"),
        ("m.`user.id`", "whole"),
        ("m.user.id", "nested"),
    ],
)
def test_a_part_of_a_name_in_backticks_is_one_key(ask, field, value):
    query = f"fields jsonParse(@message) as x | fields x.j as m | display {field} as f, a.b.c"
    assert ask(query, TWINS) == [{"f": value, "a.b.c": "1"}]


DEEP = '{"b":' * 90 + "{}" + "}" * 90


@pytest.mark.parametrize(
    "line",
    [
        '{"a": 1} {"a": 2}',
        '{"a": 1}{"a": 2}',
        'got {"a": 1} and {"a": 2}',
        'got {"a": 1, "b": {"c": "} {"}} in {pool-1}',
        'in {pool-1} got {"a": 1}',
        'got {"a": 1} in {pool-1',
        '{ "b": { "c": 2 } , "a": 1 }',
        f'got {{"a": 1, "b": {DEEP}}}',
        f'got {{"a": 1, "b": {DEEP}}} and {{"a": 2}}',
    ],
)
def test_only_the_first_json_of_a_line_has_fields(ask, line):
    # AWS documentation, CloudWatch Logs: discovered fields (the first embedded JSON fragment).
    assert ask("fields a | display a", line) == [{"a": "1"}]


REPORT = (
    "REPORT RequestId: 3604209a-e9a3-11e6-939a-754dd98c7be3\tDuration: 12.34 ms\t"
    "Billed Duration: 13 ms\tMemory Size: 128 MB\tMax Memory Used: 18 MB\t"
    "Init Duration: 100.5 ms\t\nXRAY TraceId: 1-5e34a614-10bdxmplf1fb44f07bc535a1\t"
    "SegmentId: 07f5xmpl2d1f6f85\tSampled: true\t\n"
)


def test_figures_of_lambda_reports_are_in_milliseconds_and_bytes(ask):
    fields = (
        "@type, @requestId, @duration, @billedDuration, @initDuration, @memorySize, "
        "@maxMemoryUsed, @xrayTraceId, @xraySegmentId"
    )
    assert ask(f"display {fields}", REPORT) == [
        {
            "@type": "REPORT",
            "@requestId": "3604209a-e9a3-11e6-939a-754dd98c7be3",
            "@duration": "12.34",
            "@billedDuration": "13",
            "@initDuration": "100.5",
            "@memorySize": "128000000",
            "@maxMemoryUsed": "18000000",
            "@xrayTraceId": "1-5e34a614-10bdxmplf1fb44f07bc535a1",
            "@xraySegmentId": "07f5xmpl2d1f6f85",
        }
    ]
    start = "START RequestId: 3604209a-e9a3-11e6-939a-754dd98c7be3 Version: $LATEST"
    assert ask(f"display {fields}", start) == [
        {"@type": "START", "@requestId": "3604209a-e9a3-11e6-939a-754dd98c7be3"}
    ]
    assert ask(f"display {fields}", "Duration: 3 ms, a REPORT by hand") == [{}]


def test_a_report_without_an_init_duration_is_a_warm_start(ask):
    # AWS documentation, Lambda: a query for cold starts.
    warm = REPORT.replace("\tInit Duration: 100.5 ms", "")
    query = (
        "filter @type = 'REPORT' | fields greatest(@initDuration, 0) + @duration as d, "
        "ispresent(@initDuration) as cold | stats count(*) as n, max(d) as d by cold"
    )
    assert ask(query, REPORT, warm, warm) == [
        {"cold": "0", "n": "2", "d": "12.34"},
        {"cold": "1", "n": "1", "d": "112.84"},
    ]


def test_columns_of_flow_logs_and_dns_logs_have_names(ask):
    flow = (
        "2 123456789010 eni-1235b8ca123456789 172.31.16.139 172.31.16.21 20641 22 6 20 4249 "
        "1418530010 1418530070 ACCEPT OK"
    )
    dns = "1.0 2017-12-13T08:16:02.130Z Z123412341234 example.com A NOERROR UDP FRA6 192.0.2.1 -"
    query = "display srcAddr, bytes, logStatus, queryName, resolverIp, protocol, version"
    assert ask(query, dns, flow) == [
        {
            "srcAddr": "172.31.16.139",
            "bytes": "4249",
            "logStatus": "OK",
            "protocol": "6",
            "version": "2",
        },
        {
            "queryName": "example.com",
            "resolverIp": "192.0.2.1",
            "protocol": "UDP",
            "version": "1.0",
        },
    ]


def test_a_computed_field_hides_a_discovered_one(ask):
    query = "fields a, 'made' as b | fields concat(a, b) as a | display a, b"
    assert ask(query, '{"a": "x", "b": "y"}') == [{"a": "xmade", "b": "made"}]


def test_a_field_may_be_used_before_and_after_filters_and_groups(ask):
    query = (
        "filter a.kind = 'x' | fields a.n as n, a | filter a.n > 1 | stats sum(n) as s by a.kind"
    )
    events = [json.dumps({"a": {"kind": k, "n": n}}) for k, n in [("x", 1), ("x", 2), ("y", 9)]]
    assert ask(query, *events) == [{"a.kind": "x", "s": "2"}]


def test_a_field_that_no_event_has_gives_a_warning(source):
    events = source('{"a": 1}', "text")
    result = insights.run("fields a, b.c | filter @logstream = 'x'", events, 0, 10)
    assert result.warnings == (
        "line 1, column 24: no log has a field '@logstream'; did you mean '@logStream'?",
        "no event has a field 'b.c'",
        "no event has a field '@logstream'",
        "none of 2 events passed the filters",
    )
    assert insights.run("fields a", events, 0, 10).warnings == ()


def test_a_field_that_only_a_late_event_has_gives_no_warning(source, monkeypatch):
    monkeypatch.setattr(engine, "_FIRST_EVENTS", 1)
    events = source('{"a": 1}', '{"a": 1}', '{"b": 1}')
    assert insights.run("fields a, b", events).warnings == ()
    assert insights.run("fields a, b, c", events).warnings == ("no event has a field 'c'",)


def test_one_reading_of_the_events_finds_all_absent_fields():
    sql = insights.compile("fields a, b, c.d | filter @message like 'x'").statements.discovered
    assert sql.count("FROM events") == 1


def test_only_used_fields_are_taken_from_messages():
    sql = insights.compile("fields a, b, c.d | stats count(*) by b").statements.message_values.sql
    assert "'/b'" in sql
    assert "'/a'" not in sql
    assert "'/c" not in sql


def test_a_function_that_timed_out_has_a_request_id(ask):
    # Lambda itself writes a space where its runtimes write a tab.
    line = (
        "2024-06-02T14:26:00.123Z 3604209a-e9a3-11e6-939a-754dd98c7be3 Task timed out after 3.00 s"
    )
    query = "filter @message like /Task timed out/ | display @requestId"
    assert ask(query, line) == [{"@requestId": "3604209a-e9a3-11e6-939a-754dd98c7be3"}]
