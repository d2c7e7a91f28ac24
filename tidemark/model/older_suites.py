"""Suites and requests in the form of older versions, which stored plans have for ever."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tidemark.model.parameters import MOST_TASKS
from tidemark.model.refusal import Place, Problem

_SUBJECT: Mapping[str, str] = {
    "package": "package",
    "version_form": "form",
    "versions": "versions",
}
"""The field of the subject that replaces a field of older suites."""
_SIZES = ("records", "tasks")
_SECONDS = "seconds_per_million_records"


def upgraded_suite(suite: object) -> object:
    """Return a stored suite with today's fields; any other value stays as it is."""
    if not isinstance(suite, dict) or "subject" in suite:
        return suite
    task, defaults = dict(suite["task"]), dict(suite["defaults"])
    records = _integer(task.pop("most_records"), defaults.pop("records"))
    tasks = _integer(MOST_TASKS, defaults.pop("tasks"))
    return {
        **{name: value for name, value in suite.items() if name not in _SUBJECT},
        "subject": {new: suite[old] for old, new in _SUBJECT.items()},
        "parameters": {
            "records": {**records, "means": "records that each task writes and compacts"},
            "tasks": {**tasks, "means": "tasks that do each test side by side"},
        },
        "task": task,
        "defaults": defaults,
        "tests": [_timed(test) for test in suite["tests"]],
    }


def upgraded_request(request: object) -> object:
    """Return a stored request with today's fields; any other value stays as it is."""
    if not isinstance(request, dict) or "parameters" in request:
        return request
    others = {name: value for name, value in request.items() if name not in _SIZES}
    return {**others, "parameters": {name: request[name] for name in _SIZES}}


def _integer(most: int, default: int) -> dict[str, Any]:
    return {"type": "integer", "from": 1, "to": most, "default": default}


def _timed(test: Mapping[str, Any]) -> dict[str, Any]:
    others = {name: value for name, value in test.items() if name != _SECONDS}
    seconds = test.get(_SECONDS)
    return others if seconds is None else {**others, "seconds": seconds, "per": {"records": 1e6}}


def moved(suite: object) -> Iterator[Problem]:
    """Yield the problem of each field of a file that stands elsewhere today."""
    if not isinstance(suite, dict):
        return
    if old := [name for name in _SUBJECT if name in suite]:
        form = ", ".join(f"{_SUBJECT[name]}: …" for name in old)
        yield _moved((old[0],), ", ".join(old), f"subject: {{{form}}}")
    parameter = "parameters: {{{}: {{type: integer, from: 1, to: …, default: …, means: …}}}}"
    for part, name in (("task", "most_records"), ("defaults", "records"), ("defaults", "tasks")):
        if isinstance(suite.get(part), dict) and name in suite[part]:
            instead = parameter.format(name.removeprefix("most_"))
            yield _moved((part, name), f"{part}.{name}", instead)
    tests = suite.get("tests")
    for number, test in enumerate(tests if isinstance(tests, list) else ()):
        if isinstance(test, dict) and _SECONDS in test:
            place = ("tests", number, _SECONDS)
            instead = "seconds: …, per: {records: 1000000}"
            yield _moved(place, f"tests.{number}.{_SECONDS}", instead)


def _moved(place: Place, name: str, instead: str) -> Problem:
    return Problem(place, f"{name}: not accepted here; write {instead}")
