"""The machines of a run and how they differ: a changed machine looks like a changed version."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Sized

from tidemark.figures.machines import (
    DATA_SET_FIELD,
    HOST,
    OF_VERSION,
    Environment,
    environments,
    fact_names,
    fact_text,
    facts,
    other_names,
)
from tidemark.model.numerals import MISSING, ranges
from tidemark.model.results import TrialResult
from tidemark.model.sentences import listed
from tidemark.report.blocks import Row, Table

DATA_SET = "Data set"
"""The start of the setting of the digest of such data, before the name of the data."""
_IMAGE = "image_digest"
NOT_LOGGED = "not logged"
# Each task of a hostile system may log another machine, with fields of other names.
_MOST = 20
_MOST_FIELDS = 100


def machines(trials: Iterable[TrialResult]) -> Table | str:
    """Return a table with a column for each machine, or a sentence if no task logged one."""
    hosts: dict[tuple[tuple[str, str], ...], set[str]] = {}
    trials_of: dict[tuple[tuple[str, str], ...], set[int]] = {}
    for trial, environment in environments(trials):
        machine = tuple((key, fact_text(key, environment[key])) for key in fact_names(environment))
        trials_of.setdefault(machine, set()).add(trial.trial)
        hosts.setdefault(machine, set()).add(str(environment.get(HOST, "")))
    if not trials_of:
        return "No task logged its machine."
    first = list(trials_of)[:_MOST]
    columns = [dict(machine) for machine in first]
    keys = sorted({key for machine in columns for key in machine})
    return Table(
        caption=f"Machines, as the tasks logged them{_more(trials_of)}",
        columns=("Fact", *(f"Machine {number}" for number in range(1, len(columns) + 1))),
        rows=(
            *(Row((key, *(machine.get(key, NOT_LOGGED) for machine in columns))) for key in keys),
            Row(("hosts", *(str(len(hosts[machine])) for machine in first))),
            Row(("trials", *(ranges(trials_of[machine]) for machine in first))),
        ),
    )


def values(trials: Iterable[TrialResult]) -> dict[str, list[str]]:
    """Return the different values of each field that the tasks logged of their machines.

    The names of hosts are left out: each task may have its own host.
    """
    by_field = facts(trials)
    return {key: _first(by_field[key]) for key in sorted(by_field)[:_MOST_FIELDS]}


def others(trials: Sequence[TrialResult]) -> dict[str, list[str]]:
    """Return the different values of each field of neither a machine nor a version."""
    names = {name for _, environment in environments(trials) for name in other_names(environment)}
    return {name: logged_values(trials, name) for name in sorted(names)[:_MOST_FIELDS]}


def logged_values(trials: Iterable[TrialResult], key: str) -> list[str]:
    """Return the different values of a field that tasks logged."""
    logged = {fact_text(key, each[key]) for _, each in environments(trials) if key in each}
    return _first(logged)


def data_sets(trials: Iterable[TrialResult], version: str) -> dict[str, str]:
    """Return the digests of the data sets that a version made, by their names."""
    of_version = list(environments(trial for trial in trials if trial.version == version))
    return {
        f"{DATA_SET}{key.removeprefix(DATA_SET_FIELD).replace('_', ' ')}": listed(
            _first({str(each[key]) for _, each in of_version if key in each})
        )
        for key in _data_sets(of_version)
    }


def digests(trials: Iterable[TrialResult], version: str) -> str:
    """Return the digests of a version's package, as its tasks logged them."""
    of_version = (trial for trial in trials if trial.version == version)
    return " and ".join(logged_values(of_version, "package_digest")) or NOT_LOGGED


def images(trials: Iterable[TrialResult], version: str) -> str:
    """Return the digests of the images that the tasks of a version ran."""
    pulled = {image[_IMAGE] for trial, image in _pulled(trials) if trial.version == version}
    return " and ".join(sorted(pulled)) or MISSING


def differences(trials: Sequence[TrialResult]) -> list[str]:
    """Return a sentence for each field that was not the same for all trials.

    Fields that may be of a version, such as the digest of its package or image, are compared
    between trials of one version only. The names of hosts are left out: each task may have its
    own host.
    """
    logged = list(environments(trials))
    versions = sorted({trial.version for trial in trials})
    keys = sorted({key for _, environment in logged for key in fact_names(environment)})
    sentences = [_difference(key, "trials", logged) for key in keys[:_MOST_FIELDS]]
    for version in versions:
        of_version = [
            (trial, environment) for trial, environment in logged if trial.version == version
        ]
        beside = {name for _, environment in of_version for name in other_names(environment)}
        names = (*OF_VERSION, *_data_sets(of_version), *sorted(beside)[:_MOST_FIELDS])
        sentences += [_difference(key, f"trials of {version}", of_version) for key in names]
        images = [(trial, image) for trial, image in _pulled(trials) if trial.version == version]
        sentences.append(_difference(_IMAGE, f"trials of {version}", images))
    return [sentence for sentence in sentences if sentence]


def _difference(key: str, among: str, logged: Iterable[tuple[TrialResult, Environment]]) -> str:
    trials: dict[str, set[int]] = {}
    for trial, environment in logged:
        if key in environment:
            trials.setdefault(fact_text(key, environment[key]), set()).add(trial.trial)
    if len(trials) < 2:
        return ""
    each = [f"{value} in trial {ranges(numbers)}" for value, numbers in trials.items()]
    return f"{key} was not the same for all {among}: {'; '.join(each[:_MOST])}{_more(each)}."


def _first(texts: Collection[str]) -> list[str]:
    """Return the first texts in order, and the number of the others as the last."""
    more = len(texts) - _MOST
    return [*sorted(texts)[:_MOST], *([f"{more} more"] if more > 0 else [])]


def _more(everything: Sized) -> str:
    more = len(everything) - _MOST
    return f", and {more} more" if more > 0 else ""


def _pulled(trials: Iterable[TrialResult]) -> Iterator[tuple[TrialResult, Mapping[str, str]]]:
    for trial in trials:
        for result in trial.tests:
            for task in result.own_tasks:
                if task.image_digest:
                    yield trial, {_IMAGE: task.image_digest}


def _data_sets(logged: Iterable[tuple[TrialResult, Environment]]) -> list[str]:
    keys = {key for _, environment in logged for key in environment}
    return sorted(key for key in keys if key.startswith(DATA_SET_FIELD))
