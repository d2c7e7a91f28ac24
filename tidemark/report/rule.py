"""The rule of verdicts in words."""

from __future__ import annotations

from tidemark.figures.verdicts.rule import ALARM, EQUIVALENCE, FEWEST, Margins
from tidemark.model.numerals import percent

_LEAST = percent(Margins().alarm, places=0)
_BY_CHANCE = percent(ALARM, places=0)
_INSIDE = percent(1 - EQUIVALENCE, places=0)
WITHIN = f"±{percent(Margins().same, places=0)}"
"""The bounds of the same."""
RULE = (
    "it needs at least "
    f"{FEWEST} pairs, a pair being the two trials of a repetition. Slower and faster are changes "
    f"of {_LEAST} or more; if nothing had changed, {_BY_CHANCE} of runs at most would have one, "
    f"over all metrics and versions. The same is a change whose {_INSIDE} interval stays within "
    f"{WITHIN}. Otherwise the pairs cannot tell."
)
"""How a change is judged, as the end of a sentence."""
TELLS = "would give a verdict in four cases of five if rates change and scatter as before"
