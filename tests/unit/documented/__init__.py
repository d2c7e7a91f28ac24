"""Events and answers of AWS as its documentation shows them; SOURCES.md names the page of each."""

import json
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent


def documented(name: str) -> Any:
    """Return what a page of AWS's documentation shows, from the file of this name."""
    return json.loads((_HERE / f"{name}.json").read_text(encoding="utf-8"))
