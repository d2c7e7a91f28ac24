"""The command of a test, a line of shell, and the files of results of benchmark tools."""

import json

import pytest
from harness import command

HYPERFINE = {"results": [{"command": "sort  a", "times": [0.25, 1e-5], "parameters": {"n": 7}}]}


@pytest.fixture
def lines(monkeypatch, tmp_path, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TIDEMARK_VERSION", "2.4.0")
    monkeypatch.setenv("TIDEMARK_PACKAGE", "sortedcontainers==2.4.0")

    def logged(line):
        code = command.main(line)
        return code, capfd.readouterr().out.splitlines()

    return logged


def test_the_machine_the_lines_of_the_command_and_its_time_are_logged(lines):
    work = "python -c 'sum(range(1_000_000))'"
    code, (environment, value, took, used) = lines(f"{work}; echo rate=$TIDEMARK_VERSION | tr -d .")

    assert (code, value) == (0, "rate=240")
    facts = json.loads(environment.partition("Environment: ")[2])
    assert facts["package"] == "sortedcontainers==2.4.0"
    assert {"arch", "cpu_model", "package_digest", "version"} <= facts.keys()
    assert float(took.partition("Command took ")[2].removesuffix(" s")) > 0
    assert float(used.partition("Command used ")[2].removesuffix(" s of CPU time")) > 0


def test_each_figure_of_a_file_of_results_is_logged_without_an_exponent(lines):
    code, logged = lines(f"echo '{json.dumps(HYPERFINE)}' > $TIDEMARK_RESULTS")

    assert code == 0
    assert [line.partition("  - ")[2] for line in logged[3:]] == [
        "Benchmark 0.25 s of sort a n=7",
        "Benchmark 0.00001 s of sort a n=7",
    ]


def google(**entry):
    return {"context": {}, "benchmarks": [{"name": "BM_a", "real_time": 0.0, **entry}]}


def jmh(*forks, mode="avgt", unit="us/op"):
    metric = {"scoreUnit": unit, "rawData": forks}
    return [{"benchmark": "B.a", "mode": mode, "primaryMetric": metric}]


@pytest.mark.parametrize(
    ("file", "figure"),
    [
        (google(real_time=1.2345678), "0.0000000012345678 s of BM_a"),
        (google(real_time=1.5, time_unit="us"), "0.0000015 s of BM_a"),
        (jmh([2.0, 3.0]), "0.0000025 s of B.a"),
        (jmh([2], mode="thrpt", unit="ops/us"), "2000000.0 ops/s of B.a"),
        (jmh([30], mode="thrpt", unit="ops/min"), "0.5 ops/s of B.a"),
    ],
)
def test_times_are_logged_in_seconds_whatever_unit_a_benchmark_has(lines, file, figure):
    code, logged = lines(f"echo '{json.dumps(file)}' > $TIDEMARK_RESULTS")

    assert (code, logged[-1].partition("  - ")[2]) == (0, f"Benchmark {figure}")


@pytest.mark.parametrize("file", [google(skipped=True), google(error_occurred=True), jmh(["NaN"])])
def test_a_benchmark_without_a_figure_is_not_logged(lines, file):
    code, logged = lines(f"echo '{json.dumps(file)}' > $TIDEMARK_RESULTS")

    assert (code, len(logged)) == (0, 3)


def test_a_run_that_failed_fails_the_task_even_if_hyperfine_ignored_it(lines):
    file = {"results": [{"command": "sort", "times": [0.1, 0.1], "exit_codes": [0, 139]}]}
    code, logged = lines(f"echo '{json.dumps(file)}' > $TIDEMARK_RESULTS")

    assert code == 1
    assert logged[-1].endswith("'sort' failed with exit code 139; expected 0 of each run")


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "no JSON",
        '{"results": [{"command": "a"}]}',
        '{"results": [{"command": "a", "times": ["x"]}]}',
        json.dumps(jmh([])),
    ],
)
def test_a_file_of_results_that_cannot_be_read_fails_the_task(lines, text):
    code, logged = lines(f"echo '{text}' > $TIDEMARK_RESULTS")

    assert code == 1
    assert " ERROR  - TIDEMARK_RESULTS cannot be read; expected a file of hyperfine," in logged[-1]


def test_a_command_that_fails_is_named_by_the_last_line_of_its_errors(lines):
    code, logged = lines("echo Traceback >&2; echo 'KeyError: 7' >&2; echo >&2; exit 1")

    assert code == 1
    assert logged[-1].endswith(" ERROR  - The command ended with exit code 1: KeyError: 7")


@pytest.mark.parametrize(("line", "code"), [("exit 3", 3), ("kill -9 $$", 137)])
def test_a_command_that_fails_fails_the_task_by_its_code(lines, line, code):
    failed, logged = lines(line)

    assert failed == code
    assert logged[-1].endswith(f" ERROR  - The command ended with exit code {code}: {line}")
