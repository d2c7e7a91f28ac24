"""Problems between the parts of a suite's file, whatever else is wrong with each part."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tidemark.model.base import NAME
from tidemark.model.instance import RESERVED_WORDS, words
from tidemark.model.load import HOLD_SECONDS, REPORT_SECONDS, SETTLE_SECONDS
from tidemark.model.parameters import MOST_COMBINATIONS, MOST_TASKS, NO_AXES, RESERVED, TASKS, count
from tidemark.model.refusal import Place, Problem, lone, mapping, mappings, problem, within
from tidemark.model.sentences import listed, shown, there_are
from tidemark.model.services import READY_SECONDS, unlike_axis
from tidemark.model.steps import (
    CALL_SECONDS,
    FIND_SECONDS,
    KINDS,
    LONGEST_TESTS_SECONDS,
    PAUSE_SECONDS,
    WAIT_SECONDS,
)
from tidemark.model.suite import ROUNDS, Test
from tidemark.model.task import COMMAND_WORDS, HARNESS_TESTS, HARNESS_WORDS, SHELL_WORDS

_INSTANCE_ALONE = {"pause": "rules", "find_tasks": "tasks of its own"}
_TEXTS_OF_ANY_SUBJECT = (
    ("invoke", "function", "function"),
    ("wait_until", "queues", "queue"),
    ("wait_until", "tasks_stopped", "cluster"),
)
_TEXTS = (
    *_TEXTS_OF_ANY_SUBJECT,
    ("run_tasks", "command", ""),
    ("run_command", "command", ""),
    ("run_tasks", "definition", "task_definition"),
    ("find_tasks", "definitions", "task_definition"),
    ("run_tasks", "cluster", "cluster"),
    ("find_tasks", "cluster", "cluster"),
    ("run_tasks", "subnets", "subnets"),
    ("run_tasks", "security_groups", "security_groups"),
    ("pause", "rules", "rule"),
)
"""The kinds of steps and their fields with words, and the kind of name that a word stands for
there; '' for any."""
_MAY_LACK = {"definitions", "queues", "rules", "security_groups"}
_NEEDED = (
    ("run_tasks", "definition", "log_groups"),
    ("run_tasks", "definition", "roles"),
    ("find_tasks", "definitions", "log_groups"),
)
"""The fields of steps that need a field of the instance."""


_Entries = Sequence[tuple[int, Mapping[str, Any]]]


class _Use(NamedTuple):
    """A text of a step that may hold words."""

    place: Place
    text: object
    kind: str
    """The kind of name that the text stands for, '' if the text may hold any words."""

    @property
    def is_needed(self) -> bool:
        """Whether every instance must have the name."""
        return bool(self.kind) and _MAY_LACK.isdisjoint(self.place)


def misnamed(suite: object) -> Iterator[Problem]:
    """Yield what is for instances in another suite, or for several versions in one of instances."""
    if "instance" not in mapping(suite, "subject"):
        yield from _without_instance(suite)
        return
    if "canary" in mapping(suite):
        yield problem(("canary",), "an instance has only its own version; leave the canary out")
    instance = mapping(suite, "subject", "instance")
    for place, step in _steps(suite):
        for use in _uses(place, step):
            yield from _unknown(use, mapping(instance, "names"))
        for kind, field, lacking in _NEEDED:
            if field in mapping(step, kind) and lacking not in instance:
                sentence = f"the instance has no {lacking}, which its tasks need"
                yield problem((*place, kind, field), sentence)


def _without_instance(suite: object) -> Iterator[Problem]:
    for place, step in _steps(suite):
        for kind, has in _INSTANCE_ALONE.items():
            if kind in step:
                yield problem(
                    (*place, kind),
                    f"only an instance has {has}, and the subject is none",
                )
        if "definition" in mapping(step, "run_tasks"):
            sentence = "only an instance has definitions, and the subject is none"
            yield problem((*place, "run_tasks", "definition"), sentence)
        for use in _uses(place, step, _TEXTS_OF_ANY_SUBJECT):
            for word in words(use.text):
                sentence = f"{{{word}}} has a meaning only if the subject is an instance"
                yield problem(use.place, sentence)


def _steps(suite: object) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    for number, test in mappings(suite, "tests"):
        for position, step in mappings(test, "steps"):
            yield ("tests", number, "steps", position), step


def _uses(
    place: Place, step: Mapping[str, Any], texts: Iterable[tuple[str, str, str]] = _TEXTS
) -> Iterator[_Use]:
    for kind, field, named in texts:
        value = mapping(step, kind).get(field)
        if isinstance(value, list):
            for number, text in enumerate(value):
                yield _Use((*place, kind, field, number), text, named)
        else:
            yield _Use((*place, kind, field), value, named)


def _unknown(use: _Use, names: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield why a word in a text is not a name of the instance, or is a name of another kind."""
    whole = use.kind and use.text in [f"{{{word}}}" for word in words(use.text)]
    for word in words(use.text):
        kind = mapping(names, word).get("kind")
        if word not in names and (whole or word not in RESERVED_WORDS):
            known = listed(f"{{{name}}}" for name in names) or "none"
            sentence = f"{{{word}}} is not a name of the instance; there are {known}"
            yield problem(use.place, sentence)
        elif use.kind and word in names and kind != use.kind:
            yield problem(use.place, f"{{{word}}} is the name of a {kind}; expected a {use.kind}")
        elif use.is_needed and mapping(names, word).keys() & {"optional", "needs"}:
            yield problem(use.place, f"{{{word}}} is optional; expected a name of every instance")


