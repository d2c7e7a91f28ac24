"""The fields that the file of a suite may leave out, since they follow from its other fields."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from copy import deepcopy
from itertools import count
from typing import Any

from tidemark.model.log_line import VALUES, labels_of
from tidemark.model.parameters import PYTHON
from tidemark.model.task import COMMAND_WORDS, SHELL_WORDS
from tidemark.model.version_order import DEPLOYED, NEWEST, PREVIOUS, knows_order

_MOST_LABELS = 100
_PYTHONS = ("3.11", "3.12", "3.13", "3.14")
"""The versions of Python that the harness runs on."""
_LONGEST_QUERY = 25


def written_out(suite: Any) -> Any:  # noqa: ANN401 (any YAML)
    """Return the content of a suite's file with what it leaves out.

    A part of another type than expected stays as it is; its model refuses it.
    """
    whole = deepcopy(suite)
    if not isinstance(whole, dict):
        return whole
    tests = [test for test in _list(whole, "tests") if isinstance(test, dict)]
    if isinstance(whole.get("name"), str):
        whole.setdefault("title", whole["name"])
    _write_python(whole)
    _write_task(whole, commands=any("command" in test for test in tests))
    _write_defaults(whole)
    for service in _dict(whole, "services").values():
        _write_service(service, whole)
    queries: dict[str, object] = {}
    for test in tests:
        for metric in _list(test, "metrics"):
            _write_queries(metric, test, queries)
    return whole


def _write_task(suite: dict[str, Any], *, commands: bool) -> None:
    """Write where the program of the tests is, and what starts it."""
    task, of_image = suite.setdefault("task", {}), "image" in _dict(suite, "subject")
    if not isinstance(task, dict):
        return
    if commands:
        task.setdefault("entry_point", [*(SHELL_WORDS if of_image else COMMAND_WORDS)])
    if not of_image and isinstance(suite.get("name"), str):
        task.setdefault("workload", suite["name"])


def _write_python(suite: dict[str, Any]) -> None:
    """Write the parameter that a suite's ``python`` is: a run may set another version."""
    python, parameters = suite.get(PYTHON), suite.get("parameters", {})
    if python is None or not isinstance(parameters, dict) or PYTHON in parameters:
        return
    del suite[PYTHON]
    means = "the Python that the programs of a version run on"
    # YAML reads 3.13 without its quotes as a number.
    named = str(python) if isinstance(python, float) else python
    choice = {"type": "choice", "of": [*_PYTHONS], "default": named, "means": means}
    suite["parameters"] = {**parameters, PYTHON: choice}


def _write_defaults(suite: dict[str, Any]) -> None:
    """Write the versions of a run that names none: the last two, or the only one."""
    defaults, subject = suite.setdefault("defaults", {}), _dict(suite, "subject")
    listed = _list(subject, "versions") or _dict(subject, "versions")
    versions = [each for each in listed if isinstance(each, str)]
    if not isinstance(defaults, dict):
        return
    if "instance" in subject:
        defaults.setdefault("versions", [DEPLOYED])
    elif len(versions) > 1 and knows_order(versions, packaged="package" in subject):
        defaults.setdefault("versions", [PREVIOUS, NEWEST])
    elif versions:
        defaults.setdefault("versions", versions[-2:])


def _write_service(service: Any, suite: dict[str, Any]) -> None:  # noqa: ANN401
    """Write the task of a service whose command is a text."""
    command = service.get("command") if isinstance(service, dict) else None
    if not isinstance(command, str):
        return
    try:
        *entry_point, last = shlex.split(command)
    except ValueError:  # a quotation mark without its other one
        return
    task = service.setdefault("task", {})
    if isinstance(task, dict):
        task.setdefault("workload", suite.get("name"))
        task.setdefault("entry_point", entry_point or ["env"])
        service["command"] = [last]


def _write_queries(metric: Any, test: dict[str, Any], queries: dict[str, object]) -> None:  # noqa: ANN401
    """Write the names of the queries of a metric with the form of its lines."""
    if not isinstance(metric, dict) or not isinstance(metric.get("log"), str):
        return
    if "query" in metric or not isinstance(metric.get("name"), str):
        return
    same = metric["log"], str(metric.get("statistics"))
    names = _names(metric["name"], str(test.get("name")))
    metric["query"] = next(name for name in names if queries.setdefault(name, same) == same)
    metric.setdefault("samples", f"{metric['query']}{VALUES}")
    # A test that says how often its values are logged gets no fewer.
    metric.setdefault("values", "jobs" if "jobs" in test else "any")
    if labels := labels_of(metric["log"]):
        metric.setdefault("labels", labels)
        metric.setdefault("most_labels", _MOST_LABELS)


def _names(metric: str, test: str) -> Iterator[str]:
    """Yield the names that a query may have: metrics of two tests may have other lines."""
    yield metric[:_LONGEST_QUERY]
    yield f"{test}_{metric}"[:_LONGEST_QUERY]
    for number in count(2):
        # A number behind a long name would be cut off, and no name would be new.
        yield f"{test[: _LONGEST_QUERY - len(str(number))]}{number}_{metric}"[:_LONGEST_QUERY]


def _list(value: dict[str, Any], name: str) -> list[Any]:
    found = value.get(name)
    return found if isinstance(found, list) else []


def _dict(value: dict[str, Any], name: str) -> dict[str, Any]:
    found = value.get(name)
    return found if isinstance(found, dict) else {}
