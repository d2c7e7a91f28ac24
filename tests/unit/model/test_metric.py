"""The model of a metric, and its refusals in a suite file."""

import json
import re
import shutil

import pytest
from click.testing import CliRunner

from cwli.command import command
from tidemark.model.metric import Metric, queries_of
from tidemark.model.refusal import Refused
from tidemark.model.request import resolve_request
from tidemark.model.suite_asset import FOLDER
from tidemark.model.suite_files import read_suite, read_suites, written_out

_SHIPPED = (FOLDER / "rocksdb" / "suite.yaml").read_text(encoding="utf-8")
# Metrics with labels have no run until decided.
ROCKSDB = re.sub(
    r" +decides: false  #.*\n|  (until: decided|within_seconds: \d+|layout: rounds.*)\n",
    "",
    _SHIPPED,
)
SAMPLES = "        samples: ingest_samples\n"


def suite_with(tmp_path, more):
    """Return RocksDB's suite with other lines in place of the samples of ``ingest_rate``."""
    folder = tmp_path / "suites" / "rocksdb"
    shutil.copytree(FOLDER / "rocksdb", folder)
    lines = "".join(f"        {line}\n" for line in more)
    (folder / "suite.yaml").write_text(ROCKSDB.replace(SAMPLES, lines), encoding="utf-8")
    return read_suite(folder / "suite.yaml")


def test_a_metric_decides_unless_it_has_labels_or_its_suite_says_otherwise(tmp_path):
    labels = ["samples: ingest_samples", "labels: [operation]", "most_labels: 5"]

    for number, (more, decides) in enumerate(
        [
            ([], True),
            (["decides: false"], False),
            (labels, False),
            ([*labels, "decides: true"], True),
        ]
    ):
        assert suite_with(tmp_path / str(number), more).tests[0].metrics[0].decides == decides


@pytest.mark.parametrize(
    "more", [["statistics: [total, per_second, count]"], ["statistics: [count]"]]
)
def test_a_metric_without_samples_has_what_its_query_gives(tmp_path, more):
    metric = suite_with(tmp_path, more).test("ingest").metrics[0]

    assert metric.samples is None


def test_quantiles_need_samples_or_histograms(tmp_path):
    more = ["histograms: ingest_rate", "values: any", "statistics: [mean, p50, p99]"]

    assert suite_with(tmp_path, more).test("ingest").metrics[0].histograms == "ingest_rate"


def test_more_labels_and_tasks_than_one_answer_holds_are_refused_beforehand(tmp_path):
    more = ["samples: ingest_samples", "labels: [operation]", "most_labels: 1000"]
    suites = {"rocksdb": suite_with(tmp_path, more)}

    assert resolve_request({"suite": "rocksdb", "tasks": 9}, suites).tasks == 9
    sentence = (
        "tasks: 10 tasks with 1000 combinations of labels of ingest_rate give 10000 rows; "
        "one query returns 9999"
    )
    with pytest.raises(Refused, match=f"^{sentence}$"):
        resolve_request({"suite": "rocksdb", "tasks": 10}, suites)


def test_a_metric_of_an_older_plan_is_a_mean_without_labels():
    metric = read_suites()["rocksdb"].test("ingest").metrics[0]

    assert (metric.statistics, metric.labels, metric.values) == (("mean",), (), "jobs")


def metric(log, **fields):
    given = {"name": "time", "unit": "ms", "direction": "lower", "log": log, **fields}
    whole = written_out({"tests": [{"name": "read", "metrics": [given]}]})
    return Metric.model_validate(whole["tests"][0]["metrics"][0])


def test_a_written_query_begins_with_what_it_reads():
    beginnings = [text.splitlines()[0] for text in queries_of(metric("took {value} ms")).values()]

    assert beginnings == [
        "# time [ms] of each task, from lines in the form of took {value} ms",
        "# Every time [ms], from lines in the form of took {value} ms",
    ]


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
