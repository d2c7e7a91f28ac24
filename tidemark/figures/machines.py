"""The fields that tasks logged of themselves, and whether the machines of two versions differ."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tidemark.model.results import TrialResult

Environment = Mapping[str, Any]

MACHINE = frozenset({
    "arch", "cores", "cpu_model", "instance_type", "kernel", "memory", "os",
})  # fmt: skip
"""The fields of a machine. Any other field may be one of the system's or its author's own."""
OF_VERSION = ("version", "engine_version", "package", "package_digest")
"""The fields of a version."""
DATA_SET_FIELD = "data_set"
"""The start of other fields of a version: digests of the data that it made."""
HOST = "host"
"""The field of the name of the host: each task may have its own host."""


def environments(trials: Iterable[TrialResult]) -> Iterator[tuple[TrialResult, Environment]]:
    """Yield what each task logged of itself, with its trial."""
    for trial in trials:
        for result in trial.tests:
            for environment in result.environments:
                yield trial, environment


def fact_names(environment: Environment) -> list[str]:
    """Return the names of the fields that are facts of a machine."""
    return sorted(MACHINE & environment.keys())


def other_names(environment: Environment) -> list[str]:
    """Return the names of the fields of neither a machine nor a version, such as programs."""
    return sorted(
        name
        for name in environment.keys() - {*MACHINE, *OF_VERSION, HOST}
        if not name.startswith(DATA_SET_FIELD)
    )


def fact_text(name: str, value: object) -> str:
    """Return the value of a field in words."""
    if name == "memory" and isinstance(value, int):
        return f"{value / 2**30:,.1f} GiB"
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def facts(trials: Iterable[TrialResult]) -> dict[str, set[str]]:
    """Return the different values of each fact of the machines of some trials."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for _, environment in environments(trials):
        for name in fact_names(environment):
            found[name].add(fact_text(name, environment[name]))
    return found


def unlike(base: Iterable[TrialResult], new: Iterable[TrialResult]) -> bool:
    """Tell whether a fact that the tasks of both logged of their machines differs."""
    before, after = facts(base), facts(new)
    return any(before[name] != after[name] for name in before.keys() & after.keys())
