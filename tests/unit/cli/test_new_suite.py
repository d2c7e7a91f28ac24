"""``tidemark suite new``, and the programs that it writes, run as tasks run them."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tidemark.cli.suite import command
from tidemark.model.checkout import ROOT
from tidemark.model.refusal import Refused
from tidemark.model.suite_asset import written_queries
from tidemark.model.suite_files import read_suites

TEMPLATES = ("throughput", "latency", "server", "command")


@pytest.fixture(autouse=True)
def systems(tmp_path, monkeypatch):
    monkeypatch.setenv("TIDEMARK_SYSTEMS", str(tmp_path))
    return tmp_path


def invoked(*words, answers=None):
    return CliRunner().invoke(command, words, input=answers)


def refusal_of(*words):
    refused = invoked("new", *words).exception
    assert isinstance(refused, Refused), refused
    return str(refused)


def measured(systems, name):
    """Run the command of a suite's test with the packages of this environment."""
    (test,) = read_suites(systems)[name].tests
    return subprocess.run(
        [sys.executable, "-m", "harness.command", *test.every_step[0].command],
        cwd=systems / "workloads" / name,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT / "workloads" / "harness"),
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "TIDEMARK_VERSION": "2.4.0",
            "TIDEMARK_PACKAGE": "sortedcontainers==2.4.0",
        },
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_new_suite_of_at_most_twenty_lines_is_accepted_as_it_is(systems, template):
    written = invoked("new", "sorted", "--template", template).stdout.splitlines()

    assert sorted(written) == sorted(str(path) for path in systems.rglob("*") if path.is_file())
    assert len((systems / "suites" / "sorted" / "suite.yaml").read_text().splitlines()) <= 20
    metrics = "2 metrics" if template == "command" else "1 metric"
    assert invoked("check").stdout == (
        f"{systems}/suites/sorted/suite.yaml: accepted, 1 test, {metrics}, 2 versions\n"
    )


@pytest.mark.parametrize(
    ("template", "lines"), [("throughput", 3), ("latency", 300), ("command", 1)]
)
def test_the_form_of_a_line_finds_what_the_program_logs(systems, template, lines):
    invoked("new", "sorted", "--template", template)
    shown = invoked("show", "sorted").stdout

    done = measured(systems, "sorted")

    assert done.returncode == 0, done.stderr
    patterns = re.findall(r"^\| parse @message /(.*\?<value>.*)/$", shown, re.MULTILINE)
    found = [re.findall(each.replace("?<", "?P<"), done.stdout) for each in patterns]
    assert [len(values) for values in found] == [lines] * (2 if template == "command" else 1)
    assert all(float(value) > 0 for values in found for value in values)


def test_the_text_of_one_query_is_shown_alone():
    invoked("new", "sorted")

    (first, _) = written_queries(read_suites()["rocksdb"]), invoked("show", "sorted", "rate")
    assert first == {}
    assert invoked("show", "sorted", "rate").stdout.startswith("# rate [values/s] of each task")
    alone = invoked("show", "sorted", "rate").stdout
    assert invoked("show", "sorted").stdout.startswith(f"rate:\n{alone}\n")
    assert str(invoked("show", "sorted", "rat").exception).endswith("; did you mean 'rate'?")


def test_a_package_of_the_user_has_its_work_asked_for_by_name(systems):
    given = ("--package", "duckdb", "--versions", "1.3.2, 1.4.1", "--template", "latency")
    assert invoked("new", "ducks", *given).exit_code == 0

    suite = read_suites(systems)["ducks"]
    assert (suite.subject.package, [*suite.subject.versions]) == ("duckdb", ["1.3.2", "1.4.1"])
    failed = measured(systems, "ducks")
    assert failed.returncode == 1
    sentence = "NotImplementedError: workloads/ducks/measure.py lacks the work of duckdb"
    assert sentence in failed.stderr


def test_a_system_that_a_script_installs_and_a_benchmark_of_the_user_need_no_package(systems):
    given = ("--package", "", "--versions", "1.0,1.1", "--command", "./bench --json | tee x")
    written = invoked("new", "tool", *given).stdout.splitlines()

    assert [path.rpartition("/")[2] for path in written] == ["suite.yaml", "prepare.sh"]
    suite = read_suites(systems)["tool"]
    assert suite.subject.prepare == ("sh", "prepare.sh")
    assert suite.tests[0].command == "./bench --json | tee x"


def test_a_line_of_shell_is_kept_whatever_words_it_has(systems):
    line = "pip show $TIDEMARK_PACKAGE && bench --HOST $HOSTNAME --WORK x --out OUTFILE"
    given = ("--package", "duckdb", "--versions", "1.3.2", "--command", line)
    assert invoked("new", "ducks", *given).exit_code == 0

    assert read_suites(systems)["ducks"].tests[0].command == line


def test_an_answer_keeps_its_quotation_marks_unless_it_is_empty(monkeypatch, systems):
    answers = iter(["''", "1.3.2", "sh -c 'make bench'"])
    monkeypatch.setattr("tidemark.cli.suite.is_terminal", lambda: True)
    monkeypatch.setattr("click.prompt", lambda _question, default: next(answers))
    assert invoked("new", "ducks").exit_code == 0

    suite = read_suites(systems)["ducks"]
    assert suite.tests[0].command == "sh -c 'make bench'"
    assert suite.subject.prepare == ("sh", "prepare.sh")


def test_on_a_terminal_three_questions_are_asked(monkeypatch, systems):
    asked = []

    def prompt(question, default):
        asked.append(question)
        return (
            default if default == "python measure.py" else {0: "duckdb", 1: "1.3.2"}[len(asked) - 1]
        )

    monkeypatch.setattr("tidemark.cli.suite.is_terminal", lambda: True)
    monkeypatch.setattr("click.prompt", prompt)
    assert invoked("new", "ducks").exit_code == 0

    assert len(asked) == 3
    assert read_suites(systems)["ducks"].subject.package == "duckdb"


def test_a_package_without_versions_is_refused(systems):
    sentence = "--versions: expected the versions to measure, such as 1.3.2,1.4.1"
    assert refusal_of("ducks", "--package", "duckdb") == sentence
    assert list(systems.iterdir()) == []


def test_answers_that_make_no_suite_are_refused_and_leave_nothing(systems):
    assert "'Duck DB' is not accepted" in refusal_of(
        "ducks", "--package", "Duck DB", "--versions", "1.3.2"
    )
    assert list(systems.iterdir()) == []


def test_the_name_of_the_harness_is_refused(systems):
    sentence = "NAME: 'harness' is the name of Tidemark's harness; choose another"
    assert refusal_of("harness") == sentence
    assert list(systems.iterdir()) == []


def test_a_name_that_is_taken_is_refused(systems):
    invoked("new", "sorted")

    assert refusal_of("sorted") == f"NAME: 'sorted' is taken; there is {systems}/suites/sorted"


def test_a_suite_that_cannot_be_written_whole_leaves_its_name_free(systems):
    (systems / "suites").touch()

    assert refusal_of("sorted").startswith("NAME: the suite cannot be written: ")
    assert not (systems / "workloads" / "sorted").exists()


@pytest.mark.parametrize("name", ["", "Sorted", "../x", "a b"])
def test_a_name_of_another_form_is_refused(name, systems):
    assert refusal_of(name).startswith(f"NAME: {name!r} is not accepted; expected a small letter")
    assert list(systems.iterdir()) == []
