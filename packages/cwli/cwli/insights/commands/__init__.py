"""Commands of Logs Insights: each module reads and resolves a family, and writes its SQL."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from operator import attrgetter
from typing import cast

from cwli.insights.expressions import Reader
from cwli.insights.syntax import Command, Span

# Module and function of each reader. Modules are imported when needed: most queries need few.
COMMANDS = {
    "fields": "fields.Fields.read",
    "display": "fields.Display.read",
    "filter": "filters.Filter.read",
    "where": "filters.Filter.read",
    "filterindex": "filters.FilterIndex.read",
    "source": "source.Source.read",
    "parse": "parsing.read_parse",
    "json": "json_field.JsonField.read",
    "stats": "stats.Stats.read",
    "stat": "stats.Stats.read",
    "sort": "order.Sort.read",
    "order": "order.Sort.read",
    "limit": "order.Limit.read",
    "head": "order.Limit.read",
    "tail": "order.Tail.read",
    "dedup": "order.Dedup.read",
    "unmask": "filters.Unmask.read",
    "unnest": "lists.Unnest.read",
    "expand": "lists.Expand.read",
    "join": "joins.Join.read",
    "appendcols": "joins.AppendCols.read",
    "lookup": "lookup.LookUp.read",
    "cidrlookup": "lookup.CidrLookUp.read",
    "addtotals": "totals.AddTotals.read",
    "accum": "windows.Accum.read",
    "autoregress": "windows.Autoregress.read",
    "filldown": "windows.Filldown.read",
    "fillmissing": "counts.Fillmissing.read",
    "outlier": "outliers.Outlier.read",
    "sessionize": "sessions.Sessionize.read",
    "pattern": "patterns.Pattern.read",
    "diff": "patterns.Diff.read",
    "countfrequent": "counts.CountFrequent.read",
    "count_frequent": "counts.CountFrequent.read",
}
"""The reader of each command, by its word in lower case."""

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
    read_command = cast(Callable[[Reader, Span], Command], attrgetter(function)(family))
    return read_command(reader, start)
