"""Files of other benchmark tools: the figures of every trial, and broken files refused."""

import json
from datetime import date

import pytest

from tidemark.client.published.file_figures import figures_without_suite
from tidemark.client.published.foreign import TOOLS
from tidemark.client.published.release_tables import Wishes
from tidemark.model.refusal import Refused

TODAY = date(2026, 11, 27)
JULY = 1_782_864_000_000  # 2026-07-01 in milliseconds
HYPERFINE = {
    "results": [
        {"command": "sleep 0.1", "mean": 0.1, "stddev": 0.001, "times": [0.1, 0.101]},
        {"command": "sleep {n}", "mean": 0.2, "times": None, "parameters": {"n": "2"}},
    ]
}
GOOGLE = {
    "context": {"date": "2026-07-01T12:00:00+00:00", "host_name": "a"},
    "benchmarks": [
        {"name": "BM_Sort/8", "run_name": "BM_Sort/8", "run_type": "iteration",
         "real_time": 5.5, "cpu_time": 5.4, "time_unit": "us", "items_per_second": 7.0},
        {"name": "BM_Sort/8_mean", "run_name": "BM_Sort/8", "run_type": "aggregate",
         "real_time": 9.9, "time_unit": "us"},
    ],
}  # fmt: skip
PYTEST = {
    "machine_info": {"node": "a"}, "commit_info": {"id": "b6589fc6ab0d"},
    "datetime": "2026-07-01T12:00:00+00:00",
    "benchmarks": [{"name": "test_a", "fullname": "tests/x.py::test_a",
                    "stats": {"data": [0.5, 0.6], "mean": 0.55}}],
}  # fmt: skip
ASV = {
    "commit_hash": "b6589fc6ab0d", "date": JULY, "params": {}, "version": 2,
    "result_columns": ["result", "params", "version"],
    "results": {"suite.time_sort": [[0.5, None, 0.7], [["1", "2", "3"]], "x"],
                "suite.peakmem_sort": [[4096], [], "x"]},
}  # fmt: skip
ACTION = {
    "lastUpdate": JULY, "repoUrl": "x",
    "entries": {"Benchmark": [{
        "commit": {"id": "b6589fc6ab0d"}, "date": JULY, "tool": "cargo",
        "benches": [{"name": "sort", "value": 120, "unit": "ns/iter", "range": "± 3"}],
    }]},
}  # fmt: skip
K6 = {
    "root_group": {},
    "metrics": {
        "http_req_duration": {"type": "trend", "contains": "time",
                              "values": {"avg": 12.5, "med": 11, "p(95)": 20, "min": 1, "max": 99}},
        "http_reqs": {"type": "counter", "values": {"count": 100, "rate": 9.9}},
        "http_req_failed": {"type": "rate", "values": {"rate": 0.01}},
    },
}  # fmt: skip
JMH = [
    {"benchmark": "a.B.sort", "mode": "thrpt", "params": {"size": "8"},
     "primaryMetric": {"score": 5.0, "scoreUnit": "ops/s", "rawData": [[4.0, 6.0], [7.0, 9.0]]}},
    {"benchmark": "a.B.sort", "mode": "avgt",
     "primaryMetric": {"score": 5.0, "scoreUnit": "us/op"}},
]  # fmt: skip
ESTIMATES = {
    name: {"point_estimate": 5.0, "standard_error": 1.0} for name in ("mean", "median", "std_dev")
}
SAMPLE = {"sampling_mode": "Linear", "iters": [1.0, 2.0], "times": [10.0, 30.0]}
LOCUST = (
    "Type,Name,Request Count,Failure Count,Average Response Time,Requests/s,Failures/s,50%,95%,99%"
    "\nGET,/login,1000,0,13,99.1,0,12,25,40\n"
)
FILES = {
    "hyperfine": (HYPERFINE, [
        ("sleep 0.1", "s", "lower", 0.1), ("sleep 0.1", "s", "lower", 0.101),
        ("sleep {n} n=2", "s", "lower", 0.2),
    ]),
    "google-benchmark": (GOOGLE, [
        ("BM_Sort/8", "us", "lower", 5.5),
        ("BM_Sort/8 items_per_second", "items/s", "higher", 7.0),
    ]),
    "pytest-benchmark": (PYTEST, [
        ("tests/x.py::test_a", "s", "lower", 0.5), ("tests/x.py::test_a", "s", "lower", 0.6),
    ]),
    "asv": (ASV, [
        ("suite.time_sort 1", "s", "lower", 0.5), ("suite.time_sort 3", "s", "lower", 0.7),
        ("suite.peakmem_sort", "bytes", "lower", 4096),
    ]),
    "github-action-benchmark": (ACTION, [("sort", "ns", "lower", 120)]),
    "k6": (K6, [
        ("http_req_duration avg", "ms", "lower", 12.5),
        ("http_req_duration med", "ms", "lower", 11),
        ("http_req_duration p(95)", "ms", "lower", 20), ("http_reqs rate", "1/s", "higher", 9.9),
        ("http_req_failed", "share", "lower", 0.01),
    ]),
    "JMH": (JMH, [
        ("a.B.sort size=8", "ops/s", "higher", 5.0), ("a.B.sort size=8", "ops/s", "higher", 8.0),
        ("a.B.sort", "us", "lower", 5.0),
    ]),
    "Criterion": (ESTIMATES, [("time", "ns", "lower", 5.0)]),
    "Locust": (LOCUST, [
        ("GET /login Average Response Time", "ms", "lower", 13),
        ("GET /login 50%", "ms", "lower", 12), ("GET /login 95%", "ms", "lower", 25),
        ("GET /login 99%", "ms", "lower", 40),
        ("GET /login Requests/s", "requests/s", "higher", 99.1),
        ("GET /login Failures/s", "failures/s", "lower", 0),
    ]),
}  # fmt: skip


