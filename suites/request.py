"""What may be asked of a run: the execution input, the same from console, schedule and CLI."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, ValidationError, field_validator

from suites.keys import RUN_ID
from suites.model import (
    EVENTS_OF_TASK,
    EVENTS_OF_TEST,
    MOST_BUDGET_USD,
    MOST_RECORDS,
    MOST_REPETITIONS,
    MOST_SAMPLES,
    MOST_TASKS,
    MOST_TRIAL_EVENTS,
    MOST_TRIALS,
    MOST_VERSIONS,
    Frozen,
    Suite,
)
from suites.refusal import ONE_LINE, Refused, listed, refusal, shown
from suites.versions import NEWEST, PREVIOUS, latest

Note = Annotated[str, Field(max_length=500, pattern=ONE_LINE)]
Budget = Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0, le=MOST_BUDGET_USD)]
Trigger = Literal["console", "schedule", "cli"]
_UTC_TIME = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z")
_Asked = TypeVar("_Asked", bound=Frozen)


class RunRequest(Frozen):
    """The input of an execution, as a person or a schedule gives it; all but suite optional."""

    suite: str
    versions: Annotated[list[str], Field(min_length=1, max_length=MOST_VERSIONS)] | None = None
    baseline: str | None = None
    repetitions: int | None = Field(default=None, strict=True, ge=1, le=MOST_REPETITIONS)
    tasks: int | None = Field(default=None, strict=True, ge=1, le=MOST_TASKS)
    records: int | None = Field(default=None, strict=True, ge=1, le=MOST_RECORDS)
    budget_usd: Budget | None = None
    """What its tasks and log queries may cost on AWS, all trials together [USD]."""
    note: Note = ""
    trigger: Trigger = "console"
    scheduled_at: datetime | None = None
    """When a schedule meant to start it: what is delivered twice is one run."""

    @field_validator("scheduled_at", mode="before")
    @classmethod
    def _utc(cls, given: object) -> object:
        if given is None or (isinstance(given, str) and _UTC_TIME.fullmatch(given)):
            return given
        raise ValueError(f"{shown(given)} is no UTC time such as 2026-11-20T12:44:55Z")


class ResumeRequest(Frozen):
    """The input of an execution that goes on with a run that ended early."""

    suite: str
    run: str = Field(pattern=f"^{RUN_ID}$")
    budget_usd: Budget | None = None
    """In place of the budget that the run was given last; it counts from its first trial."""
    note: Note = ""
    trigger: Trigger = "console"


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
    scheduled_at: datetime | None = None
    budget_usd: float | None = None


def resumed(given: object, suites: Mapping[str, Suite]) -> ResumeRequest | None:
    """Return the run that an execution input asks to go on with, None if it asks for a new one.

    Raises
    ------
    Refused
        With one sentence, if the input asks for anything beside that.

    """
    if not isinstance(given, dict) or "run" not in given:
        return None
    request = _validated(ResumeRequest, given)
    known_suite(request.suite, suites)
    return request


def settle(
    given: object,
    suites: Mapping[str, Suite],
    released: Callable[[Suite], Iterable[str]] = attrgetter("versions"),
) -> Settled:
    """Return what an execution input asks for.

    ``released`` gives a suite's versions, among which ``newest`` and ``previous`` are sought: those
    of its file unless told otherwise.

    Raises
    ------
    Refused
        With one sentence, for an input that is not accepted.

    """
    request = _validated(RunRequest, given)
    suite = known_suite(request.suite, suites)
    asked = suite.defaults.versions if request.versions is None else request.versions
    meant = _meant(asked, suite, released)
    versions = tuple(meant.get(version, version) for version in asked)
    baseline = meant.get(request.baseline or "", request.baseline)
    for version in versions:
        _check_version(version, suite)
    _check_once(versions, {word: meant[word] for word in (NEWEST, PREVIOUS) if word in asked})
    if baseline is not None and baseline not in versions:
        raise Refused(
            f"baseline: {shown(baseline)} is not measured in this run; "
            f"it must be one of {listed(versions)}"
        )
    numbers = _numbers(request, suite)
    _check_size(numbers, len(versions), suite)
    return Settled(
        suite=suite.name,
        versions=versions,
        baseline=baseline,
        **numbers,
        note=request.note,
        trigger=request.trigger,
        scheduled_at=request.scheduled_at,
        budget_usd=request.budget_usd,
    )


def _check_once(versions: Sequence[str], meant: Mapping[str, str]) -> None:
    """Refuse a version that stands twice; ``meant`` has those that a word stood for."""
    for version in versions:
        if versions.count(version) > 1:
            words = [f", {word} is {version}" for word, found in meant.items() if found == version]
            raise Refused(
                f"versions: {version} stands twice{''.join(words)}; name each version once"
            )


def _validated(model: type[_Asked], given: object) -> _Asked:
    if not isinstance(given, dict):
        raise Refused('input: expected an object such as {"suite": "rocksdb"}')
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise refusal(model, error) from None


def known_suite(name: str, suites: Mapping[str, Suite]) -> Suite:
    """Return the suite of a name; Refused, with those that there are, for any other name."""
    suite = suites.get(name)
    if suite is None:
        raise Refused(f"suite: {shown(name)} is not known; there are {listed(sorted(suites))}")
    return suite


def _meant(
    asked: Sequence[str], suite: Suite, released: Callable[[Suite], Iterable[str]]
) -> dict[str, str]:
    """Return the versions that the words among those asked for stand for."""
    words = [word for word in (NEWEST, PREVIOUS) if word in asked]
    if not words:
        return {}
    known = latest(released(suite))
    for word in words:
        if word not in known:
            raise Refused(
                f"versions: {suite.title} has no {word} version; {listed(known.values())} is the "
                "only one"
            )
        if known[word] not in suite.versions:
            raise Refused(
                f"versions: the {word} version of {suite.title} is {shown(known[word])}, which "
                f"its suite does not have; there are {listed(suite.versions)}"
            )
    return known


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
    tests = len(suite.tests)
    events = tests * (EVENTS_OF_TEST + numbers["tasks"] * EVENTS_OF_TASK)
    if events > MOST_TRIAL_EVENTS:
        raise Refused(
            f"tasks: {numbers['tasks']} tasks of {tests} tests may take {events} events; the "
            f"history of a trial holds {MOST_TRIAL_EVENTS}"
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
