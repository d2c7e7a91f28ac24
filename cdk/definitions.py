"""The definitions of the state machines: ``*.asl.json``, with the retriers that states share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
_RETRIERS = "retriers.json"


def definition(name: str) -> str:
    """Return the definition of a state machine in Amazon States Language, as one line.

    A text in a state's ``Retry`` is the name of a retrier in ``retriers.json``; a name that is not
    there raises KeyError.
    """
    retriers: dict[str, Any] = json.loads(_text(_RETRIERS))

    def filled(members: dict[str, Any]) -> dict[str, Any]:
        if "Retry" in members:
            members["Retry"] = [
                retriers[each] if isinstance(each, str) else each for each in members["Retry"]
            ]
        return members

    states = json.loads(_text(f"{name}.asl.json"), object_hook=filled)
    # CloudFormation: a template has 1 MB at most, and blanks count.
    return json.dumps(states, ensure_ascii=False, separators=(",", ":"))


def _text(file: str) -> str:
    return (FOLDER / file).read_text(encoding="utf-8")
