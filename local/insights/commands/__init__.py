"""The commands of Logs Insights: each family with how it is read, resolved and written as SQL."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from operator import attrgetter
from typing import cast

from local.insights.expressions import Reader
from local.insights.syntax import Command, Span

# By module and function; a module is imported when a query needs it: most need few.
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
    "countfrequent": "counts.CountFrequent.read",
    "count_frequent": "counts.CountFrequent.read",
}
"""How each command is read, by its word in small letters."""

REFUSED = {
    "pattern": "how Logs Insights finds patterns is not public; parse and stats group by your own",
    "diff": "it compares patterns, and how Logs Insights finds those is not public",
    "anomaly": "its model is not public",
    "logcompare": "it compares patterns, and how Logs Insights finds those is not public",
    "relevantfields": "how Logs Insights scores fields is not public",
}
"""Why a command is not supported, by its word in small letters."""


def read(word: str, reader: Reader, start: Span) -> Command:
    """Read what follows the word of a command, which is one of ``COMMANDS``."""
    module, _, function = COMMANDS[word].partition(".")
    family = importlib.import_module(f"local.insights.commands.{module}")
    reads = cast(Callable[[Reader, Span], Command], attrgetter(function)(family))
    return reads(reader, start)
