"""The usage of tasks, from the performance log events of Container Insights."""

from dataclasses import astuple

from tests.unit.documented import documented
from tidemark.figures.task_logs import usages


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
