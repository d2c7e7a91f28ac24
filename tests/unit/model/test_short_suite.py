"""The fields that the file of a suite may leave out."""

import pytest

from tidemark.model.short_suite import written_out
from tidemark.model.suite import Suite

SHORT = {
    "name": "ducks",
    "subject": {"package": "duckdb", "versions": ["1.2.0", "1.3.2", "1.4.1"]},
    "tests": [
        {
            "name": "read",
            "command": "./bench --json",
            "metrics": [{"name": "ms", "unit": "ms", "direction": "lower", "log": "ms=*"}],
        }
    ],
}


def suite(**fields):
    return Suite.model_validate(written_out({**SHORT, **fields}))


def test_a_suite_of_a_command_needs_its_name_its_versions_and_its_metric():
    short = suite()

    assert (short.title, short.task.workload) == ("ducks", "ducks")
    assert short.task.entry_point == ("python", "-m", "harness.command")
    assert short.tests[0].every_step[0].command == ("./bench --json",)
    assert (short.defaults.versions, short.defaults.repetitions) == (("previous", "newest"), 5)
    assert Suite.model_validate_json(short.model_dump_json()) == short


@pytest.mark.parametrize(
    ("versions", "defaults"),
    [
        (["1.4.1"], ("1.4.1",)),
        (["main", "fix"], ("main", "fix")),
        (["a1", "b2", "c3"], ("b2", "c3")),
    ],
)
def test_versions_without_an_order_are_measured_as_they_are_listed(versions, defaults):
    short = suite(subject={"package": "duckdb", "form": ".*", "versions": versions})
    assert short.defaults.versions == defaults


def test_a_service_whose_command_is_a_text_runs_its_words():
    service = suite(services={"server": {"command": "python serve.py --port 8080",
                                         "ready": {"port": 8080}}}).services["server"]  # fmt: skip
    assert (*service.task.entry_point, *service.command) == (
        "python", "serve.py", "--port", "8080"
    )  # fmt: skip
    assert service.task.workload == "ducks"


def test_the_python_of_a_suite_is_a_parameter_that_a_run_may_set():
    named = suite(python="3.13")
    assert named == suite(python=3.13)
    assert named.default_parameters == {"python": "3.13"}
    assert named.pythons == ("3.11", "3.12", "3.13", "3.14")
    assert suite(axes={"python": ["3.12", "3.13"]}).pythons == ("3.12", "3.13")
    assert suite().pythons == ()


def test_tests_with_one_long_beginning_have_queries_of_their_own():
    names = ("a", "insert_of_many_small_rows_one", "insert_of_many_small_rows_two")
    tests = [
        {"name": name, "metrics": [{"name": "rate", "log": f"{name} rate=*"}]} for name in names
    ]
    whole = written_out({"tests": tests})
    assert [test["metrics"][0]["query"] for test in whole["tests"]] == [
        "rate", "insert_of_many_small_rows", "insert_of_many_small_row2",
    ]  # fmt: skip
