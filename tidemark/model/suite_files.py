"""Suite files: YAML in the checkout, JSON in the Lambda asset.

``suites/<name>/`` holds ``suite.yaml`` and the queries of this suite alone; ``queries/logs`` holds
the queries of all suites.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from pydantic import ValidationError

from tidemark.model.checkout import ROOT
from tidemark.model.refusal import Refused, refusal
from tidemark.model.request import resolve_request
from tidemark.model.suite import FORMS, Suite

FOLDER = ROOT / "suites"
_FILE = "suite.yaml"
_PACKED = "suite.json"


def read_suite(path: Path, workloads: Path = ROOT / "workloads") -> Suite:
    """Return the suite of a file ``<name>/suite.yaml``; refuse a file that is no suite.

    ``workloads`` is the folder of the programs of its tests.
    """
    # Imported here because the Lambda asset has no YAML parser: its suites are JSON.
    from tidemark.model.plain_yaml import read_yaml  # noqa: PLC0415

    name = f"{path.parent.name}/{path.name}"
    try:
        suite = Suite.model_validate(read_yaml(path, name))
    except ValidationError as error:
        raise Refused(f"{name}: {refusal(Suite, error, FORMS)}") from None
    if suite.name != path.parent.name:
        raise Refused(
            f"{name}: name: {suite.name!r} is not the folder's name, {path.parent.name!r}"
        )
    _check_references(path, suite, workloads)
    _check_defaults(name, suite)
    return suite


def _check_references(path: Path, suite: Suite, workloads: Path) -> None:
    """Refuse a suite that names a missing workload or query, before a run needs it."""
    name, suites = f"{path.parent.name}/{path.name}", path.parents[1]
    if not (workloads / suite.task.workload).is_dir():
        raise Refused(f"{name}: task.workload: there is no workloads/{suite.task.workload}")
    for test in suite.tests:
        queries = (query for metric in test.metrics for query in (metric.query, metric.samples))
        for query in queries:
            if not query_file(suite.name, query, suites).exists():
                raise Refused(
                    f"{name}: tests.{test.name}: there is no suites/{suite.name}/{query}.cwli"
                )


def _check_defaults(name: str, suite: Suite) -> None:
    """Refuse a suite whose defaults are no valid request."""
    try:
        resolve_request({"suite": suite.name}, {suite.name: suite})
    except Refused as refused:
        raise Refused(f"{name}: defaults.{refused}") from None


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
    suites = {
        path.parent.name: read_suite(path, systems / "workloads")
        for path in sorted((systems / "suites").glob(f"*/{_FILE}"))
    }
    if not suites:
        raise Refused(f"systems: there is no suite in {systems / 'suites'}")
    return suites


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