_SECONDS = {"invoke": CALL_SECONDS, "pause": PAUSE_SECONDS, "find_tasks": FIND_SECONDS}
"""The time limits of the steps that have another limit than their test [s]."""


def contradictions(suite: object) -> Iterator[Problem]:
    """Yield why the parts of a suite do not fit each other."""
    parameters, tests = mapping(suite, "parameters"), mappings(suite, "tests")
    yield from _unusable(parameters)
    metrics = [metric.get("name") for _, test in tests for _, metric in mappings(test, "metrics")]
    yield from _unvaried(mapping(suite, "axes"), parameters, metrics)
    yield from _misplaced_program(suite)
    yield from misnamed(suite)
    if mapping(suite).get("owns") and "folder" not in mapping(suite, "subject"):
        sentence = "no account lets tasks make buckets, queues and tables"
        yield problem(("owns",), f"{sentence}; expected a subject with folder")
    services = mapping(suite, "services")
    yield from _unusable_services(suite, services)
    yield from unlike_axis(suite, services)
    limits = [limit for _, test in tests for limit in _time_limits(test)]
    limits += [_start_limit(services, name) for _, test in tests for name in _services_of(test)]
    seconds = sum(limit for limit in limits if type(limit) is int)
    if seconds > LONGEST_TESTS_SECONDS:
        sentence = f"their time limits add up to {seconds} s"
        yield problem(("tests",), f"{sentence}; expected {LONGEST_TESTS_SECONDS} s or less")
    yield from _repeated(("tests",), tests)
    yield from _without_turns(suite, tests)
    # A run that names no end would have none, or a time that means nothing.
    defaults = mapping(suite, "defaults")
    ends = {name: name in defaults for name in ("until", "within_seconds")}
    yield from (within(("defaults",), found) for found in lone(ends))
    yield from _uncommanded(suite, tests)
    subject = mapping(suite, "subject")
    if subject and not {"versions"} & {*subject, *mapping(suite, "defaults")}:
        sentence = "required, since the subject lists no versions"
        yield problem(("defaults", "versions"), sentence)
    yield from _uncounted(suite, parameters)
    for number, test in tests:
        yield from _unknown_services(("tests", number, "services"), test, services)
        for name in ("metrics", "series", "steps"):
            yield from _repeated(("tests", number, name), mappings(test, name))
        for position, metric in mappings(test, "metrics"):
            place = ("tests", number, "metrics", position, "labels")
            yield from _labelled_twice(place, metric, mapping(suite, "axes"))
            for statistic, bound in mapping(metric, "holds").items():
                if isinstance(bound, str):
                    held = (*place[:4], "holds", str(statistic))
                    yield from _unscaled(held, bound, parameters)
        yield from _repeated(("tests", number, "artefacts"), mappings(test, "artefacts"), "file")
        for name in mapping(test, "per"):
            yield from _unscaled(("tests", number, "per", str(name)), name, parameters)


def _time_limits(test: Mapping[str, Any]) -> Iterator[object]:
    """Yield the time limit of each step of a test, which are of any type."""
    own = test.get("timeout_seconds")
    steps = mappings(test, "steps")
    for kind, step in ((kind, step) for _, step in steps for kind in KINDS if kind in step):
        work = mapping(step, kind)
        if kind == "wait_until":
            yield work.get("within_seconds", WAIT_SECONDS)
        elif kind == "load":
            yield mapping(work, "bounds").get("seconds")
            # The last level that begins in time ends, and is logged.
            yield work.get("settle_seconds", SETTLE_SECONDS)
            yield work.get("hold_seconds", HOLD_SECONDS)
            yield work.get("report_seconds", REPORT_SECONDS)
        else:
            yield work.get("timeout_seconds", _SECONDS.get(kind, own))
    if not steps:
        yield own


