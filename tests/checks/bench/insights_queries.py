"""Number of queries in a file that run, and the reasons of the others' refusal.

The file has one JSON object with ``query`` on each line. The file is not part of this repository;
the environment variable TIDEMARK_INSIGHTS_QUERIES names it.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from cwli.insights import EventSource, QueryError, run

VARIABLE = "TIDEMARK_INSIGHTS_QUERIES"


def outcomes(queries: Iterable[str]) -> Iterator[str]:
    """Yield ``runs`` or the reason of the refusal for each query, over no events."""
    nothing = EventSource.union([])
    for query in queries:
        try:
            run(query, nothing, start=0, end=1)
        except QueryError as error:
            yield error.message.split(";")[0]
        else:
            yield "runs"


def summary() -> str:
    """Return the number of queries that run and the refusals, or why the file is missing."""
    path = os.environ.get(VARIABLE)
    if not path:
        return f"Logs Insights queries: not counted, {VARIABLE} names no file"
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    counted = Counter(outcomes(json.loads(line)["query"] for line in lines))
    accepted = counted.pop("runs", 0)
    refused = (f"  {number} refused: {reason}" for reason, number in counted.most_common())
    return "\n".join((f"Logs Insights queries: {accepted} of {len(lines)} run", *refused))
