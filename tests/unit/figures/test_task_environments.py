import json

import pytest

from tidemark.figures.task_logs import CUT, different, environments_by_stream
from tidemark.model.results import TestResult


def logged(text):
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

    assert logged(json.dumps(environment)) == environment


def test_a_long_environment_is_cut_and_says_how_much():
    kept = logged(json.dumps({f"field {n}": "x" * 1000 for n in range(900)}))

    assert len(kept) == 41
    assert kept[CUT] == "900 of 900 fields"
    assert len(json.dumps(kept)) < 12_000


def test_long_names_and_values_are_cut():
    kept = logged(json.dumps({"n" * 100: "v" * 300, "deep": [[["x" * 300]]], "cpu": "A"}))

    assert kept == {
        "n" * 57 + "…": "v" * 197 + "…",
        "deep": '[[["' + "x" * 193 + "…",
        "cpu": "A",
        CUT: "2 of 3 fields",
    }


def test_control_characters_and_lone_surrogates_are_escaped():
    kept = logged('{"cpu": "\\u001b[2J\\u202eA", "x": "\\ud800"}')

    assert kept == {"cpu": r"\u001b[2J\u202eA", "x": r"\ud800", CUT: "2 of 2 fields"}


@pytest.mark.parametrize("value", [r'["\ud800"]', r'{"a": {"\ud800": 1}}'])
def test_a_lone_surrogate_within_a_value_can_be_stored(value):
    kept = logged(f'{{"x": {value}}}')

    assert kept[CUT] == "1 of 1 fields"
    TestResult(test="t", status="ok", environments=(kept,)).model_dump_json()


def test_an_unreadable_environment_is_kept_as_text():
    assert logged("[" * 100_000)["unreadable"] == "[" * 197 + "…"
    assert logged("[1]") == {"unreadable": "[1]"}
