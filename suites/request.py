"""What may be asked of a run: the execution input, the same from console, schedule and CLI."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from suites.model import (
    MOST_RECORDS,
    MOST_REPETITIONS,
    MOST_SAMPLES,
    MOST_TASKS,
    MOST_TRIALS,
    MOST_VERSIONS,
    ONE_LINE,
    Frozen,
    Suite,
)
from suites.refusal import Refused, listed, refusal, shown


class RunRequest(Frozen):
    """The input of an execution, as a person or a schedule gives it; all but suite optional."""

    suite: str
    versions: Annotated[list[str], Field(min_length=1, max_length=MOST_VERSIONS)] | None = None
    baseline: str | None = None
    repetitions: int | None = Field(default=None, strict=True, ge=1, le=MOST_REPETITIONS)
    tasks: int | None = Field(default=None, strict=True, ge=1, le=MOST_TASKS)
    records: int | None = Field(default=None, strict=True, ge=1, le=MOST_RECORDS)
    note: str = Field(default="", max_length=500, pattern=ONE_LINE)
    trigger: Literal["console", "schedule", "cli"] = "console"


class Settled(Frozen):
    """A request in which nothing is left open; every version is one that the suite has."""

    suite: str
    versions: tuple[str, ...]
    baseline: str | None
    repetitions: int
    tasks: int
    records: int
    note: str
    trigger: str


def settle(given: object, suites: Mapping[str, Suite]) -> Settled:
    """Return what an execution input asks for, or raise Refused with one sentence."""
    if not isinstance(given, dict):
        raise Refused('input: expected an object such as {"suite": "rocksdb"}')
    try:
        request = RunRequest.model_validate(given)
    except ValidationError as error:
        raise refusal(RunRequest, error) from None
    suite = suites.get(request.suite)
    if suite is None:
        raise Refused(
            f"suite: {shown(request.suite)} is not known; there are {listed(sorted(suites))}"
        )
    versions = tuple(suite.defaults.versions if request.versions is None else request.versions)
    for version in versions:
        _check_version(version, suite)
    if len(set(versions)) != len(versions):
        twice = next(version for version in versions if versions.count(version) > 1)
        raise Refused(f"versions: {twice} stands twice; name each version once")
    if request.baseline is not None and request.baseline not in versions:
        raise Refused(
            f"baseline: {shown(request.baseline)} is not measured in this run; "
            f"it must be one of {listed(versions)}"
        )
    numbers = _numbers(request, suite)
    _check_size(numbers, len(versions), suite)
    return Settled(
        suite=suite.name,
        versions=versions,
        baseline=request.baseline,
        **numbers,
        note=request.note,
        trigger=request.trigger,
    )


def _check_version(version: str, suite: Suite) -> None:
    if not suite.has_form(version):
        raise Refused(
            f"versions: {shown(version)} is not a version of {suite.title}; "
            f"expected the form of {list(suite.versions)[-1]}"
        )
    if version not in suite.versions:
        raise Refused(
            f"versions: {version} has no {suite.package} wheel for this Python; "
            f"those that have one are {listed(suite.versions)}"
        )


def _check_size(numbers: Mapping[str, int], versions: int, suite: Suite) -> None:
    if numbers["records"] > suite.task.most_records:
        raise Refused(
            f"records: {numbers['records']} is more than a task of {suite.title} can hold, "
            f"{suite.task.most_records}"
        )
    trials = versions * numbers["repetitions"]
    if trials > MOST_TRIALS:
        raise Refused(
            f"repetitions: {numbers['repetitions']} of {versions} versions are {trials} trials; "
            f"one run has at most {MOST_TRIALS}"
        )
    jobs = max(test.jobs for test in suite.tests)
    if numbers["tasks"] * jobs > MOST_SAMPLES:
        raise Refused(
            f"tasks: {numbers['tasks']} tasks of {jobs} jobs log more than the {MOST_SAMPLES} "
            "rates that one query returns"
        )


def _numbers(request: RunRequest, suite: Suite) -> dict[str, Any]:
    return {
        name: getattr(suite.defaults, name)
        if getattr(request, name) is None
        else getattr(request, name)
        for name in ("repetitions", "tasks", "records")
    }
