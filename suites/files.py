"""Reading suite files: YAML as people write them, JSON as the Lambda asset carries them."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from pydantic import ValidationError

from suites.model import FORMS, Suite
from suites.refusal import Refused, refusal
from suites.request import settle

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent


def read_suite(path: Path, workloads: Path = ROOT / "workloads") -> Suite:
    """Return the suite of a YAML file; Refused, in one sentence, if it is not one.

    ``workloads`` is the folder that holds the programs of its tests.
    """
    # Only people's files are YAML: the Lambda asset carries no YAML parser.
    from suites.plain_yaml import read_yaml  # noqa: PLC0415

    try:
        suite = Suite.model_validate(read_yaml(path))
    except ValidationError as error:
        raise Refused(f"{path.name}: {refusal(Suite, error, FORMS)}") from None
    if suite.name != path.stem:
        raise Refused(f"{path.name}: name: {suite.name!r} is not the file's name, {path.stem!r}")
    _check_references(path, suite, workloads)
    _check_defaults(path, suite)
    return suite


def _check_references(path: Path, suite: Suite, workloads: Path) -> None:
    """Refuse a suite that names a workload or query which is not there, before it is run."""
    if not (workloads / suite.task.workload).is_dir():
        raise Refused(f"{path.name}: task.workload: there is no workloads/{suite.task.workload}")
    for test in suite.tests:
        for query in (name for metric in test.metrics for name in (metric.query, metric.samples)):
            if not (ROOT / "queries" / "logs" / f"{query}.cwli").exists():
                raise Refused(
                    f"{path.name}: tests.{test.name}: there is no queries/logs/{query}.cwli"
                )


def _check_defaults(path: Path, suite: Suite) -> None:
    """Refuse a suite of which a run that leaves all to its defaults would be refused."""
    try:
        settle({"suite": suite.name}, {suite.name: suite})
    except Refused as refused:
        raise Refused(f"{path.name}: defaults.{refused}") from None


def read_suites(systems: Path = ROOT) -> dict[str, Suite]:
    """Return the suites of a folder that holds ``suites/`` and ``workloads/``, by name.

    Raises
    ------
    Refused
        If one of the files is not a suite, or there is none.
    """
    suites = {
        path.stem: read_suite(path, systems / "workloads")
        for path in sorted((systems / "suites").glob("*.yaml"))
    }
    if not suites:
        raise Refused(f"systems: there is no suite in {systems / 'suites'}")
    return suites


@lru_cache(maxsize=1)
def packed_suites() -> dict[str, Suite]:
    """Return the suites that were checked and packed as JSON into the Lambda asset."""
    return {
        path.stem: Suite.model_validate_json(path.read_bytes())
        for path in sorted(FOLDER.glob("*.json"))
    }
