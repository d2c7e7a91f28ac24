"""The environments of a test's tasks: the machine and packages that each task logged.

A system under test may log anything, so each environment is kept within bounds.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from tidemark.model.sentences import shortened, visible

Environment = dict[str, Any]
MOST_FIELDS = 40
LONGEST_NAME = 60
"""[B]."""
LONGEST_VALUE = 200
"""[B]."""
CUT = "cut short or left out"
"""The field that counts the fields of an environment that were not kept as logged."""


def environments(rows: Sequence[Mapping[str, str]]) -> dict[str, Environment]:
    """Return the environment that the task of each log stream logged, by stream."""
    return {
        row["@logStream"]: _environment(row["environment"]) for row in rows if "environment" in row
    }


def different(logged: Iterable[Environment]) -> list[Environment]:
    """Return each different environment once."""
    by_text = {json.dumps(environment, sort_keys=True): environment for environment in logged}
    return [by_text[text] for text in sorted(by_text)]


def other_version(environment: Environment, asked: str) -> str:
    """Return a sentence if a task's system reported another version than ``asked``, else ''."""
    found = environment.get("engine_version", asked)
    return "" if found == asked else f"measured version {found}: {asked} was asked for"


def _environment(text: str) -> Environment:
    """Return an environment line's object; an unreadable line is kept and fails no measurement."""
    try:
        logged = json.loads(text)
    except (ValueError, RecursionError):
        logged = None
    return _bounded(logged if isinstance(logged, dict) else {"unreadable": text})


def _bounded(logged: Environment) -> Environment:
    kept: Environment = {}
    cut = len(logged)
    for name, value in islice(logged.items(), MOST_FIELDS):
        field = _within(name, LONGEST_NAME), _value(value)
        kept.update([field])
        cut -= field == (name, value)
    return {**kept, CUT: f"{cut} of {len(logged)} fields"} if cut else kept


def _value(value: object) -> object:
    # A lone surrogate within a list or an object must not hide behind its escape.
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    within = _within(text, LONGEST_VALUE)
    return value if within == text else within


def _within(text: str, most_bytes: int) -> str:
    line = visible(text)
    return line if len(line.encode()) <= most_bytes else shortened(line, most_bytes)
