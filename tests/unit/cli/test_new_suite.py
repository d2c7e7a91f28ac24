"""``tidemark suite new``, and the workload that it writes, run as a task would run it."""

import json
import os
import re
import subprocess
import sys

import pytest
from click.testing import CliRunner

from cwli.command import command as query
from tidemark.cli.suite import command
from tidemark.model.checkout import ROOT
from tidemark.model.refusal import Refused

TASK = {"TIDEMARK_VALUES": "1000", "TIDEMARK_JOBS": "3", "TIDEMARK_SEED": "7"}


@pytest.fixture(autouse=True)
def systems(tmp_path, monkeypatch):
    monkeypatch.setenv("TIDEMARK_SYSTEMS", str(tmp_path))
    return tmp_path


def invoked(*words):
    return CliRunner().invoke(command, words)


def refusal_of(name):
    refused = invoked("new", name).exception
    assert isinstance(refused, Refused)
    return str(refused)


def measured(systems, version):
    """Run the workload with the package of this environment, 2.4.0."""
    return subprocess.run(
        [sys.executable, "-m", "sorted_workload", "insert"],
        cwd=systems / "workloads" / "sorted",
        env={**os.environ, **TASK, "TIDEMARK_VERSION": version},
        capture_output=True,
        text=True,
        check=False,
    )


def rows(systems, file, log):
    file = systems / "suites" / "sorted" / file
    return json.loads(CliRunner().invoke(query, [str(file), str(log), "--format", "json"]).stdout)


def test_a_new_suite_is_accepted_as_it_is(systems):
    written = invoked("new", "sorted").stdout.splitlines()

    assert sorted(written) == sorted(str(path) for path in systems.rglob("*") if path.is_file())
    assert invoked("check").stdout == (
        f"{systems}/suites/sorted/suite.yaml: accepted, 1 test, 1 metric, 3 versions\n"
    )


def test_the_example_of_the_docs_changes_a_new_suite_into_one_that_writes_and_reads(systems):
    invoked("new", "sorted")
    suite = systems / "suites" / "sorted" / "suite.yaml"
    page = (ROOT / "docs" / "suites.md").read_text(encoding="utf-8")
    example = page.partition("## Example: write, then read")[2].partition("\n## ")[0]
    tests, _, *queries = re.findall(r"^```\w*\n(.*?)^```$", example, re.MULTILINE | re.DOTALL)
    suite.write_text(suite.read_text().partition("tests:")[0] + tests)
    for name, query_text in zip(("read_latency", "read_samples"), queries, strict=True):
        suite.with_name(f"{name}.cwli").write_text(query_text)
    log = systems / "read.log"
    log.write_text("Read in 0.2500 ms\nRead in 0.7500 ms\nRead in nan ms\n")

    done = invoked("check")

    assert done.output == f"{suite}: accepted, 1 test, 2 metrics, 3 versions\n"
    (row,) = rows(systems, "read_latency.cwli", log)
    assert (row["value"], row["n"]) == ("0.5", "2")
    values = [sample["value"] for sample in rows(systems, "read_samples.cwli", log)]
    assert values == ["0.2500", "0.7500", "nan"]


def test_the_queries_of_a_new_suite_read_what_its_workload_logs(systems):
    invoked("new", "sorted")
    done = measured(systems, "2.4.0")
    log = systems / "task.log"
    log.write_text(done.stdout)

    samples = rows(systems, "insert_samples.cwli", log)
    (figure,) = rows(systems, "insert_rate.cwli", log)

    assert done.returncode == 0, done.stderr
    values = [float(sample["value"]) for sample in samples]
    assert (len(values), figure["n"]) == (3, "3")
    assert float(figure["value"]) == pytest.approx(sum(values) / 3)


def test_a_new_suite_reports_the_version_that_a_build_carries(systems):
    invoked("new", "sorted")
    done = measured(systems, "2.4.0+1a2b3c4d")

    environment = json.loads(done.stdout.splitlines()[0].removeprefix("Environment: "))
    assert (done.returncode, environment["engine_version"]) == (0, "2.4.0")


def test_the_name_of_the_harness_is_refused(systems):
    sentence = "NAME: 'harness' is the name of Tidemark's harness; choose another"
    assert refusal_of("harness") == sentence
    assert list(systems.iterdir()) == []


def test_a_name_that_is_taken_is_refused(systems):
    invoked("new", "sorted")

    assert refusal_of("sorted") == f"NAME: 'sorted' is taken; there is {systems}/suites/sorted"


@pytest.mark.parametrize("name", ["", "Sorted", "../x", "a b"])
def test_a_name_of_another_form_is_refused(name, systems):
    assert refusal_of(name).startswith(f"NAME: {name!r} is not accepted; expected a small letter")
    assert list(systems.iterdir()) == []
