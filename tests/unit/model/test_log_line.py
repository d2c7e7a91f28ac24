"""The log queries that Tidemark writes for the form of a line, over lines of a log."""

import json

import pytest
from click.testing import CliRunner

from cwli.command import command
from tidemark.model.log_line import queries_of
from tidemark.model.metric import Metric
from tidemark.model.short_suite import written_out


def metric(log, **fields):
    given = {"name": "time", "unit": "ms", "direction": "lower", "log": log, **fields}
    whole = written_out({"tests": [{"name": "read", "metrics": [given]}]})
    return Metric.model_validate(whole["tests"][0]["metrics"][0])


@pytest.fixture
def rows(tmp_path):
    def answer(log, *lines, query="time_values", **fields):
        """Return the rows of a written query over lines, without the columns of the engine."""
        file = tmp_path / "task.log"
        file.write_text("".join(f"{line}\n" for line in lines))
        text = queries_of(metric(log, **fields))[query]
        done = CliRunner().invoke(command, [text, str(file), "--format", "json"])
        assert done.exit_code == 0, done.output
        found = json.loads(done.stdout)
        return [{name: row[name] for name in row if name[0] != "@"} for row in found]

    return answer


@pytest.mark.parametrize(
    ("log", "line", "value"),
    [
        ("ms=*", "[main] INFO ms=12.5", "12.5"),
        ("ms=*", "ms=12.5 ok", "12.5"),
        ("ms=*", "gc-ms=3 gc.ms=3 gc/ms=3 ms=12.5", "12.5"),
        ("ms=*", "INFO:root:ms=12.5", "12.5"),
        ("ms=*", '{"text": "ms=12.5 "}', "12.5"),
        ("ms=*", "rows=10,ms=12.5", "12.5"),
        ("rows=* ms=*", "rows=10 ms=12.5", "12.5"),
        ("ms={value} rows=*", "ms=12.5 rows=10", "12.5"),
        ("took *ms", "took 12.5ms", "12.5"),
        ("took * (warm)", "took 12.5 (warm)", "12.5"),
        ("a/b.c took *", "a/b.c took 12.5", "12.5"),
        ("ms=*", "ms=1,234.5", "1,234.5"),  # a number that no query reads fails its test
    ],
)
def test_the_value_of_a_line_is_read(rows, log, line, value):
    assert rows(log, line) == [{"value": value}]


def test_a_line_of_another_form_has_no_value(rows):
    assert rows("ms=*", "max_ms=3", "ms= 3", "MS=3", "rows=3") == []
    assert rows("a/b.c took *", "a/bxc took 3") == []


def test_a_name_in_braces_is_a_label(rows):
    log = "Benchmark * s of {benchmark}"
    assert metric(log).labels == ("benchmark",)
    assert rows(log, "Benchmark 0.5 s of sort [10 rows]") == [
        {"value": "0.5", "benchmark": "sort [10 rows]"}
    ]


@pytest.mark.parametrize(
    ("statistic", "value"), [("mean", "2"), ("p99", "2"), ("max", "3"), ("total", "4")]
)
def test_the_figure_of_a_task_is_that_of_the_first_statistic(rows, statistic, value):
    lines = ("ms=1", "ms=3", "ms=nan")
    (row,) = rows("ms=*", *lines, query="time", statistics=[statistic])
    assert row == {"value": value, "n": "2"}


def test_metrics_of_two_tests_with_one_name_and_two_forms_have_queries_of_their_own():
    tests = [
        {"name": name, "metrics": [{"name": "ms", "log": log}]}
        for name, log in (("read", "read ms=*"), ("write", "write ms=*"), ("again", "read ms=*"))
    ]
    whole = written_out({"tests": tests})
    assert [test["metrics"][0]["query"] for test in whole["tests"]] == ["ms", "write_ms", "ms"]
