"""The root of the checkout, the context of its ``cdk.json``, and the names of its suites.

The root holds ``cdk``, ``suites``, ``queries`` and ``workloads``. A wheel has these in the package,
beside the modules; ``pyproject.toml`` puts them there. In the Lambda asset the root holds
``tidemark``, ``queries`` and ``suites``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tidemark.model.refusal import Refused
from tidemark.model.sentences import did_you_mean, listed, shown

CODE = Path(__file__).parents[2]
"""The folder of the packages ``tidemark`` and ``aws``."""

_INSTALLED = CODE / "tidemark" / "checkout"

IS_CHECKOUT = not _INSTALLED.is_dir()
"""Whether this is a checkout, or the Lambda asset, and no wheel."""

ROOT = CODE if IS_CHECKOUT else _INSTALLED


_VARIABLE = "TIDEMARK_SYSTEMS"


def written_context() -> dict[str, Any]:
    """Return the context of ``cdk.json``; the user's own folder of systems replaces its own."""
    context: dict[str, Any] = json.loads((ROOT / "cdk.json").read_text(encoding="utf-8"))["context"]
    if systems := _of_variable() or _of_work():
        context["systems"] = systems
    return context


def context_digest() -> str:
    """Return the SHA-256, in hex, of the context of ``cdk.json``."""
    import hashlib  # noqa: PLC0415 (it loads OpenSSL)

    return hashlib.sha256(json.dumps(written_context(), sort_keys=True).encode()).hexdigest()


def _of_variable() -> str | None:
    systems = os.environ.get(_VARIABLE)
    return str(Path(systems).expanduser().resolve()) if systems else None


def _of_work() -> str | None:
    """Return the folder of work if it has suites, and Tidemark is installed by a wheel."""
    folder = Path.cwd()
    return None if IS_CHECKOUT or not (folder / "suites").is_dir() else str(folder)


def place_of_setting(name: str, context: Mapping[str, Any]) -> str:
    """Return where a setting of a context was written: in a variable or in ``cdk.json``."""
    if name == "systems" and context[name] in {_of_variable()} - {None}:
        return _VARIABLE
    return f"cdk.json: context: {name}"


def written_systems() -> Path:
    """Return the folder that holds ``suites/`` and ``workloads/``, or will hold them."""
    return ROOT / str(written_context().get("systems", ""))


def systems_to_write() -> Path:
    """Return the folder for new suites: the suites' folder, but never the inside of a wheel."""
    systems = written_systems()
    return systems if IS_CHECKOUT or systems != ROOT else Path.cwd()


def written_stack() -> str:
    """Return the name of the stack."""
    return str(written_context().get("stackName", ""))


def written_suites() -> list[str]:
    """Return the names of the suites, in order, without reading their files."""
    files = (written_systems() / "suites").glob("*/suite.yaml")
    return sorted(path.parent.name for path in files)


def published_suites(systems: Path) -> list[str]:
    """Return the names of the suites that have published figures, without reading their files."""
    return sorted(path.parent.name for path in (systems / "suites").glob("*/published.yaml"))


def stored_suites() -> list[str]:
    """Return the names of the suites whose figures are stored, in order.

    Retired suites and suites that only publish figures are among them.
    """
    retired = written_context().get("retiredSuites", [])
    return sorted({*written_suites(), *published_suites(written_systems()), *retired})


def check_suite_name(name: str, names: Iterable[str], advice: str = "") -> None:
    """Refuse a suite name that is not in ``names``; ``advice`` ends the sentence."""
    if name not in names:
        known = f"there are {listed(sorted(names)) or 'none'}"
        near = did_you_mean(name, names)
        raise Refused(f"suite: {shown(name)} is not known; {known}{advice}{near}")


def check_written_suite(name: str, names: Iterable[str]) -> None:
    """Refuse a name that no suite of this checkout, or of the folder in its place, has."""
    systems, another = _of_variable(), f"set {_VARIABLE} to read another folder of suites"
    advice = f"{_VARIABLE} names their folder, {systems}" if systems else another
    check_suite_name(name, names, f"; {advice}")
