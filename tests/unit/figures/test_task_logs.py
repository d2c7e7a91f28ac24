"""The lines that tasks log besides metrics."""

import json
from dataclasses import astuple
from datetime import UTC, datetime, timedelta

import pytest

from tests.unit.documented import documented
from tidemark.figures.task_logs import (
    CUT,
    different,
    environments_by_stream,
    last_lines,
    usages,
    with_cpu,
)
from tidemark.model.load import HeldLevel, LoadCourse
from tidemark.model.results import TaskResult, TestResult, Usage


def environment_of(text):
    """Return the environment that is kept of a logged text."""
    return environments_by_stream([{"@logStream": "s", "environment": text}])["s"]


def test_each_different_environment_is_kept_once():
    rows = [
        {"@logStream": "t0", "environment": '{"cpu": "A", "arch": "x"}'},
        {"@logStream": "t2", "environment": '{"arch": "x", "cpu": "A"}'},
        {"@logStream": "t1", "environment": '{"cpu": "B"}'},
    ]

    found = environments_by_stream(rows)

    assert found["t1"] == {"cpu": "B"}
    assert different(found.values()) == [{"cpu": "A", "arch": "x"}, {"cpu": "B"}]


def test_an_environment_within_bounds_is_kept_as_logged():
    environment = {"cpu": "A  @ 2 GHz", "cores": 2, "flags": ["a", "b"], "none": None}

    assert environment_of(json.dumps(environment)) == environment


def test_a_long_environment_is_cut_and_says_how_much():
    kept = environment_of(json.dumps({f"field {n}": "x" * 1000 for n in range(900)}))

    assert len(kept) == 41
    assert kept[CUT] == "900 of 900 fields"
    assert len(json.dumps(kept)) < 12_000


def test_long_names_and_values_are_cut():
    kept = environment_of(json.dumps({"n" * 100: "v" * 300, "deep": [[["x" * 300]]], "cpu": "A"}))

    assert kept == {
        "n" * 57 + "…": "v" * 197 + "…",
        "deep": '[[["' + "x" * 193 + "…",
        "cpu": "A",
        CUT: "2 of 3 fields",
    }


def test_control_characters_and_lone_surrogates_are_escaped():
    kept = environment_of('{"cpu": "\\u001b[2J\\u202eA", "x": "\\ud800"}')

    assert kept == {"cpu": r"\u001b[2J\u202eA", "x": r"\ud800", CUT: "2 of 2 fields"}


@pytest.mark.parametrize("value", [r'["\ud800"]', r'{"a": {"\ud800": 1}}'])
def test_a_lone_surrogate_within_a_value_can_be_stored(value):
    kept = environment_of(f'{{"x": {value}}}')

    assert kept[CUT] == "1 of 1 fields"
    TestResult(test="t", status="ok", environments=(kept,)).model_dump_json()


def test_an_unreadable_environment_is_kept_as_text():
    assert environment_of("[" * 100_000)["unreadable"] == "[" * 197 + "…"
    assert environment_of("[1]") == {"unreadable": "[1]"}


def rows(*events):
    """Return events as rows of a log query: each value is a text."""
    return [
        {"@timestamp": f"2026-11-20 12:0{minute}:00.000", **{k: str(v) for k, v in event.items()}}
        for minute, event in enumerate(events)
    ]


def counted(task_id, read, written):
    """Return the documented event of a task that has read and written so many bytes so far."""
    event = documented("performance_task")
    return {**event, "TaskId": task_id, "StorageReadBytes": read, "StorageWriteBytes": written}


def disk(rows, *task_ids):
    return [
        (entry.task_id, entry.disk_read, entry.disk_written) for entry in usages(rows, task_ids)
    ]


def test_the_documented_event_of_a_task_has_every_figure():
    event = documented("performance_task")

    (usage,) = usages(rows(event), {event["TaskId"]})

    assert usage.task_id == "7ac4dfba69214411b4783a3b8189c9ba"
    assert set(astuple(usage)[2:]) == {0.0}


