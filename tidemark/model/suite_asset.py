"""The suites of the Lambda asset, as JSON, and the files of log queries.

In the asset as in the checkout, ``suites/<name>/`` holds a suite and the queries of this suite
alone, and ``queries/logs`` holds the queries of all suites.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from tidemark.model.checkout import ROOT
from tidemark.model.suite import Suite

FOLDER = ROOT / "suites"
_PACKED = "suite.json"


def query_file(suite: str, query: str, suites: Path = FOLDER) -> Path:
    """Return the file of a log query: the suite's own file, or else the file of all suites."""
    of_suite = suites / suite / f"{query}.cwli"
    return of_suite if of_suite.exists() else ROOT / "queries" / "logs" / f"{query}.cwli"


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
