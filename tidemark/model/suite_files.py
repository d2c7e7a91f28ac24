"""The files of suites in the checkout, ``suites/<name>/suite.yaml``.

A file may leave out the fields that follow from its other fields.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import count
from pathlib import Path
from typing import Any, TypeGuard

from pydantic import ValidationError

from tidemark.model.base import NAME
from tidemark.model.checkout import ROOT
from tidemark.model.metric import VALUES, labels_of
from tidemark.model.parameters import PYTHON
from tidemark.model.refusal import Place, Problem, Refused, mapping, mappings, problem, problems
from tidemark.model.request import example_input, resolve_request
from tidemark.model.sentences import listed, shown
from tidemark.model.services import missized_tasks
from tidemark.model.settings import Settings
from tidemark.model.suite import Suite
from tidemark.model.suite_asset import query_file
from tidemark.model.suite_parts import contradictions
from tidemark.model.task import COMMAND_WORDS, HARNESS, SHELL_WORDS
from tidemark.model.version_order import DEPLOYED, NEWEST, PREVIOUS, knows_order

_FILE = "suite.yaml"
_MOST_LABELS = 100
_PYTHONS = ("3.11", "3.12", "3.13", "3.14")
"""The versions of Python that the harness runs on."""
_LONGEST_QUERY = 25


def read_suite(path: Path, workloads: Path = ROOT / "workloads") -> Suite:
    """Return the suite of a file ``<name>/suite.yaml``; refuse a file that is not a suite.

    ``workloads`` is the folder of the programs of its tests. The refusal has a line for each
    problem, with the line of the file.
    """
    # Imported here because the Lambda asset has no YAML parser: its suites are JSON.
    from tidemark.model.strict_yaml import read_yaml  # noqa: PLC0415

    document = read_yaml(path, f"{path.parent.name}/{path.name}")
    value = written_out(document.value)
    found = [*contradictions(value), *_misplaced(value, path.parent, workloads)]
    try:
        suite = Suite.model_validate(value)
    except ValidationError as error:
        raise document.refusal([*problems(Suite, error), *found]) from None
    if found or (found := list(_defaults(suite))):
        raise document.refusal(found)
    return suite


def _misplaced(suite: object, folder: Path, workloads: Path) -> Iterator[Problem]:
    """Yield what does not fit the files around a suite, before a run needs them."""
    name = mapping(suite).get("name")
    if name != folder.name and _is_name(name):
        sentence = f"{shown(name)} is not the folder's name, {shown(folder.name)}"
        yield problem(("name",), sentence)
    yield from _misnamed(("task", "workload"), mapping(suite, "task"), workloads)
    for service, one in mapping(suite, "services").items():
        yield from _misnamed(
            ("services", service, "task", "workload"), mapping(one, "task"), workloads
        )
    yield from missized_tasks(suite)
    for place, query in _queries(suite):
        if _is_name(query) and not query_file(folder.name, query, folder.parent).exists():
            yield problem(place, f"there is no suites/{folder.name}/{query}.cwli")


def _misnamed(place: Place, task: Mapping[str, object], workloads: Path) -> Iterator[Problem]:
    workload = task.get("workload")
    if workload == HARNESS.name:
        yield problem(place, f"{shown(workload)} is the name of Tidemark's harness")
    elif _is_name(workload) and not (workloads / workload).is_dir():
        yield problem(place, f"there is no workloads/{workload}")


def _queries(suite: object) -> Iterator[tuple[Place, object]]:
    for number, test in mappings(suite, "tests"):
        for name, fields in (
            ("metrics", ("query", "samples", "histograms", "began")),
            ("series", ("query",)),
        ):
            for position, one in mappings(test, name):
                for field in () if "log" in one else fields:
                    yield ("tests", number, name, position, field), one.get(field)
        for position, step in mappings(test, "steps"):
            place: Place = ("tests", number, "steps", position, "wait_until", "query")
            yield place, mapping(step, "wait_until").get("query")
            yield (*place[:4], "load", "query"), mapping(step, "load").get("query")


def _is_name(value: object) -> TypeGuard[str]:
    """Tell whether a value is a name; pydantic refuses any other value."""
    return isinstance(value, str) and re.fullmatch(NAME, value) is not None


def _defaults(suite: Suite) -> Iterator[Problem]:
    """Yield why the defaults of a suite are not a valid request."""
    try:
        resolve_request(example_input(suite), {suite.name: suite})
    except Refused as refused:
        field, _, _ = str(refused).partition(":")
        if field == "canary":
            yield Problem((field,), str(refused))
        else:
            yield Problem(("defaults", *field.split(".")), f"defaults.{refused}")


def read_suites(systems: Path = ROOT) -> dict[str, Suite]:
    """Return the suites of a folder that holds ``suites/`` and ``workloads/``, by name.

    Raises
    ------
    Refused
        If one of the files is not a suite, or there is no file.

    """
    files = suite_files(systems)
    return {path.parent.name: read_suite(path, systems / "workloads") for path in files}


def chosen_suites(settings: Settings, suites: Mapping[str, Suite]) -> Mapping[str, Suite]:
    """Return the suites that a deployment has; refuse a name that no suite has."""
    check_known("suites", settings.suites, suites)
    return {name: suites[name] for name in settings.suites} or suites


def check_known(setting: str, named: Iterable[str], known: Iterable[str]) -> None:
    """Refuse a setting that names a suite, or a service of one, that is not known."""
    if unknown := set(named) - set(known):
        raise Refused(
            f"cdk.json: context: {setting}: there is no suite {shown(min(unknown))}; "
            f"there are {listed(sorted(known))}"
        )


def suite_files(systems: Path = ROOT) -> Sequence[Path]:
    """Return the files of the suites of a folder; raise Refused if there is none."""
    if files := sorted((systems / "suites").glob(f"*/{_FILE}")):
        return files
    raise Refused(f"systems: there is no suite in {systems / 'suites'}")


def written_out(suite: Any) -> Any:  # noqa: ANN401 (any YAML)
    """Return the content of a suite's file with what it leaves out.

    A part of another type than expected stays as it is; its model refuses it.
    """
    whole = deepcopy(suite)
    if not isinstance(whole, dict):
        return whole
    tests = [test for _, test in mappings(whole, "tests")]
    if isinstance(whole.get("name"), str):
        whole.setdefault("title", whole["name"])
    _write_python(whole)
    _write_task(whole, commands=any("command" in test for test in tests))
    _write_defaults(whole)
    for service in mapping(whole, "services").values():
        if isinstance(service, dict):
            _write_service(service, whole)
    queries: dict[str, object] = {}
    for test in tests:
        for _, metric in mappings(test, "metrics"):
            _write_queries(metric, test, queries)
    return whole


def _write_task(suite: dict[str, Any], *, commands: bool) -> None:
    """Write where the program of the tests is, and what starts it."""
    task, of_image = suite.setdefault("task", {}), "image" in mapping(suite, "subject")
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
    defaults, subject = suite.setdefault("defaults", {}), mapping(suite, "subject")
    given = subject.get("versions")
    listed = given if isinstance(given, list | dict) else ()
    versions = [each for each in listed if isinstance(each, str)]
    if not isinstance(defaults, dict):
        return
    if "instance" in subject:
        defaults.setdefault("versions", [DEPLOYED])
    elif len(versions) > 1 and knows_order(versions, packaged="package" in subject):
        defaults.setdefault("versions", [PREVIOUS, NEWEST])
    elif versions:
        defaults.setdefault("versions", versions[-2:])


def _write_service(service: dict[str, Any], suite: dict[str, Any]) -> None:
    """Write the task of a service whose command is a text."""
    command = service.get("command")
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


def _write_queries(
    metric: dict[str, Any], test: dict[str, Any], queries: dict[str, object]
) -> None:
    """Write the names of the queries of a metric with the form of its lines."""
    named = isinstance(metric.get("log"), str) and isinstance(metric.get("name"), str)
    if not named or "query" in metric:
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
