"""Large results against those last seen, by a digest of each part.

``SEEN=FOLDER pytest FILE`` writes the parts into a folder, so that one can compare them with those
of another commit, and then their digests.
"""

import hashlib
import json
import os
import re
from pathlib import Path

from tidemark import __version__

# A release changes its version, and an edit of a shipped suite or packed program its digest.
_PASSING = re.compile(rf"\b(?:{re.escape(__version__)}|[0-9a-f]{{64}}|[0-9a-f]{{12}}…)")

# The last bits of a logarithm are another machine's own, and of a sum its order's.
_LONG = re.compile(r"\d+\.\d{6,}(?:e[-+]?\d+)?")


def _steady(text):
    return _LONG.sub(lambda found: f"{float(found[0]):.9g}", _PASSING.sub("", text))


def assert_last_seen(file, name, parts):
    """Compare the texts of a result's parts, by name, with the digests that a JSON file has."""
    texts = {part: _steady(text) for part, text in parts.items()}
    found = {part: hashlib.sha256(text.encode()).hexdigest()[:8] for part, text in texts.items()}
    known = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    if folder := os.environ.get("SEEN"):
        for part, text in texts.items():
            place = Path(folder) / name.replace(" ", "-") / part.replace("::", "-")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
        known[name] = found
        lines = (f"{json.dumps(each)}: {json.dumps(known[each])}" for each in sorted(known))
        file.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    assert found == known.get(name), "SEEN=FOLDER writes the parts of this result and their digests"
