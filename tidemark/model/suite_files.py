"""The files of suites in the checkout, ``suites/<name>/suite.yaml``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from pydantic import ValidationError

from tidemark.model.base import NAME
from tidemark.model.checkout import ROOT
from tidemark.model.refusal import Place, Problem, Refused, mapping, mappings, problem, problems
from tidemark.model.request import example_input, resolve_request
from tidemark.model.sentences import listed, shown
from tidemark.model.services import missized_tasks
from tidemark.model.settings import Settings
from tidemark.model.short_suite import written_out
from tidemark.model.suite import FORMS, Suite
from tidemark.model.suite_asset import query_file
from tidemark.model.suite_parts import contradictions
from tidemark.model.task import HARNESS

if TYPE_CHECKING:
    from tidemark.model.strict_yaml import Document

_FILE = "suite.yaml"
_MOST_PROBLEMS = 50


def read_suite(path: Path, workloads: Path = ROOT / "workloads") -> Suite:
    """Return the suite of a file ``<name>/suite.yaml``; refuse a file that is no suite.

    ``workloads`` is the folder of the programs of its tests. The refusal has a line for each
    problem, with the line of the file.
    """
    # Imported here because the Lambda asset has no YAML parser: its suites are JSON.
    from tidemark.model.strict_yaml import read_yaml  # noqa: PLC0415

    name = f"{path.parent.name}/{path.name}"
    document = read_yaml(path, name)
    value = written_out(document.value)
    found = [*contradictions(value), *_misplaced(value, path.parent, workloads)]
    try:
        suite = Suite.model_validate(value)
    except ValidationError as error:
        raise _refused(name, document, [*problems(Suite, error, FORMS), *found]) from None
    if found or (found := list(_defaults(suite))):
        raise _refused(name, document, found)
    return suite


def _refused(name: str, document: Document, found: Sequence[Problem]) -> Refused:
    found = sorted(found, key=lambda one: document.line(one.place))
    lines = [f"{name}:{document.line(one.place)}: {one.sentence}" for one in found[:_MOST_PROBLEMS]]
    if more := len(found) - len(lines):
        lines.append(f"{name}: {more} more")
    return Refused("\n".join(lines))


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
    """Yield why the defaults of a suite are no valid request."""
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
        If one of the files is no suite, or there is no file.

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