def _services_of(test: Mapping[str, Any]) -> list[object]:
    """Return the names of a test's services, which are of any type."""
    names = test.get("services")
    return names if isinstance(names, list) else []


def _start_limit(services: Mapping[str, Any], name: object) -> object:
    known = isinstance(name, str) and name in services
    return mapping(services, str(name)).get("within_seconds", READY_SECONDS) if known else 0


def _unusable_services(suite: object, services: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield why no test can have a service."""
    if services and "image" in mapping(suite, "subject") and not _versioned(services):
        sentence = "no container of a service has the image of the subject; expected one beside its"
        yield problem(("services",), f"{sentence} program, or a subject with package or prepare")
    if "image" not in mapping(suite, "subject"):
        for service, container in _versioned(services):
            place = ("services", service, "task", "beside", container)
            yield problem(place, "there is no image, and the subject has none")
    yield from _idle_conditions(services)
    used = [name for _, test in mappings(suite, "tests") for name in _services_of(test)]
    for name in services:
        if name in NO_AXES:
            yield _reserved(("services", name), NO_AXES)
        elif name in {**mapping(suite, "parameters"), **mapping(suite, "axes")}:
            yield problem(("services", name), "a parameter or an axis also has this name")
        if name not in used:
            yield problem(("services", name), "no test uses this service")


def _idle_conditions(services: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield the values of containers whose task is the same for every trial."""
    versioned = {service for service, _ in _versioned(services)}
    for service in (name for name in services if name not in versioned):
        for container, fields in mapping(services, service, "task", "beside").items():
            if mapping(fields, "under"):
                place = ("services", service, "task", "beside", container, "under")
                sentence = "no container of the task has the image of the version"
                yield problem(place, f"{sentence}; expected one, or no under")


def _versioned(services: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the containers with the image of the version, and their services."""
    return [
        (service, container)
        for service in services
        for container, fields in mapping(services, service, "task", "beside").items()
        if isinstance(fields, dict) and fields.get("image") is None
    ]


def _unknown_services(
    place: Place, test: Mapping[str, Any], services: Mapping[str, Any]
) -> Iterator[Problem]:
    names = [name for name in _services_of(test) if isinstance(name, str)]
    if len(set(names)) != len(names):
        yield problem(place, f"a name is given twice in {listed(map(shown, names))}")
    for number, name in enumerate(_services_of(test)):
        if isinstance(name, str) and name not in services:
            yield problem(
                (*place, number), f"{shown(name)} is not a service; {there_are(services, name)}"
            )


def _without_turns(suite: object, tests: _Entries) -> Iterator[Problem]:
    """Yield why versions cannot take turns in one task, though the suite says so."""
    sliced = [number for number, test in tests if "slices" in test]
    beside = [kind for kind in ("image", "instance") if kind in mapping(suite, "subject")]
    entry_point = mapping(suite, "task").get("entry_point", [*HARNESS_WORDS])
    for number in sliced:
        if beside:
            sentence = f"versions of the subject {beside[0]} share no task; leave slices out"
            yield problem(("tests", number, "slices"), sentence)
        elif not isinstance(entry_point, list) or tuple(entry_point[:3]) != HARNESS_WORDS:
            words = " ".join(HARNESS_WORDS)
            sentence = f"versions take turns in workloads of `{words}` alone; leave slices out"
            yield problem(("tests", number, "slices"), sentence)
    if mapping(suite, "defaults").get("layout") == ROUNDS and len(sliced) < len(tests):
        sentence = "rounds need slices in every test"
        yield problem(("defaults", "layout"), sentence)


def _uncommanded(suite: object, tests: _Entries) -> Iterator[Problem]:
    """Yield the tests without a command beside others that have one."""
    commanded = [number for number, test in tests if "command" in test]
    words = mapping(suite, "task").get("entry_point")
    if (
        not commanded
        and words in (None, [*HARNESS_WORDS])
        and "image" not in mapping(suite, "subject")
    ):
        yield from _without_program(tests)
    if commanded and words not in ([*COMMAND_WORDS], [*SHELL_WORDS]):
        sentence = "the tests have commands, which take its place; leave it out"
        yield problem(("task", "entry_point"), sentence)
    for number in (number for number, _ in tests if commanded and number not in commanded):
        sentence = "required, since another test has one"
        yield problem(("tests", number, "command"), sentence)


def _without_program(tests: _Entries) -> Iterator[Problem]:
    """Yield the tests that the harness does not have, if no other program is named."""
    # A field of another name is a misspelt command.
    known = ((number, test) for number, test in tests if {*test} <= {*Test.model_fields})
    for number, test in known:
        name, steps = str(test.get("name")), test.get("steps")
        if re.fullmatch(NAME, name) and not steps and name not in HARNESS_TESTS:
            sentence = f"required, since the harness has only {listed(HARNESS_TESTS)}"
            yield problem(("tests", number, "command"), sentence)


def _misplaced_program(suite: object) -> Iterator[Problem]:
    """Yield why the program of the tests is in two places, or in none."""
    task = mapping(suite).get("task")
    if "image" in mapping(suite, "subject") and not _versioned(mapping(suite, "services")):
        if mapping(task).get("workload"):
            sentence = "the image of each version has the program; leave the workload out"
            yield problem(("task", "workload"), sentence)
    elif isinstance(task, dict) and "workload" not in task:
        yield problem(("task", "workload"), "required, but missing")


def _unusable(parameters: Mapping[str, Any]) -> Iterator[Problem]:
    for name in parameters:
        if name in RESERVED:
            yield _reserved(("parameters", name), RESERVED)
    records = mapping(parameters, "records")
    if records and records.get("type") != "integer":
        # The table runs has a column of whole numbers for it.
        yield problem(("parameters", "records"), "expected type integer")
    tasks = mapping(parameters, TASKS)
    limits = [limit for name in ("from", "to") if type(limit := tasks.get(name)) is int]
    within = all(1 <= limit <= MOST_TASKS for limit in limits)
    if tasks and (tasks.get("type") != "integer" or not within):
        sentence = f"expected type integer, from 1 or more, and to {MOST_TASKS} or less"
        yield problem(("parameters", TASKS), sentence)


def _reserved(place: Place, names: Collection[str]) -> Problem:
    others = listed(sorted({*names} - {place[-1]}))
    return problem(place, f"the name is reserved, as are {others}")


def _unvaried(
    axes: Mapping[str, Any], parameters: Mapping[str, Any], metrics: Collection[object]
) -> Iterator[Problem]:
    """Yield why a run cannot vary what the axes name."""
    for name, values in axes.items():
        if name in NO_AXES:
            yield _reserved(("axes", name), NO_AXES)
        elif name in parameters:
            yield problem(("axes", name), "a parameter also has this name")
        elif name in metrics:
            # CloudWatch reads metrics and dimensions from the same fields of a line.
            yield problem(("axes", name), "a metric also has this name")
        if isinstance(values, list) and any(values.count(value) > 1 for value in values):
            yield problem(("axes", name), f"a value is given twice in {listed(map(shown, values))}")
    lists = {name: values for name, values in axes.items() if isinstance(values, list)}
    if (combinations := count(lists)) > MOST_COMBINATIONS:
        sentence = f"they have {combinations:,} combinations; a suite has at most"
        yield problem(("axes",), f"{sentence} {MOST_COMBINATIONS}")


def _labelled_twice(
    place: Place, metric: Mapping[str, Any], axes: Mapping[str, Any]
) -> Iterator[Problem]:
    labels = metric.get("labels")
    if twice := [name for name in axes if isinstance(labels, list) and name in labels]:
        yield problem(place, f"{listed(twice)} is an axis, which is a label of every metric")


def _repeated(place: Place, entries: _Entries, field: str = "name") -> Iterator[Problem]:
    names = [name for _, entry in entries if isinstance(name := entry.get(field), str)]
    if len(set(names)) != len(names):
        yield problem(place, f"a name is given twice in {listed(map(shown, names))}")


def _uncounted(suite: object, parameters: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield why a step cannot have as many tasks as a parameter says."""
    numbers = [each for each in parameters if mapping(parameters, each).get("type") == "integer"]
    for step_place, step in _steps(suite):
        name = mapping(step, "run_tasks").get("count_parameter", "")
        place = (*step_place, "run_tasks", "count_parameter")
        if name and name not in numbers:
            sentence = "the suite has no whole number of this name"
            yield problem(place, f"{sentence}; {there_are(numbers, name)}")
        elif name and not _is_count(mapping(parameters, name)):
            yield problem(place, f"{shown(name)} may have values outside 1 to {MOST_TASKS}")


def _is_count(parameter: Mapping[str, Any]) -> bool:
    """Tell whether every value of a parameter is a number of tasks."""
    least, most = parameter.get("from"), parameter.get("to")
    return isinstance(least, int) and isinstance(most, int) and 1 <= least <= most <= MOST_TASKS


def _unscaled(place: Place, name: object, parameters: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield why a test cannot take longer with the parameter of a name."""
    numbers = [each for each in parameters if mapping(parameters, each).get("type") != "choice"]
    if name not in numbers:
        yield problem(place, f"the suite has no number of this name; {there_are(numbers, name)}")