def text_of(value):
    return value if isinstance(value, str) else json.dumps(value)


def read(text, version="1.0"):
    return figures_without_suite(text, Wishes(version=version), TODAY)


@pytest.mark.parametrize("tool", TOOLS)
def test_every_trial_of_a_tools_file_is_a_figure_with_its_unit_and_direction(tool):
    value, expected = FILES[tool]

    found = read(text_of(value)).figures

    assert [(e.metric, e.unit, e.direction, e.amount.value) for e in found] == expected


def test_the_script_of_a_page_is_read_and_each_sample_of_criterion_is_a_trial():
    script = f"window.BENCHMARK_DATA = {json.dumps(ACTION)};\n"

    assert [each.amount.value for each in read(script).figures] == [120]
    assert [each.amount.value for each in read(json.dumps(SAMPLE)).figures] == [10.0, 15.0]


@pytest.mark.parametrize("value", [PYTEST, ASV, ACTION])
def test_a_file_that_names_its_commit_needs_no_version(value):
    found = read(json.dumps(value), version=None).figures

    assert {(each.version, each.day) for each in found} == {("b6589fc6ab0d", date(2026, 7, 1))}


def test_a_file_without_a_version_asks_for_one():
    with pytest.raises(Refused, match="a file of hyperfine has no version; name it with --version"):
        read(json.dumps(HYPERFINE), version=None)


@pytest.mark.parametrize("tool", ["hyperfine", "pytest-benchmark"])
def test_runs_and_rounds_are_said_to_be_no_pairs(tool):
    assert "not pairs" in read(text_of(FILES[tool][0])).notes[0]


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ({"results": [{"command": "a"}]}, "the file of hyperfine is broken: KeyError 'mean'"),
        ({"results": []}, "the file of hyperfine has no figures"),
        ({"context": {}, "benchmarks": [{"name": "a"}]}, "the file of google-benchmark is broken"),
        ({"machine_info": {}, "benchmarks": [{}]}, "the file of pytest-benchmark is broken"),
        ({"commit_hash": "a", "date": "x", "results": {}}, "the file of asv is broken"),
        ({"entries": {"a": [{}]}, "lastUpdate": 1}, "of github-action-benchmark is broken"),
        ({"metrics": {"a": {"values": {"avg": "x"}}}, "root_group": {}},
         "the file of k6 has no figures"),
        ([{"benchmark": "a", "mode": "avgt", "primaryMetric": {}}], "the file of JMH is broken"),
        ({"mean": {}, "median": {}, "std_dev": {}}, "the file of Criterion is broken"),
        (LOCUST.replace("13", "x"), "the file of Locust is broken"),
        ({"a": 1}, "the JSON is not from a known tool; expected one of hyperfine"),
    ],
)  # fmt: skip
def test_a_broken_file_is_refused_in_one_sentence(value, sentence):
    with pytest.raises(Refused) as refused:
        read(text_of(value))

    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


def test_more_rounds_than_a_run_has_trials_are_one_figure_with_their_spread():
    rounds = {**PYTEST, "benchmarks": [{"name": "a", "stats": {"data": [1.0, 3.0] * 100}}]}

    (figure,) = read(json.dumps(rounds)).named("a", None, {}).figures

    assert (figure.amount.value, figure.amount.samples) == (2.0, 200)
    assert figure.amount.spread == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize(
    ("tool", "unit", "better"),
    [
        ("go", "MB/s", "higher"), ("jmh", "ops/us", "higher"), ("jmh", "us/op", "lower"),
        ("customSmallerIsBetter", "errors/s", "lower"), ("pytest", "iter/sec", "higher"),
        ("benchmarkjs", "ops/sec", "higher"), ("customBiggerIsBetter", "points", "higher"),
        ("go", "op/\u00b5s", "higher"), ("go", "op/\u03bcs", "higher"), ("go", "errors/s", "lower"),
        ("go", "Allocs/s", "lower"), ("customBiggerIsBetter", "errors/s", "higher"),
    ],
)  # fmt: skip
def test_the_tool_or_else_the_unit_tells_the_better_direction_of_a_commits_figures(
    tool, unit, better
):
    entry = {**ACTION["entries"]["Benchmark"][0], "tool": tool}
    entry["benches"] = [{"name": "sort", "value": 120, "unit": unit}]

    text = json.dumps({**ACTION, "entries": {"Benchmark": [entry]}})

    (figure,) = figures_without_suite(text, Wishes(), TODAY).figures
    assert figure.direction == better