def test_storage_bytes_counted_from_the_start_of_a_task_become_those_since_its_last_event():
    logged = rows(
        counted("a", 100, 1), counted("b", 7, 0), counted("a", 100, 5), counted("a", 350, 5)
    )

    assert disk(logged, "a", "b") == [("a", 100, 1), ("b", 7, 0), ("a", 0, 4), ("a", 250, 0)]


def test_a_counter_that_goes_back_gives_no_figure_and_counts_on_from_there():
    logged = rows(counted("a", 100, 0), counted("a", 40, 0), counted("a", 45, 0))

    assert [read for _, read, _ in disk(logged, "a")] == [100, None, 5]


def test_an_event_without_a_counter_leaves_its_bytes_to_the_next_event():
    silent = {"Type": "Task", "TaskId": "a"}

    logged = rows(counted("a", 100, 0), silent, counted("a", 160, 0))

    assert [read for _, read, _ in disk(logged, "a")] == [100, None, 60]


def test_tasks_of_other_trials_have_no_usage_here():
    assert disk(rows(counted("a", 1, 1), counted("b", 2, 2)), "b") == [("b", 2, 2)]


NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
TASKS = [
    TaskResult(index=0, status="ok", task_arn="t/own"),
    TaskResult(index=1, status="ok", task_arn="t/web", service="server"),
    TaskResult(index=2, status="ok", task_arn="t/agent", service="agent"),
]


def at(seconds):
    return NOON + timedelta(seconds=seconds)


def used(task, seconds, cpu):
    return Usage(
        task_id=task, logged_at=f"{at(seconds):%Y-%m-%d %H:%M:%S.000}", cpu=cpu, memory=None,
        network_in=None, network_out=None, disk_read=None, disk_written=None,
    )  # fmt: skip


def level(begin, end):
    return HeldLevel(
        users=8, connected=8, values={}, hit=(), ended_at=at(end),
        begun_at=None if begin is None else at(begin),
    )  # fmt: skip


def cpu(usages, *levels):
    course = LoadCourse(
        level=1, users={}, settle_seconds=1, hold_seconds=1, started_at=NOON, begun_at=NOON,
        held=levels,
    )  # fmt: skip
    return [each.cpu for each in with_cpu(course, usages, TASKS).held]


def test_a_level_has_the_cpu_of_the_local_cloud_apart():
    usages = [used("web", 12, 0.5), used("local-cloud", 12, 0.25)]

    assert cpu(usages, level(10, 20)) == [{"server": 0.5, "the local cloud": 0.25}]


def test_a_level_has_the_mean_of_each_service_while_it_lasted():
    usages = [
        used("web", 5, 9.0), used("web", 12, 0.5), used("web", 18, 1.0), used("agent", 14, 0.1),
        used("own", 14, 7.0), used("web", 21, 3.0),
    ]  # fmt: skip

    assert cpu(usages, level(10, 20), level(20, 30)) == [
        {"server": 0.75, "agent": 0.1}, {"server": 3.0}
    ]  # fmt: skip


def test_a_level_without_usage_or_a_known_start_has_no_figure():
    assert cpu([used("web", 12, None)], level(10, 20)) == [{}]
    assert cpu([used("web", 12, 1.0)], level(None, 20)) == [{}]


def said(*lines):
    rows = [{"@logStream": "server", "@message": line} for line in reversed(lines)]
    return last_lines([{"@logStream": "another", "@message": "last of all"}, *rows], "server")


def test_the_last_five_lines_of_a_log_are_in_their_order():
    assert said(*"abcdefg") == "; its last lines: c / d / e / f / g"


def test_a_log_without_lines_adds_nothing():
    assert said() == ""


def test_long_lines_are_left_out_before_the_last_one_which_names_the_fault():
    trace = "in a long traceback " * 20

    assert said("first", trace, trace, "KeyError: 'id'") == (
        f"; its last lines: {trace.strip()} / KeyError: 'id'"
    )


def test_a_last_line_that_is_too_long_is_cut_at_its_end():
    lines = said("first", "x" * 600)

    assert lines == f"; its last lines: {'x' * 497}…"
