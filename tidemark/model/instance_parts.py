"""Problems between the steps of a suite's file and the instance that they name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from tidemark.model.instance_names import RESERVED_WORDS, words
from tidemark.model.raw_parts import mapping, mappings
from tidemark.model.refusal import Place, Problem, problem
from tidemark.model.sentences import listed

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
    """Yield why a word in a text is no name of the instance, or is one of another kind."""
    whole = use.kind and use.text in [f"{{{word}}}" for word in words(use.text)]
    for word in words(use.text):
        kind = mapping(names, word).get("kind")
        if word not in names and (whole or word not in RESERVED_WORDS):
            known = listed(f"{{{name}}}" for name in names) or "none"
            sentence = f"{{{word}}} is no name of the instance; there are {known}"
            yield problem(use.place, sentence)
        elif use.kind and word in names and kind != use.kind:
            yield problem(use.place, f"{{{word}}} is the name of a {kind}; expected a {use.kind}")
        elif use.is_needed and mapping(names, word).keys() & {"optional", "needs"}:
            yield problem(use.place, f"{{{word}}} is optional; expected a name of every instance")
