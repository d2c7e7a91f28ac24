"""Suite files: YAML in the checkout, JSON in the Lambda asset.

``suites/<name>/`` holds ``suite.yaml`` and the queries of this suite alone; ``queries/logs`` holds
the queries of all suites.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from tidemark.model.checkout import ROOT
from tidemark.model.older_suites import moved
from tidemark.model.refusal import Place, Problem, Refused, problems
from tidemark.model.request import resolve_request
from tidemark.model.suite import FORMS, Suite, Test

if TYPE_CHECKING:
    from tidemark.model.plain_yaml import Document

FOLDER = ROOT / "suites"
_FILE = "suite.yaml"
_PACKED = "suite.json"
_MOST_PROBLEMS = 50


def read_suite(path: Path, workloads: Path = ROOT / "workloads") -> Suite:
    """Return the suite of a file ``<name>/suite.yaml``; refuse a file that is no suite.

    ``workloads`` is the folder of the programs of its tests. The refusal has a line for each
    problem, with the line of the file.
    """
    # Imported here because the Lambda asset has no YAML parser: its suites are JSON.
    from tidemark.model.plain_yaml import read_yaml  # noqa: PLC0415

    name = f"{path.parent.name}/{path.name}"
    document = read_yaml(path, name)
    if found := list(moved(document.value)):
        raise _refused(name, document, found)
    try:
        suite = Suite.model_validate(document.value)
        found = [*_outside(path, suite, workloads), *_defaults(suite)]
    except ValidationError as error:
        found = list(problems(Suite, error, FORMS))
    if found:
        raise _refused(name, document, found)
    return suite


def _refused(name: str, document: Document, found: Sequence[Problem]) -> Refused:
    lines = [f"{name}:{document.line(one.place)}: {one.sentence}" for one in found[:_MOST_PROBLEMS]]
    if more := len(found) - len(lines):
        lines.append(f"{name}: {more} more")
    return Refused("\n".join(lines))


def _outside(path: Path, suite: Suite, workloads: Path) -> Iterator[Problem]:
    """Yield what does not fit the files around a suite, before a run needs them."""
    folder, workload = path.parent.name, suite.task.workload
    if suite.name != folder:
        yield Problem(("name",), f"name: {suite.name!r} is not the folder's name, {folder!r}")
    if not (workloads / workload).is_dir():
        sentence = f"task.workload: there is no workloads/{workload}"
        yield Problem(("task", "workload"), sentence)
    for number, test in enumerate(suite.tests):
        for place, query in _queries(test):
            if not query_file(folder, query, path.parents[1]).exists():
                sentence = f"tests.{test.name}: there is no suites/{folder}/{query}.cwli"
                yield Problem(("tests", number, *place), sentence)


def _queries(test: Test) -> Iterator[tuple[Place, str]]:
    for number, metric in enumerate(test.metrics):
        yield ("metrics", number, "query"), metric.query
        if metric.samples:
            yield ("metrics", number, "samples"), metric.samples


def _defaults(suite: Suite) -> Iterator[Problem]:
    """Yield why the defaults of a suite are no valid request."""
    try:
        resolve_request({"suite": suite.name}, {suite.name: suite})
    except Refused as refused:
        field, _, _ = str(refused).partition(":")
        yield Problem(("defaults", field), f"defaults.{refused}")


def query_file(suite: str, query: str, suites: Path = FOLDER) -> Path:
    """Return the file of a log query: the suite's own file, or else the file of all suites."""
    of_suite = suites / suite / f"{query}.cwli"
    return of_suite if of_suite.exists() else ROOT / "queries" / "logs" / f"{query}.cwli"


def read_suites(systems: Path = ROOT) -> dict[str, Suite]:
    """Return the suites of a folder that holds ``suites/`` and ``workloads/``, by name.

    Raises
    ------
    Refused
        If one of the files is no suite, or there is no file.

    """
    files = suite_files(systems)
    return {path.parent.name: read_suite(path, systems / "workloads") for path in files}


def suite_files(systems: Path = ROOT) -> Sequence[Path]:
    """Return the files of the suites of a folder; raise Refused if there is none."""
    if files := sorted((systems / "suites").glob(f"*/{_FILE}")):
        return files
    raise Refused(f"systems: there is no suite in {systems / 'suites'}")


def pack_suite(suite: Suite, systems: Path, asset: Path) -> None:
    """Write a checked suite and its own queries into the folder of the Lambda asset."""
    folder = asset / "suites" / suite.name
    folder.mkdir(parents=True)
    (folder / _PACKED).write_text(suite.model_dump_json(), encoding="utf-8")
    for path in sorted((systems / "suites" / suite.name).glob("*.cwli")):
        (folder / path.name).write_bytes(path.read_bytes())


@lru_cache(maxsize=1)
def packed_suites() -> dict[str, Suite]:
    """Return the checked suites that the Lambda asset has as JSON."""
    return {
        path.parent.name: Suite.model_validate_json(path.read_bytes())
        for path in sorted(FOLDER.glob(f"*/{_PACKED}"))
    }
