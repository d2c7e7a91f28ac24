"""The machines of a run and how they differ: a changed machine looks like a changed version."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from lambdas.report.blocks import Row, Table
from lambdas.report.figures import MISSING, ranges
from lambdas.results import TrialResult

Environment = Mapping[str, Any]

# What a task logs beside its machine: what a version is, and the machine's name.
_OF_VERSION = ("version", "engine_version", "package", "package_digest")
_HOST = "host"
_IMAGE = "image_digest"
NOT_LOGGED = "not logged"


def machines(trials: Iterable[TrialResult]) -> Table | str:
    """Return a column for each different machine; a sentence if none was logged."""
    hosts: dict[tuple[tuple[str, str], ...], set[str]] = {}
    seen: dict[tuple[tuple[str, str], ...], set[int]] = {}
    for trial, environment in _logged(trials):
        machine = tuple((key, _value(key, environment[key])) for key in _machine_keys(environment))
        seen.setdefault(machine, set()).add(trial.trial)
        hosts.setdefault(machine, set()).add(str(environment.get(_HOST, "")))
    if not seen:
        return "No task logged the machine that it ran on."
    known = [dict(machine) for machine in seen]
    keys = sorted({key for machine in known for key in machine})
    return Table(
        caption="Machines, as the tasks logged them",
        columns=("", *(f"Machine {number}" for number in range(1, len(known) + 1))),
        rows=(
            *(Row((key, *(machine.get(key, NOT_LOGGED) for machine in known))) for key in keys),
            Row(("hosts", *(str(len(hosts[machine])) for machine in seen))),
            Row(("trials", *(ranges(seen[machine]) for machine in seen))),
        ),
    )


def values(trials: Iterable[TrialResult]) -> dict[str, list[str]]:
    """Return the different values of each thing that the tasks logged of their machines.

    The names of the hosts are left out: each task may get its own.
    """
    found: dict[str, set[str]] = {}
    for _, environment in _logged(trials):
        for key in _machine_keys(environment):
            found.setdefault(key, set()).add(_value(key, environment[key]))
    return {key: sorted(found[key]) for key in sorted(found)}


def digests(trials: Iterable[TrialResult], version: str) -> str:
    """Return the digests that the tasks of a version logged of its package."""
    found = {
        str(environment["package_digest"])
        for trial, environment in _logged(trials)
        if trial.version == version and "package_digest" in environment
    }
    return " and ".join(sorted(found)) or NOT_LOGGED


def images(trials: Iterable[TrialResult], version: str) -> str:
    """Return the digests of the images that the tasks of a version ran."""
    found = {image[_IMAGE] for trial, image in _pulled(trials) if trial.version == version}
    return " and ".join(sorted(found)) or MISSING


def differences(trials: Sequence[TrialResult]) -> list[str]:
    """Return a sentence for each thing that was not the same for all trials.

    Of what belongs to a version, such as the digest of its package or image, only a difference
    between trials of one version is one. The names of the hosts are left out: each task may get
    its own.
    """
    logged = list(_logged(trials))
    versions = sorted({trial.version for trial in trials})
    keys = sorted({key for _, environment in logged for key in _machine_keys(environment)})
    found = [_difference(key, "trials", logged) for key in keys]
    for version in versions:
        own = [(trial, environment) for trial, environment in logged if trial.version == version]
        found += [_difference(key, f"trials of {version}", own) for key in _OF_VERSION]
        images = [(trial, image) for trial, image in _pulled(trials) if trial.version == version]
        found.append(_difference(_IMAGE, f"trials of {version}", images))
    return [sentence for sentence in found if sentence]


def _difference(key: str, among: str, logged: Iterable[tuple[TrialResult, Environment]]) -> str:
    trials: dict[str, set[int]] = {}
    for trial, environment in logged:
        if key in environment:
            trials.setdefault(_value(key, environment[key]), set()).add(trial.trial)
    if len(trials) < 2:
        return ""
    each = "; ".join(f"{value} in trial {ranges(numbers)}" for value, numbers in trials.items())
    return f"{key} was not the same for all {among}: {each}."


def _logged(trials: Iterable[TrialResult]) -> Iterator[tuple[TrialResult, Environment]]:
    for trial in trials:
        for result in trial.tests:
            for environment in result.environments:
                yield trial, environment


def _pulled(trials: Iterable[TrialResult]) -> Iterator[tuple[TrialResult, Mapping[str, str]]]:
    for trial in trials:
        for result in trial.tests:
            for task in result.tasks:
                if task.image_digest:
                    yield trial, {_IMAGE: task.image_digest}


def _machine_keys(environment: Environment) -> list[str]:
    return sorted(key for key in environment if key not in {*_OF_VERSION, _HOST})


def _value(key: str, value: object) -> str:
    if key == "memory" and isinstance(value, int):
        return f"{value / 2**30:,.1f} GiB"
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
