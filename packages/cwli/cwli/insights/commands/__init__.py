"""Commands of Logs Insights: each module reads and resolves a family, and writes its SQL."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from cwli.insights.parser import Reader
    from cwli.insights.syntax import Command, Span

# Module and function of each reader. Modules are imported when needed: most queries need few.
COMMANDS = {
    "fields": "rows.Fields.read",
    "field": "rows.Fields.read",
    "display": "rows.Display.read",
    "filter": "rows.Filter.read",
    "where": "rows.Filter.read",
    "filterindex": "rows.FilterIndex.read",
    "source": "lookup.Source.read",
    "parse": "parsing.read_parse",
    "json": "rows.JsonField.read",
    "stats": "stats.Stats.read",
    "stat": "stats.Stats.read",
    "sort": "rows.Sort.read",
    "order": "rows.Sort.read",
    "limit": "rows.Limit.read",
    "head": "rows.Limit.read",
    "tail": "rows.Tail.read",
    "dedup": "rows.Dedup.read",
    "unmask": "rows.read_unmask",
    "unnest": "rows.Unnest.read",
    "expand": "rows.read_expand",
    "join": "joins.Join.read",
    "appendcols": "joins.AppendCols.read",
    "lookup": "lookup.LookUp.read",
    "cidrlookup": "lookup.CidrLookUp.read",
    "addtotals": "stats.AddTotals.read",
    "accum": "windows.Accum.read",
    "autoregress": "windows.Autoregress.read",
    "filldown": "windows.Filldown.read",
    "fillmissing": "stats.Fillmissing.read",
    "outlier": "windows.Outlier.read",
    "sessionize": "windows.Sessionize.read",
    "pattern": "patterns.Pattern.read",
    "diff": "patterns.Diff.read",
    "countfrequent": "stats.CountFrequent.read",
    "count_frequent": "stats.CountFrequent.read",
}
"""The reader of each command, by its word in lower case."""

SUGGESTED = tuple(word for word in COMMANDS if word not in ("stat", "field", "count_frequent"))
"""The words that AWS documents."""
_UNPUBLISHED = "AWS does not publish how Logs Insights finds patterns"
REFUSED = {
    "anomaly": "AWS does not publish its model",
    "logcompare": f"it compares patterns, and {_UNPUBLISHED}",
    "relevantfields": "AWS does not publish how Logs Insights scores fields",
}
"""The reason why a command is not supported, by its word in lower case."""


def read(word: str, reader: Reader, start: Span) -> Command:
    """Read the arguments of the command with this word, a key of ``COMMANDS``."""
    module, _, function = COMMANDS[word].partition(".")
    family = importlib.import_module(f"cwli.insights.commands.{module}")
    read_command = cast("Callable[[Reader, Span], Command]", attrgetter(function)(family))
    return read_command(reader, start)
